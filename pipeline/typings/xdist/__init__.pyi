"""What is used of pytest-xdist."""
