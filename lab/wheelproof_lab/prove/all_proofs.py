"""All proofs for any number of threads."""

from collections.abc import Mapping

from wheelproof_lab.prove.buffer_pool import catalog as buffer_pool
from wheelproof_lab.prove.purgatory import catalog as purgatory
from wheelproof_lab.prove.system import Proof
from wheelproof_lab.prove.timer import catalog as timer

PROOFS: Mapping[str, tuple[Proof, ...]] = {
    "timer": timer.PROOFS,
    "purgatory": purgatory.PROOFS,
    "buffer_pool": buffer_pool.PROOFS,
}
"""The proofs of each component."""


def proofs() -> tuple[Proof, ...]:
    """Return every proof."""
    return tuple(proof for each in PROOFS.values() for proof in each)
