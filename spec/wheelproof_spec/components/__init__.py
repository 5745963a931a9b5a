"""What can be judged: a folder each, and the registry of them."""
