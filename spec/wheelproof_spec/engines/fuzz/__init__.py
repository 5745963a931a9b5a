"""Stateful fuzzing: Hypothesis drives an implementation and compares it with the oracle.

The machines live here rather than beside the tests, because `wheelproof fuzz` and `wheelproof
conform` run them too; stateful_tests/ holds the tests that do.
"""
