"""Shared by the benchmarks: the stopwatch, the machine and the contestants."""
