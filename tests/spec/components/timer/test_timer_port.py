"""The port of a timer: tasks by name, and what is recorded of its calls."""

import pytest

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof_spec.base.calls import AdvanceClock, Advanced, Close, Tick
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Size,
    TaskId,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.port import InlineExecutor, TimerPort
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort

_NOW = AdvanceClock(timeout_ms=0)


def _port(ran: list[TaskId]) -> TimerPort:
    return TimerPort(TimerConfig(), ran.append, clock=ManualClock(0), executor=InlineExecutor())


def test_a_task_runs_by_its_name() -> None:
    ran: list[TaskId] = []
    port = _port(ran)
    calls = Add(task="a", delay_ms=2), Add(task="b", delay_ms=1), Tick(to_ms=2), _NOW
    assert [port.perform(call) for call in calls][-1] == Advanced(expired=True)
    assert ran == ["b", "a"]


def test_another_delay_makes_another_task_and_the_first_does_not_run() -> None:
    ran: list[TaskId] = []
    port = _port(ran)
    for call in (Add(task="a", delay_ms=1), Add(task="a", delay_ms=5)):
        port.perform(call)
    assert port.perform(Size()) == WaitingTasks(size=1)
    port.perform(Tick(to_ms=1))
    port.perform(_NOW)
    assert ran == []


def test_who_is_cancelled_is_known_by_name() -> None:
    port = _port([])
    port.perform(Add(task="a", delay_ms=1))
    answers = [port.perform(Cancel(task=name)) for name in ("a", "a", "nobody")]
    assert answers == [Cancelled(cancelled=told) for told in (True, False, False)]


def test_a_closed_timer_refuses_and_the_refusal_is_recorded() -> None:
    recorder = LoadRecorder("h", lambda: "caller")
    port = _port([])
    timer = RecordedPort(port, recorder)
    assert timer.perform(Close()) == Nothing()
    assert timer.perform(Add(task="a", delay_ms=1)) is None
    assert [(op.type, op.f) for op in recorder.take()][2:] == [("invoke", "add"), ("fail", "add")]
    with pytest.raises(WheelproofError):
        port.perform(Add(task="a", delay_ms=1))
