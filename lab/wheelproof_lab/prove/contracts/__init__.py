"""Theorems about the arithmetic of timing wheels, and the prover that confirms or refutes them."""
