"""The port of a purgatory: operations by name, what ends them, and what is told of callbacks."""

import pytest

from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.calls import AdvanceClock, NumDelayed, Tick
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    Satisfy,
    SetCondition,
    Shutdown,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.port import AnyPurgatory, PurgatoryPort
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort

_ASKED = TryCompleteElseWatch(operation="a", delay_ms=5, keys=("k",), conditions=("c",))


class _Bench:
    """A port whose timer runs what is due when it advances, and its recorder."""

    def __init__(self) -> None:
        self.recorder = LoadRecorder("h", lambda: "caller")
        self.executor = DeferredExecutor()
        clock = ManualClock(0)
        timer = SystemTimer("tested", clock=clock, executor=self.executor)
        purgatory = AnyPurgatory("tested", timer, reaper_enabled=False)
        self.port = PurgatoryPort(purgatory, self.recorder, clock=clock)


@pytest.mark.parametrize("cause", [Satisfy(operation="a"), SetCondition(condition="c")])
def test_an_operation_ends_once_it_is_satisfied_or_a_condition_is_set(
    cause: Satisfy | SetCondition,
) -> None:
    port = _Bench().port
    assert port.perform(_ASKED) == Completed(completed=False)
    assert port.perform(CheckAndComplete(key="k")) == Checked(count=0)
    assert port.perform(cause) == Nothing()
    assert port.perform(CheckAndComplete(key="k")) == Checked(count=1)


def test_what_is_prepared_is_handed_in() -> None:
    port = _Bench().port
    port.prepare(_ASKED)
    port.perform(Satisfy(operation="a"))
    assert port.perform(_ASKED) == Completed(completed=True)
    assert port.perform(ForceComplete(operation="a")) == Completed(completed=False)


def test_who_is_cancelled_is_told_by_name() -> None:
    port = _Bench().port
    port.perform(_ASKED)
    assert port.perform(CancelForKey(key="k")) == Cancelled(count=1, cancelled=("a",))


def test_callbacks_are_recorded_inside_the_call_that_runs_them() -> None:
    bench = _Bench()
    purgatory = RecordedPort(bench.port, bench.recorder)
    purgatory.perform(_ASKED)
    purgatory.perform(ForceComplete(operation="a"))
    lines = [(op.type, op.f) for op in bench.recorder.take()]
    forced = lines.index(("invoke", "force_complete"))
    assert lines[forced:] == [
        ("invoke", "force_complete"),
        ("invoke", "on_complete"),
        ("ok", "on_complete"),
        ("ok", "force_complete"),
    ]


def test_a_completion_ends_with_the_call_of_its_callback() -> None:
    bench = _Bench()
    purgatory = RecordedPort(bench.port, bench.recorder)
    bench.port.prepare(_ASKED, then=lambda: purgatory.perform(NumDelayed()))
    purgatory.perform(_ASKED)
    purgatory.perform(ForceComplete(operation="a"))
    lines = [(op.type, op.f, op.process) for op in bench.recorder.take()]
    assert lines[lines.index(("invoke", "on_complete", "caller")) :] == [
        ("invoke", "on_complete", "caller"),
        ("invoke", "num_delayed", "caller/1"),
        ("ok", "num_delayed", "caller/1"),
        ("ok", "on_complete", "caller"),
        ("ok", "force_complete", "caller"),
    ]


def test_a_purgatory_that_was_shut_down_refuses() -> None:
    bench = _Bench()
    assert bench.port.perform(Shutdown()) == Nothing()
    assert RecordedPort(bench.port, bench.recorder).perform(_ASKED) is None


def test_the_clock_lets_an_operation_expire() -> None:
    bench = _Bench()
    bench.port.perform(_ASKED)
    for call in (Tick(to_ms=5), AdvanceClock(timeout_ms=0)):
        bench.port.perform(call)
    bench.executor.run_pending()
    told = [op.f for op in bench.recorder.take() if op.type == "invoke"]
    assert told[-2:] == ["on_complete", "on_expiration"]
    assert bench.port.purgatory.num_delayed() == 0
    assert RecordedPort(bench.port, bench.recorder).perform(NumDelayed()) is not None
