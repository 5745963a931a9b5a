"""All proofs for any number of threads."""

from collections.abc import Mapping
from functools import cache

from wheelproof_lab.prove.accumulator import catalog as accumulator
from wheelproof_lab.prove.buffer_pool import catalog as buffer_pool
from wheelproof_lab.prove.purgatory import catalog as purgatory
from wheelproof_lab.prove.system import Listed, Proof
from wheelproof_lab.prove.timer import catalog as timer

PROOFS: Mapping[str, tuple[Listed, ...]] = {
    "timer": timer.PROOFS,
    "purgatory": purgatory.PROOFS,
    "buffer_pool": buffer_pool.PROOFS,
    "accumulator": accumulator.PROOFS,
}
"""The proofs of each component."""


def listed() -> tuple[Listed, ...]:
    """Return every proof, as far as it is known before it is made."""
    return tuple(one for each in PROOFS.values() for one in each)


@cache
def proofs() -> tuple[Proof, ...]:
    """Return every proof; for those that are derived from a module Java parses it."""
    return tuple(one.make() for one in listed())
