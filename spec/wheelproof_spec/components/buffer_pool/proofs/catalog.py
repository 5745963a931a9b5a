"""The proof of the pool of buffers."""

from wheelproof_spec.components.buffer_pool.proofs import promises

PROOFS = promises.PROOFS
