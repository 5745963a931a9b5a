"""The judges and the general search agree on small histories, correct and spoiled."""

from collections import Counter
from typing import Protocol

import pytest

from support import seeds
from support.agreement.small_accumulators import accumulator_history
from support.agreement.small_brokers import broker_history
from support.agreement.small_histories import History, pool_history, timer_history
from support.agreement.small_purgatories import purgatory_history
from support.history.history_scripts import judged
from wheelproof_spec.base.history.judging import WholeHistory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components import registry
from wheelproof_spec.history.linearizability.small_histories import GAVE_UP, MOST_EVENTS
from wheelproof_spec.history.run import HistoryChecker

pytestmark = pytest.mark.slow

_FIRST = seeds.seed(1_000_000)
MANY = range(_FIRST, _FIRST + seeds.runs(1_000, hunted=3_000))
LONGER = range(_FIRST, _FIRST + seeds.runs(100, hunted=300))
TIMES = 10


class _Drawn(Protocol):
    def __call__(self, seed: int, times: int = 1) -> History: ...


SMALL: dict[str, _Drawn] = {
    "timer": timer_history,
    "purgatory": purgatory_history,
    "replication": broker_history,
    "buffer_pool": pool_history,
    "accumulator": accumulator_history,
}
FOUND = {
    "timer": (700_442, 704_435),
    "purgatory": (),
    "replication": (19, 23, 92, 127, 539, 1_005),
    "buffer_pool": (731, 828),
    "accumulator": (110, 118),
}
"""Histories on which a judge that keeps bounds, and the search, did not agree."""


def _judged_by_bounds(component: str, history: History) -> bool:
    """Tell whether the judge, without the search, finds anything."""
    checker = HistoryChecker(history.header, registry.recorded(component))
    for op in history.ops:
        checker.feed(op)
    checker.feed(history.end)
    return checker.finish().violation is not None


def _searched(component: str, history: History) -> Verdict | None:
    """Return what the search says; None if a history is not for it."""
    search = registry.recorded(component).search
    assert search is not None
    if len(history.ops) > MOST_EVENTS:
        return None
    profile = judged(history).profile
    found = search(
        WholeHistory(
            header=history.header, profile=profile, ops=history.ops, quiet=history.end.quiet
        )
    )
    return None if found is None else found.verdict


def _agree(component: str, seeds: range) -> Counter[str]:
    """Count what was found by whom."""
    found: Counter[str] = Counter()
    for seed in seeds:
        history = SMALL[component](seed)
        name = f"{component} history {seed}"
        searched, by_bounds = _searched(component, history), _judged_by_bounds(component, history)
        verdict = judged(history)
        if searched is None:
            found["not searched"] += 1
            continue
        assert searched is not Verdict.INCONCLUSIVE, name
        wrong = searched is Verdict.FAIL
        assert wrong or not by_bounds, f"{name}: the judge fails what an order explains"
        assert wrong is (verdict.violation is not None), name
        assert GAVE_UP not in verdict.notes, name
        found["right" if not wrong else "by bounds" if by_bounds else "by search"] += 1
    return found


@pytest.mark.parametrize("component", SMALL)
def test_a_few(component: str) -> None:
    found = _agree(component, range(200))
    assert min(found["right"], found["by bounds"] + found["by search"]) > 20
    assert found["not searched"] < 40


@pytest.mark.parametrize("component", SMALL)
def test_those_that_did_not_agree(component: str) -> None:
    for seed in FOUND[component]:
        found = _agree(component, range(seed, seed + 1))
        assert not found["not searched"]


@pytest.mark.campaign
@pytest.mark.long
@pytest.mark.parametrize("component", SMALL)
def test_many(component: str) -> None:
    found = _agree(component, MANY)
    assert found["by bounds"] > found["by search"], MANY
    assert found["not searched"] < len(MANY) // 5, MANY


@pytest.mark.campaign
@pytest.mark.long
@pytest.mark.parametrize("component", SMALL)
def test_nothing_is_found_in_right_histories_that_are_too_long_to_be_searched(
    component: str,
) -> None:
    for seed in LONGER:
        verdict = judged(SMALL[component](seed, times=TIMES))
        assert verdict.violation is None, f"{component} history {seed}, {TIMES} times as long"
