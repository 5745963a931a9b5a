"""Add plus cancel on a wheel alone: on `wheelproof.sync`, and on bare `threading`."""

from collections.abc import Callable, Sequence
from functools import partial

from instruments.bare_wheel import BareEntry, BareQueue, BareTask, BareWheel, Counter
from instruments.contestants import EmptyTask
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.timer import DelayQueue, TimerTaskEntry, TimingWheel
from wheelproof.units import Millis

_TICK_MS = 1
_WHEEL_SIZE = 20


def layered_pairs(delays: Sequence[Millis]) -> Callable[[], None]:
    """Return what adds and cancels a task for each delay, on the layer."""
    return partial(_run_layered, _layered_wheel(), delays)


def bare_pairs(delays: Sequence[Millis]) -> Callable[[], None]:
    """Return the same on bare threading."""
    return partial(_run_bare, _bare_wheel(), delays)


def _layered_wheel() -> TimingWheel:
    return TimingWheel(
        tick_ms=_TICK_MS,
        wheel_size=_WHEEL_SIZE,
        start_ms=0,
        task_counter=sync.atomic_integer(0, "task_counter"),
        queue=DelayQueue(ManualClock()),
    )


def _bare_wheel() -> BareWheel:
    return BareWheel(
        tick_ms=_TICK_MS,
        wheel_size=_WHEEL_SIZE,
        start_ms=0,
        task_counter=Counter(),
        queue=BareQueue(),
    )


def _run_layered(wheel: TimingWheel, delays: Sequence[Millis]) -> None:
    for delay_ms in delays:
        task = EmptyTask(delay_ms)
        entry = TimerTaskEntry(task, delay_ms)
        task.set_timer_task_entry(entry)
        wheel.add(entry)
        task.cancel()


def _run_bare(wheel: BareWheel, delays: Sequence[Millis]) -> None:
    for delay_ms in delays:
        task = BareTask(delay_ms)
        entry = BareEntry(task, delay_ms)
        task.set_timer_task_entry(entry)
        wheel.add(entry)
        task.cancel()
