"""Defects of released code that the model checker finds, and the table of them."""
