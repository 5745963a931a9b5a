"""The general search: is there an order of effects that explains every answer of a history?"""
