"""The code behind ``bootstrap.py``: set-up, checks and jobs, with the standard library alone."""
