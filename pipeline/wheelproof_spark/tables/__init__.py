"""What is written and read again: schemas, rows, manifests, and what they come to."""
