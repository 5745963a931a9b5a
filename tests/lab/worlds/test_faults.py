"""Every program and every pair in an environment of which one call fails, in every interleaving."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from support import seeds
from support.reference.losing_timer import LosingTimer
from support.reference.timer import CallingTask
from wheelproof.clock import ManualClock
from wheelproof.producer import ProducerBatch
from wheelproof.replication import ReplicaManager
from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program, Scenario
from wheelproof_lab.bugs.buffer_pool import BUGS as POOL_BUGS
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.purgatory import BUGS as PURGATORY_BUGS
from wheelproof_lab.bugs.replication import BUGS as REPLICATION_BUGS
from wheelproof_lab.bugs.timer import BUGS as TIMER_BUGS
from wheelproof_lab.worlds.accumulator import programs as accumulator
from wheelproof_lab.worlds.accumulator.bench import SurvivedAccumulator
from wheelproof_lab.worlds.accumulator.programs import SurvivedCallbackEndsBatch
from wheelproof_lab.worlds.all_programs import FAULTS
from wheelproof_lab.worlds.buffer_pool import programs as buffer_pool
from wheelproof_lab.worlds.making import discarding
from wheelproof_lab.worlds.purgatory import programs as purgatory
from wheelproof_lab.worlds.replication import programs as replication
from wheelproof_lab.worlds.timer import system_timer
from wheelproof_spec.components.timer.port import InlineExecutor

_MANY_RUNS = 8_000
_LARGE = {
    "fault/accumulator-two-appends-abort",
    "fault/accumulator-two-appends-abort-without-close",
    "fault/accumulator-two-partitions-abort",
    "fault/append-and-consume",
    "fault/pair/broker/consume+lead",
    "fault/pair/broker/consume+replicate",
    "fault/pair/broker/produce+lead",
    "fault/pair/broker/produce+produce",
    "fault/pair/broker/produce+replicate",
    "fault/pool-four-threads",
    "fault/pool-spurious",
    "fault/produce-and-lose",
    "fault/produce-and-replicate",
    "fault/produce-and-stop",
    "fault/produce-replicate-consume",
    "fault/purgatory-purge-counts",
    "fault/purgatory-watch-purge-of-key",
    "fault/purgatory-watch-trigger-purge",
    "fault/purgatory-watch-two-triggers",
    "fault/rejoin-and-produce",
}
"""Programs of more classes than that, looked at a while; a hunt looks longer."""
_LARGE_RUNS = seeds.runs(1_000, hunted=10_000)
# All of them take minutes of two processors.
_PROGRAMS = seeds.share([program for each in FAULTS.values() for program in each], 2)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Do not print the errors that callbacks are made to raise."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.long
@pytest.mark.campaign
@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda program: program.name)
def test_every_single_fault_is_survived_in_every_interleaving(program: Program) -> None:
    is_large = program.name in _LARGE
    found = explore(program, Options(max_runs=_LARGE_RUNS if is_large else _MANY_RUNS))
    assert found.counterexample is None, found.details()
    # Without a bound reached it has seen all, also if no two threads share anything.
    assert is_large or (found.stopped is None and found.runs < _MANY_RUNS), found.summary()


class _StrandsABucket(SystemTimer):
    """A timer that does not put the bucket of a refused task back into its queue."""

    def _expire_bucket(self, bucket: TimerTaskList) -> None:
        self._timing_wheel.advance_clock(bucket.get_expiration())
        bucket.flush(self._add_timer_task_entry)


class _EndsNothingOfAnError(SurvivedAccumulator):
    """An accumulator that leaves the memory of a batch whose callback ends the thread."""

    def _end(self, batch: ProducerBatch, end: Callable[[], bool]) -> bool:
        return self._ended(batch, end())


class _TellsNobody(ReplicaManager):
    """A broker whose caller is not told what a callback has raised."""

    def append_records(self, **request: Any) -> None:
        with suppress(SystemExit):
            super().append_records(**request)


@pytest.mark.parametrize(
    "programs",
    [
        system_timer.faults_with(LosingTimer),
        system_timer.faults_with(_StrandsABucket),
        system_timer.faults_with(find_bug(TIMER_BUGS, "refused-task-lost").timer_class),
        purgatory.faults_with(find_bug(PURGATORY_BUGS, "left-at-error").purgatory_class),
        purgatory.faults_with(find_bug(PURGATORY_BUGS, "left-at-refusal").purgatory_class),
        # The pairs, which are small, come last.
        purgatory.faults_with(find_bug(PURGATORY_BUGS, "stop-at-error").purgatory_class)[::-1],
        replication.faults_with(find_bug(REPLICATION_BUGS, "unchecked-after-error").manager_class),
        replication.faults_with(_TellsNobody),
        buffer_pool.faults_with(find_bug(POOL_BUGS, "KAFKA-4840/no-refund").pool_class),
        accumulator.faults_with(_EndsNothingOfAnError),
        accumulator.faults_with(SurvivedCallbackEndsBatch),
    ],
    ids=[
        "loses",
        "strands",
        "both",
        "left-at-error",
        "refused",
        "walk",
        "unchecked",
        "told",
        "no-refund",
        "memory",
        "callback",
    ],
)
def test_what_does_not_survive_a_fault_is_found(programs: tuple[Program, ...]) -> None:
    options = Options(max_runs=_MANY_RUNS, shrink=False)
    assert any(explore(program, options).counterexample for program in programs)


def _cancels_on_an_inline_executor() -> Scenario:
    clock = ManualClock()
    timer = SystemTimer(
        "tested", tick_ms=1, wheel_size=2, start_ms=0, clock=clock, executor=InlineExecutor()
    )
    other = CallingTask(1, bool)
    timer.add(CallingTask(1, other.cancel))
    timer.add(other)
    clock.advance(1)
    return Scenario(
        threads={
            "advance": discarding(partial(timer.advance_clock, Millis(0))),
            "cancel": discarding(other.cancel),
        }
    )


def test_an_executor_that_runs_tasks_where_they_are_submitted_deadlocks() -> None:
    program = Program(name="inline", summary="", build=_cancels_on_an_inline_executor)
    assert "deadlock" in explore(program).summary()
