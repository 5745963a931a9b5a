"""What a timer's size may be while a task is being cancelled."""

import pytest

from support.history.history_scripts import judged, whole
from support.history.small_histories import Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.components.timer.events import (
    AddAsked,
    CancelAnswer,
    SizeAnswer,
    TaskAsked,
    TimerSettings,
)


@pytest.mark.parametrize("size", [0, 1])
def test_a_task_that_is_being_cancelled_may_be_counted_or_not(size: int) -> None:
    task = TaskAsked(task="x")
    lines = [
        *whole("a", "add", AddAsked(task="x", delay_ms=5), Nothing()),
        Line("c", "invoke", "cancel", task),
        *whole("s", "size", Nothing(), SizeAnswer(size=size)),
        Line("c", "ok", "cancel", CancelAnswer(cancelled=True)),
        *whole("s", "size", Nothing(), SizeAnswer(size=0)),
    ]
    settings = TimerSettings(tick_ms=1)
    verdict = judged(history_of("timer", settings, lines, quiet=True, clock="virtual"))
    assert verdict.verdict is Verdict.PASS


@pytest.mark.parametrize(("before", "after"), [(0, 0), (1, 1)])
def test_before_and_after_its_size_is_certain(before: int, after: int) -> None:
    lines = [
        *whole("a", "add", AddAsked(task="x", delay_ms=5), Nothing()),
        *whole("s", "size", Nothing(), SizeAnswer(size=before)),
        *whole("c", "cancel", TaskAsked(task="x"), CancelAnswer(cancelled=True)),
        *whole("s", "size", Nothing(), SizeAnswer(size=after)),
    ]
    settings = TimerSettings(tick_ms=1)
    verdict = judged(history_of("timer", settings, lines, quiet=True, clock="virtual"))
    assert verdict.verdict is Verdict.FAIL
