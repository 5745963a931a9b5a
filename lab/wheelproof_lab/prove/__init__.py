"""Proofs for any number of threads: inductive invariants of transition systems.

A component defines its actions as a `System` of `terms`, and its invariant as the clauses of a
`Proof`. `carry_out` asks z3 and cvc5 whether each clause holds in the first states and is preserved
by each action. `finite` runs the same terms for a few threads; that graph is compared with TLC's.
"""
