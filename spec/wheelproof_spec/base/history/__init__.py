"""The lines of recorded histories, and the bounds on the clock between them."""
