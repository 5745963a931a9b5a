"""Histories for the tests of the judges, and ways to spoil them."""
