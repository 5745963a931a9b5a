"""The two solvers: each is asked every question, in a translation of its own."""
