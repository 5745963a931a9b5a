"""What the benchmarks share: the clock, the machine, those that are compared."""
