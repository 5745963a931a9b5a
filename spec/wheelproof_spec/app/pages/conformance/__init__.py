"""The page of a conformance run: its verdict, clause by clause, and each failing case drawn.

It needs Jinja, and nothing that it shows needs a network.
"""
