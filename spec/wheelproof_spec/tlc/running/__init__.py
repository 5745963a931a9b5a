"""Running TLC: the programs it needs, one run in private folders, and what the run reports."""
