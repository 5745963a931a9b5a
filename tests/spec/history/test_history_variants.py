"""The verdict on a history does not depend on how it is written down, nor on its length."""

from collections import Counter

import pytest

from support.agreement.small_accumulators import accumulator_history
from support.agreement.small_brokers import broker_history
from support.agreement.small_histories import Line, history_of, pool_history, timer_history
from support.agreement.small_purgatories import purgatory_history
from support.history.history_scripts import begin, call, end, judged
from support.history.variants import padded, with_ends
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components import registry
from wheelproof_spec.components.timer.component import Add, Cancel, Cancelled, Run, TimerConfig
from wheelproof_spec.history.linearizability.small_histories import MOST_EVENTS
from wheelproof_spec.history.run import HistoryChecker

_SMALL = {
    "timer": timer_history,
    "purgatory": purgatory_history,
    "replication": broker_history,
    "buffer_pool": pool_history,
    "accumulator": accumulator_history,
}
_SEEDS = range(150)

_ENDED_BY_ANOTHER = (
    *call("c", Add(task="a", delay_ms=0)),
    *begin("e", "run", Run(task="a")),
    *end("e", "run"),
)
_ENDED_INSIDE_A_CALL = (
    *call("c", Add(task="a", delay_ms=0)),
    *begin("c", "cancel", Cancel(task="a")),
    *begin("c", "run", Run(task="a")),
    *end("c", "run"),
    *end("c", "cancel", Cancelled(cancelled=False)),
)
_TOLD_WRONGLY = (*_ENDED_INSIDE_A_CALL[:-1], *end("c", "cancel", Cancelled(cancelled=True)))


def _verdict_of(*lines: Line) -> Verdict:
    history = history_of("timer", TimerConfig(tick_ms=1), lines, quiet=True, clock="virtual")
    return judged(history).verdict


def test_a_run_may_be_recorded_with_its_end() -> None:
    assert _verdict_of(*_ENDED_BY_ANOTHER) is Verdict.PASS
    assert _verdict_of(*_ENDED_INSIDE_A_CALL) is Verdict.PASS
    assert _verdict_of(*_TOLD_WRONGLY) is Verdict.FAIL


@pytest.mark.parametrize("component", _SMALL)
def test_the_ends_of_what_happens_change_no_verdict(component: str) -> None:
    searched = 0
    for seed in _SEEDS:
        history = _SMALL[component](seed)
        with_them = with_ends(history)
        if len(with_them.ops) > MOST_EVENTS:
            continue
        searched += 1
        assert judged(with_them).verdict is judged(history).verdict, f"{component} {seed}"
    assert searched > len(_SEEDS) // 3


@pytest.mark.parametrize("component", _SMALL)
def test_a_history_that_is_too_long_to_be_searched_keeps_its_verdict(component: str) -> None:
    """What the judge finds by itself it finds again; what is right passes at any length."""
    found: Counter[str] = Counter()
    for seed in _SEEDS:
        history = _SMALL[component](seed)
        short, long = judged(history).violation, judged(padded(history)).violation
        checker = HistoryChecker(history.header, registry.recorded(component))
        for op in history.ops:
            checker.feed(op)
        checker.feed(history.end)
        by_itself = checker.finish().violation
        # A judge may search the stretches of a long history: then it finds what the search finds.
        at_least, at_most = by_itself and by_itself.rule, short and short.rule
        assert (long and long.rule) in {at_least, at_least or at_most}, f"{component} {seed}"
        found["right" if short is None else "by the search" if long is None else "wrong"] += 1
    assert found["wrong"] > found["by the search"]
    assert min(found["right"], found["wrong"]) > len(_SEEDS) // 10
