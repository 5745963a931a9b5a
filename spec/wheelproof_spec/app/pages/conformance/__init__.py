"""The page of a conformance run: its verdict, clause by clause, and each failing case drawn.

Making it needs Jinja; showing it needs no network.
"""
