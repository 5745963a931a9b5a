"""What a timer's size may be while a task is being cancelled."""

import pytest

from support.agreement.small_histories import Line, history_of
from support.history.history_scripts import judged, whole
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Size,
    TimerConfig,
    WaitingTasks,
)


@pytest.mark.parametrize("size", [0, 1])
def test_a_task_that_is_being_cancelled_may_be_counted_or_not(size: int) -> None:
    task = Cancel(task="x")
    lines = [
        *whole("a", "add", Add(task="x", delay_ms=5), Nothing()),
        Line("c", "invoke", "cancel", task),
        *whole("s", "size", Size(), WaitingTasks(size=size)),
        Line("c", "ok", "cancel", Cancelled(cancelled=True)),
        *whole("s", "size", Size(), WaitingTasks(size=0)),
    ]
    config = TimerConfig(tick_ms=1)
    verdict = judged(history_of("timer", config, lines, quiet=True, clock="virtual"))
    assert verdict.verdict is Verdict.PASS


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 1)])
def test_before_and_after_its_size_is_certain(before: int, after: int) -> None:
    lines = [
        *whole("a", "add", Add(task="x", delay_ms=5), Nothing()),
        *whole("s", "size", Size(), WaitingTasks(size=before)),
        *whole("c", "cancel", Cancel(task="x"), Cancelled(cancelled=True)),
        *whole("s", "size", Size(), WaitingTasks(size=after)),
    ]
    config = TimerConfig(tick_ms=1)
    verdict = judged(history_of("timer", config, lines, quiet=True, clock="virtual"))
    assert verdict.verdict is Verdict.FAIL
