"""Proofs for any number of threads: inductive invariants of transition systems, with z3.

A component says what may happen: `System`, made of `terms`. It says what always holds: the clauses
of a `Proof`. `carry_out` asks z3 whether the first states have each clause and each action keeps
it; `finite` runs the same terms on a few threads, where TLC's graph is compared with theirs.
"""
