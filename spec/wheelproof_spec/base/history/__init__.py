"""The lines of recorded histories, and what is known of the clock between them."""
