"""The model checker: runs programs written against `wheelproof.sync` under chosen interleavings.

Every lock, cell, condition and thread of a program is replaced by a model whose steps a scheduler
orders. An engine decides the order, run after run, until it has covered what it promises to cover.

`program` is the public face for those who write programs, `explorer` for those who explore them,
`pytest_plugin` has the fixture. Each package below imports only those before it: failures and
substrates, runtime, fields, program, runs, strategies, counterexamples; programs needs program, and
so does `patched`, which lets code run that is written against `threading`.
"""
