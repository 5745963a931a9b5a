"""The proofs of the purgatory."""

from wheelproof_spec.components.purgatory.proofs import completion

PROOFS = completion.PROOFS
