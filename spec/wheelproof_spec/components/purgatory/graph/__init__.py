"""How the states of the purgatory compare with those of its TLA+ modules."""
