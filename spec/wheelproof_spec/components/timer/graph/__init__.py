"""How the states of the timer compare with those of its TLA+ modules."""
