"""The fast judges and the general engine agree on small histories, correct and spoiled."""

from collections import Counter

import pytest
from general_models import PoolModel, TimerModel, pool_events, timer_events
from small_histories import History, pool_history, timer_history

from wheelproof_spec.conformance.history_run import HistoryChecker
from wheelproof_spec.conformance.linearizability import check_history
from wheelproof_spec.conformance.run_verdict import RunVerdict
from wheelproof_spec.verdicts import Verdict

FEW, MANY = range(300), range(300, 4_000)


def _judged(history: History) -> RunVerdict:
    checker = HistoryChecker(history.header)
    for op in history.ops:
        checker.feed(op)
    if history.end.quiet:
        checker.feed(history.end)
    return checker.finish()


def _timers_agree(seeds: range) -> Counter[Verdict]:
    found: Counter[Verdict] = Counter()
    for seed in seeds:
        history = timer_history(seed)
        general = check_history(TimerModel(), timer_events(history)).verdict
        assert _judged(history).verdict is general, f"timer_history({seed})"
        found[general] += 1
    return found


def _pools_agree(seeds: range) -> Counter[Verdict]:
    found: Counter[Verdict] = Counter()
    for seed in seeds:
        history = pool_history(seed)
        general = check_history(PoolModel(10), pool_events(history)).verdict
        verdict = _judged(history)
        undecided = any("depend on" in note for note in verdict.notes)
        assert undecided or verdict.verdict is general, f"pool_history({seed})"
        found[general] += 1
    return found


def test_timers_few() -> None:
    assert min(_timers_agree(FEW).values()) > len(FEW) // 10


def test_pools_few() -> None:
    assert min(_pools_agree(FEW).values()) > len(FEW) // 10


@pytest.mark.slow
def test_timers_many() -> None:
    assert set(_timers_agree(MANY)) == {Verdict.PASS, Verdict.FAIL}


@pytest.mark.slow
def test_pools_many() -> None:
    assert set(_pools_agree(MANY)) == {Verdict.PASS, Verdict.FAIL}
