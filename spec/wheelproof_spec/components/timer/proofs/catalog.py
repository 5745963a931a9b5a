"""The proof of the timer."""

from wheelproof_spec.components.timer.proofs import cancelling

PROOFS = cancelling.PROOFS
