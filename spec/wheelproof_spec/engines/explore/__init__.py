"""The model checker: runs programs written against `wheelproof.sync` under chosen interleavings.

Every lock, cell, condition and thread of a program is replaced by a model whose steps a scheduler
orders. An engine chooses the order of each run, until the runs cover what it promises to cover.

`program` is the public interface for writing programs, `explorer` the one for exploring them, and
`pytest_plugin` has the fixture. Each package below imports only those before it: failures and
substrates, runtime, fields, program, runs, strategies, counterexamples. `programs` imports
`program`; so does `patched`, which runs code that is written against `threading`.
"""
