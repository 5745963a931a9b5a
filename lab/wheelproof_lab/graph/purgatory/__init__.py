"""The comparison of the purgatory's states with the states of its TLA+ modules."""
