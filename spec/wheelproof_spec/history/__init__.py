"""Judging recorded traces and histories: the verb `check`."""
