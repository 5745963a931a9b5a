"""Reference of a message broker's delayed-operation machinery, on the standard library alone.

The packages follow the parts of the system: `timer` (hierarchical timing wheels), with the
concurrency layer `sync` and `clock` below them. The rules they implement are numbered in
docs/semantics.md; docstrings cite them as "semantics.md 1.5".
"""
