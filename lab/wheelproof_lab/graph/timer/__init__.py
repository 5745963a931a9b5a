"""Comparison of the timer's states with those of its TLA+ modules."""
