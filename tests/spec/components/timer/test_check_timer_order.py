"""When the order of runs is judged, and in which order the clock may have moved."""

from typing import Literal

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import begin, call, end, judged
from wheelproof_spec.app.recorded import history_checker
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerClause,
    TimerConfig,
    WaitingTasks,
)

ORDER = TimerClause.RUNS_IN_ORDER
UNJUDGED = "the order of runs was not judged"


def _lines(*runs: tuple[str, str]) -> list[Line]:
    """Two tasks are submitted by one advance, "first" before "second", and then run."""
    parts = (
        call("a", Add(task="first", delay_ms=1)),
        call("a", Add(task="second", delay_ms=2)),
        call("t", Tick(to_ms=3)),
        call("r", AdvanceClock(), Advanced()),
        *(begin(worker, "run", Run(task=task)) for worker, task in runs),
    )
    return [line for part in parts for line in part]


def _check(
    *runs: tuple[str, str],
    run_order: Literal["promised", "open"] | Absent = ABSENT,
    ends: bool = True,
    more: tuple[Line, ...] = (),
) -> RunVerdict:
    config = TimerConfig(runs="later", run_order=run_order)
    lines = [*_lines(*runs), *more]
    history = history_of("timer", config, lines, quiet=True, clock="virtual")
    if ends:
        return judged(history)
    checker = history_checker(history.header)
    for op in history.ops:
        checker.feed(op)
    return checker.finish(cut_off=True)


def test_the_threads_of_a_pool_may_begin_in_any_order() -> None:
    verdict = _check(("worker-1", "second"), ("worker-2", "first"))
    assert verdict.verdict is Verdict.PASS
    assert verdict.checked[ORDER] == 0
    assert UNJUDGED in verdict.notes


@pytest.mark.parametrize("run_order", [ABSENT, "promised"])
def test_one_thread_begins_in_order(run_order: Literal["promised"] | Absent) -> None:
    good = _check(("worker", "first"), ("worker", "second"), run_order=run_order)
    assert (good.verdict, good.checked[ORDER], UNJUDGED in good.notes) == (Verdict.PASS, 2, False)
    bad = _check(("worker", "second"), ("worker", "first"), run_order=run_order)
    assert bad.violation is not None
    assert bad.place is not None
    assert (bad.violation.rule, bad.place.index) == (ORDER, 8)


def test_a_pool_that_promises_order_keeps_it() -> None:
    runs = (("worker-1", "second"), ("worker-2", "first"))
    assert _check(*runs, run_order="promised").verdict is Verdict.FAIL
    assert _check(*reversed(runs), run_order="promised").verdict is Verdict.PASS
    alone = (("worker", "second"), ("worker", "first"))
    assert _check(*alone, run_order="open").verdict is Verdict.PASS


def test_what_was_cut_off_may_have_had_a_second_thread() -> None:
    runs = (("worker", "second"), ("worker", "first"))
    assert _check(*runs, ends=False).violation is None
    assert _check(*runs, ends=False, run_order="promised").violation is not None


@pytest.mark.parametrize("again", ["worker", "worker-2"])
@pytest.mark.parametrize("task", ["first", "third"])
def test_no_violation_hides_a_second_thread(again: str, task: str) -> None:
    early = (*call("a", Add(task="third", delay_ms=9)), *begin("worker", "run", Run(task="third")))
    more = (*early, *begin(again, "run", Run(task=task)))
    verdict = _check(("worker", "second"), ("worker", "first"), more=more)
    rules = {broken.violation.rule for broken in verdict.also_broken}
    assert verdict.violation is not None
    assert (ORDER in {verdict.violation.rule, *rules}) == (again == "worker")
    assert TimerClause.NEVER_BEFORE_DUE in {verdict.violation.rule, *rules}
    wrong = call("a", Size(), WaitingTasks(size=7))
    verdict = _check(("worker", "second"), ("worker", "first"), more=wrong)
    later = [broken.violation.rule for broken in verdict.also_broken]
    assert verdict.violation is not None
    assert [verdict.violation.rule, *later] == [ORDER, TimerClause.SIZE_COUNTS_WAITING]


@pytest.mark.parametrize("first", ["t", "u"])
def test_moves_of_the_clock_that_overlap_come_in_any_order(first: str) -> None:
    """The add has read 0, 5 or 9: what is due 3 ms after that runs when the clock shows 9."""
    second = "u" if first == "t" else "t"
    to_ms = {"t": 5, "u": 9}
    parts = (
        begin(first, "tick", Tick(to_ms=to_ms[first])),
        begin(second, "tick", Tick(to_ms=to_ms[second])),
        begin("a", "add", Add(task="x", delay_ms=3)),
        begin("c", "cancel", Cancel(task="x")),
        end("a", "add"),
        end("c", "cancel", Cancelled(cancelled=False)),
        end("t", "tick"),
        call("r", AdvanceClock(), Advanced()),
        begin("worker", "run", Run(task="x")),
        end("u", "tick"),
    )
    lines = [line for part in parts for line in part]
    config = TimerConfig(runs="inline")
    verdict = judged(history_of("timer", config, lines, quiet=False, clock="virtual"))
    assert verdict.violation is None
