"""What ``bootstrap.py`` does: set-up, checks and jobs, with the standard library alone."""
