"""The failures of a run, the errors of rejected programs, and places in the program."""
