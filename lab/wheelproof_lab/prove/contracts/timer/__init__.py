"""Theorems about the arithmetic of timing wheels."""
