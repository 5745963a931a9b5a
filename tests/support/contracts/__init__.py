"""Contracts and broken arithmetic for the tests of the prover."""
