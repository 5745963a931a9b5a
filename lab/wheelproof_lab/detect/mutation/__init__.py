"""Measures what the engines find: alters the reference, and runs each engine on it."""
