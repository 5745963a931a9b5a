"""Substrates of threads under test: fibers that can be stopped inside a call and resumed."""
