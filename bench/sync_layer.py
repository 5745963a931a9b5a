"""The cost of `wheelproof.sync` on a wheel's add plus cancel, against bare `threading`."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from instruments.bare_wheel import BareEntry, BareQueue, BareTask, BareWheel, Counter
from instruments.stopwatch import garbage_collector, microseconds_each
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.timer import DelayQueue, TimerTask, TimerTaskEntry, TimingWheel
from wheelproof.units import Millis

_TICK_MS = 1
_WHEEL_SIZE = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncLayerCost:
    """Processor time of one add plus cancel, in microseconds, and the median of the ratios."""

    layered_us: float
    bare_us: float
    ratio: float


def measure_sync_layer(delays_ms: Sequence[int], rounds: int) -> SyncLayerCost:
    """Take turns between the two wheels, `rounds` times."""
    delays = [Millis(delay_ms) for delay_ms in delays_ms]
    layered_wheel, bare_wheel = _layered_wheel(), _bare_wheel()
    layered: list[float] = []
    bare: list[float] = []
    with garbage_collector(enabled=True):
        for _ in range(rounds):
            bare.append(microseconds_each(lambda: _run_bare(bare_wheel, delays), len(delays)))
            layered.append(
                microseconds_each(lambda: _run_layered(layered_wheel, delays), len(delays))
            )
    return SyncLayerCost(
        layered_us=statistics.median(layered),
        bare_us=statistics.median(bare),
        ratio=statistics.median(above / below for above, below in zip(layered, bare, strict=True)),
    )


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        pass


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
        task = _Task(delay_ms)
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
