"""The published vectors: where they come from, and the verb that makes, checks and runs them."""
