"""Plain state that threads share is seen: packages that the user names are instrumented.

Each read and write of an attribute, an item, a global or a closure's variable in their functions is
either noted, to be searched for data races, or a step of its own, to be explored in every order.
"""
