"""The search for every reachable state of a program, their names, and views of them."""
