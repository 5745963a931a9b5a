"""How the states of the accumulator compare with those of RecordAccumulator.tla."""
