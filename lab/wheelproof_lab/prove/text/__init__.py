"""Transition systems that are read from the text of TLA+ modules."""
