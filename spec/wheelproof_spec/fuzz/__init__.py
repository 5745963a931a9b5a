"""Stateful fuzzing: Hypothesis drives an implementation and compares it with the oracle.

The machines live here and not beside the tests, because `wheelproof fuzz` runs them too;
stateful_tests/ holds the tests that run them.
"""
