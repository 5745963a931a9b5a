"""All comparisons of code and TLA+ module."""

from collections.abc import Mapping

from wheelproof_lab.graph.accumulator import catalog as accumulator
from wheelproof_lab.graph.buffer_pool import catalog as buffer_pool
from wheelproof_lab.graph.comparing.comparisons import GraphModel
from wheelproof_lab.graph.purgatory import catalog as purgatory
from wheelproof_lab.graph.replication import catalog as replication
from wheelproof_lab.graph.timer import catalog as timer

COMPARISONS: Mapping[str, tuple[GraphModel, ...]] = {
    "timer": timer.COMPARISONS,
    "purgatory": purgatory.COMPARISONS,
    "replication": replication.COMPARISONS,
    "buffer_pool": buffer_pool.COMPARISONS,
    "accumulator": accumulator.COMPARISONS,
}
"""The comparisons of each component's code with its modules."""


def comparisons() -> tuple[GraphModel, ...]:
    """Return every comparison."""
    return tuple(model for models in COMPARISONS.values() for model in models)
