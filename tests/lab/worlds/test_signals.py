"""A signal ends a call of a component at every place, while another thread works (standard 6.8)."""

import logging
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from support import seeds
from support.reference.losing_timer import LosingTimer
from wheelproof.producer import BufferPool, ByteBuffer, ProducerBatch, RecordAccumulator
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.replication import Partition, PartitionLog, ReplicaManager
from wheelproof.timer import SystemTimer, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_lab.worlds.accumulator import signals as accumulator
from wheelproof_lab.worlds.all_programs import SIGNALS
from wheelproof_lab.worlds.buffer_pool import signals as buffer_pool
from wheelproof_lab.worlds.purgatory import signals as purgatory
from wheelproof_lab.worlds.replication import signals as replication
from wheelproof_lab.worlds.timer import signals as timer

_PROGRAMS = [program for each in SIGNALS.values() for program in each]
_LARGE = {
    "signal/accumulator-append-abort",
    "signal/accumulator-append-new",
    "signal/broker-consume",
    "signal/broker-follow",
    "signal/broker-lead",
    "signal/broker-lead-again",
    "signal/broker-produce",
    "signal/broker-replicate",
    "signal/broker-shrink",
    "signal/broker-stop",
    "signal/purgatory-advance",
    "signal/purgatory-trigger",
    "signal/purgatory-watch",
    "signal/timer-advance",
    "signal/timer-advance-above",
}
"""Programs of more classes than the bound, looked at a while; a hunt looks longer."""
_LARGE_RUNS = seeds.runs(300, hunted=10_000)
_MANY_RUNS = 3_000


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Do not print the errors of callbacks that a signal ends."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.long
@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.name)
def test_a_signal_is_survived_at_every_place_in_every_interleaving(program: Program) -> None:
    is_large = program.name in _LARGE
    found = explore(program, Options(max_runs=_LARGE_RUNS if is_large else _MANY_RUNS))
    assert found.counterexample is None, found.details()
    assert is_large or found.stopped is None, found.summary()


@pytest.mark.campaign
@pytest.mark.parametrize("component", SIGNALS)
def test_a_signal_is_survived_at_random_places(component: str) -> None:
    options = Options(
        engine=Engine.SAMPLE, seed=seeds.seed(36), max_runs=seeds.runs(10, hunted=1_000)
    )
    for program in SIGNALS[component]:
        found = explore(program, options)
        assert found.counterexample is None, found.details()


class _KeepsItsPlace(BufferPool):
    """A pool in which a thread whose wait ends in an error stays first in the queue."""

    def _leave_queue(self, waiter: Waiter) -> None:
        if waiter.accumulated == 0 and sys.exception() is None:
            super()._leave_queue(waiter)


class _LosesWhatItTakes(RecordAccumulator):
    """An accumulator whose drain gives nothing back to the queue."""

    def _put_first(self, batch: ProducerBatch) -> None:
        """Do nothing."""


class _KeepsTheUnused(RecordAccumulator):
    """An accumulator that gives an unused buffer back only if no error has come."""

    def _give_back_unused(self, unused: Iterable[ByteBuffer]) -> None:
        if sys.exception() is None:
            super()._give_back_unused(unused)


class _LinksTwice(TimerTaskList):
    """A bucket that takes back an entry that has found its place in another bucket."""

    def _take_back(self, entry: TimerTaskEntry) -> None:
        with entry.monitor:
            if not entry.cancelled():
                self._link(entry, self._root.next)


class _WheelOfTwiceLinked(TimingWheel):
    _bucket_class = _LinksTwice


class _TimerOfTwiceLinked(SystemTimer):
    _timing_wheel_class = _WheelOfTwiceLinked


class _CutsInSteps(PartitionLog):
    """A log that drops its segments, then its records, and then lowers the high watermark."""

    def truncate_to(self, offset: int) -> None:
        with self._monitor:
            while self._segments[-1].base_offset > offset:
                self._segments.pop()
            self._segments[-1] = self._segments[-1].up_to(offset)
            self._high_watermark = min(self._high_watermark, offset)


class _PartitionOfSteps(Partition):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.log = _CutsInSteps(segment_bytes=1)


class _CutsLogsInSteps(ReplicaManager):
    _partition_class = _PartitionOfSteps


class _LeavesWatches(DelayedOperationPurgatory[DelayedOperation]):
    """A purgatory that undoes nothing of a call that ends in an error."""

    def _withdraw(self, operation: DelayedOperation, watched: object) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("programs", "name"),
    [
        (timer.signals_with(LosingTimer), "timer-advance"),
        (timer.signals_with(_TimerOfTwiceLinked), "timer-move-down"),
        (purgatory.signals_with(_LeavesWatches), "purgatory-watch"),
        (buffer_pool.signals_with(_KeepsItsPlace), "pool-lend-in-vain"),
        (replication.signals_with(_CutsLogsInSteps), "broker-follow"),
        (accumulator.signals_with(_LosesWhatItTakes), "accumulator-drain"),
        (accumulator.signals_with(_KeepsTheUnused), "accumulator-append-waits"),
    ],
    ids=["bucket", "linked", "watch", "waiter", "log", "drain", "buffer"],
)
def test_what_a_signal_breaks_is_found(programs: Iterable[Program], name: str) -> None:
    [program] = [one for one in programs if one.name == f"signal/{name}"]
    options = Options(engine=Engine.BOUNDED, max_runs=400, shrink=False)
    assert explore(program, options).counterexample is not None
