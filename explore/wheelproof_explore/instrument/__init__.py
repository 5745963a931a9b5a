"""Instrumentation of packages that the user names: accesses of plain shared state become visible.

Each read and write of an attribute, an item, a global or a closure's variable in their functions is
either logged, for the data race search, or a step of its own, explored in every order.
"""
