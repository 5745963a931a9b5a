"""Metamorphic tests of the judges of histories: what may change a verdict, and what may not."""
