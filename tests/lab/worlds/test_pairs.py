"""Every two public methods of one object have been run against each other, in two threads."""

from collections.abc import Callable
from functools import wraps

import pytest

from wheelproof.producer import (
    BufferPool,
    FinalState,
    IllegalStateError,
    ProducerBatch,
    RecordAccumulator,
)
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import ReplicaManager
from wheelproof.timer import SystemTimer
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.buffer_pool import BUGS, NoGiveBackPool
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.worlds.accumulator.ended_batches import ends_with
from wheelproof_lab.worlds.all_programs import PAIRS
from wheelproof_lab.worlds.buffer_pool.programs import pairs_with

pytestmark = pytest.mark.slow

_OBJECTS: dict[str, type[object]] = {
    "timer": SystemTimer,
    "purgatory": DelayedOperationPurgatory,
    "replication": ReplicaManager,
    "buffer_pool": BufferPool,
    "accumulator": RecordAccumulator,
}
_PAIRS = [pair for component in _OBJECTS for pair in PAIRS[component]]
_SOME_RUNS = 60
_FIRST_RUNS = 1_000
_MANY_RUNS = 5_000
_LARGE = {
    "pair/broker/produce+produce",
    "pair/broker/produce+replicate",
    "pair/broker/produce+lead",
}
"""Pairs of more classes than that, looked at a while: all others are run in every interleaving."""


def _passes(found: Exploration) -> bool:
    """Tell whether a pair passes; one that shares nothing has one interleaving, and passes it."""
    alone = found.runs == found.classes == 1 and found.complete and found.counterexample is None
    return found.verdict() is Verdict.PASS or alone


@pytest.mark.long
@pytest.mark.parametrize("pair", _PAIRS, ids=lambda pair: pair.name)
def test_a_pair_passes_in_every_interleaving(pair: Program) -> None:
    large = pair.name in _LARGE
    found = explore(pair, Options(max_runs=_FIRST_RUNS if large else _MANY_RUNS))
    assert found.counterexample is None, found.details()
    assert _passes(found) or large, found.summary()


@pytest.mark.parametrize("component", _OBJECTS)
def test_pairs_pass_at_first_and_call_every_public_method(
    component: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = _OBJECTS[component]
    methods = {
        name
        for one in kind.__mro__
        if one.__module__.startswith("wheelproof.")
        for name, value in vars(one).items()
        if callable(value) and not name.startswith("_")
    }
    called = set[str]()
    for name in methods:
        monkeypatch.setattr(kind, name, _noting(called, name, getattr(kind, name)))
    for pair in PAIRS[component]:
        found = explore(pair, Options(max_runs=_SOME_RUNS))
        assert found.counterexample is None, found.details()
    assert called == methods


def _noting(called: set[str], name: str, method: Callable[..., object]) -> Callable[..., object]:
    @wraps(method)
    def noting(*arguments: object, **more: object) -> object:
        called.add(name)
        return method(*arguments, **more)

    return noting


def test_a_pair_that_breaks_something_fails() -> None:
    """The pairs can fail: those of the pool do with a pool that loses what is given back."""
    assert any(explore(pair).verdict() is Verdict.FAIL for pair in pairs_with(NoGiveBackPool))


def test_misuse_beside_right_use_finds_a_pool_that_takes_any_buffer() -> None:
    pool_class = find_bug(BUGS, "given-back-twice").pool_class
    misuse = [pair for pair in pairs_with(pool_class) if "misuse" in pair.name]
    assert misuse
    assert all(explore(pair).verdict() is Verdict.FAIL for pair in misuse)


class _EndsTwice(ProducerBatch):
    """A batch of which every end is the first."""

    def _become(self, state: FinalState) -> bool:
        """Do not look at what the state was."""
        del state
        return True


class _RefusesLateResponses(ProducerBatch):
    """A batch that refuses a response after it has failed, as if it were misuse."""

    def _become(self, state: FinalState) -> bool:
        first = super()._become(state)
        if not first and state is not FinalState.ABORTED:
            raise IllegalStateError
        return first


@pytest.mark.parametrize("batch_class", [_EndsTwice, _RefusesLateResponses])
def test_two_ends_of_a_batch_find_a_wrong_batch(batch_class: type[ProducerBatch]) -> None:
    found = [explore(pair).verdict() for pair in ends_with(batch_class)]
    assert Verdict.FAIL in found
