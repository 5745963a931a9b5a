"""Measures what the engines find: the reference altered, and each engine let loose on it."""
