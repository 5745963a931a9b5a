"""The model checker: runs programs written against `wheelproof.sync` under chosen interleavings.

Every lock, cell, condition and thread of a program is replaced by a model whose steps a scheduler
orders. An engine decides the order, run after run, until it has covered what it promises to cover.
"""
