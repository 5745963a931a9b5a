"""The page of a check of recorded runs: what failed, where, and what the threads did around it."""
