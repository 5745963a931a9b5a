"""Runtimes that wrap another runtime and report each operation."""
