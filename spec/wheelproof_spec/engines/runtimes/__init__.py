"""Runtimes that stand in front of another one and tell somebody of each operation."""
