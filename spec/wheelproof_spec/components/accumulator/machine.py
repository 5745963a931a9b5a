"""Threads that append, flush, interrupt each other and close the accumulator, and a sender.

This is the machine `accumulator` of `wheelproof fuzz`. All calls are recorded, and the history
judge decides whether the answers are allowed. After each burst, when no call is under way, the
accumulator is asked for its memory, its incomplete batches and its flushes. A new accumulator
replaces one that was closed, by force or not, or that still has an incomplete batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from wheelproof import sync
from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.calls import AvailableMemory, Close, Interrupt
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Drain,
    DrainedBatch,
    Expire,
    Flush,
    FlushInProgress,
    HasIncomplete,
    Ready,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.clients import Clients
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.history import RECORDED
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.components.accumulator.work import (
    BURSTS,
    AccumulatorSetup,
    AppendRecord,
    CloseAll,
    FlushAll,
)
from wheelproof_spec.drive.work import AndCall, InterruptThread, Raise
from wheelproof_spec.fuzz.burst import Interruptions, raise_it, surviving
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst

_NODE = 0
_PARTITIONS = tuple(f"topic-{number}" for number in range(2))
_MAX_SIZE = 2**20
_READY = Ready(leaders=dict.fromkeys(_PARTITIONS, _NODE))
_DRAIN = Drain(node=_NODE, partitions=_PARTITIONS, max_size=_MAX_SIZE)
_TITLE = ACCUMULATOR.definition.title()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Leave(Call):
    """Tell the sender that this thread has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Serve(Call):
    """Act as the sender until all other threads have ended."""


def run_threaded_accumulator_fuzz(
    accumulator_class: type[RecordAccumulator], plan: FuzzPlan
) -> FuzzReport:
    """Run bursts of threads on the accumulator of `accumulator_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "accumulator, real threads",
        lambda case: AccumulatorUnderTest(
            accumulator_class, case.setup, RealThreads(_TITLE, case.preemption()), keep=plan.keep
        ),
        setups_of(BURSTS),
        bursts_of(BURSTS),
        plan,
    )


class AccumulatorUnderTest:
    """An accumulator whose threads record what they do."""

    def __init__(
        self,
        accumulator_class: type[RecordAccumulator],
        setup: AccumulatorSetup,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
    ) -> None:
        self._keep = keep
        self._search = search
        self._stage = stage
        self._split_one_in = setup.split_one_in
        self._answers = setup.answers
        self._asks_ready = setup.asks_ready
        self._config = replace(setup.config, callbacks="in_order", gives_back="at_once")
        self._accumulator_class = accumulator_class
        self._responses = 0
        self._broken = False
        self._open()

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of a burst, and those of the sender, who serves until all have ended."""
        self._interruptions = Interruptions()
        with self._stage.alone():
            self._news = _News(len(burst))
        programs: list[list[tuple[Call, Callable[[], None]]]] = [
            [
                *((step, surviving(partial(self._call, step))) for step in program),
                (_Leave(), self._news.leave),
            ]
            for program in burst
        ]
        return [*programs, [(_Serve(), self._serve)]]

    def run(self, burst: Burst[Call]) -> Violation | None:
        """Run one burst beside a sender, and return the violation in the history."""
        programs = self.programs(burst)
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._clients.read_gauges)
        if violation is None and (self._closed or self._clients.port.accumulator.has_incomplete()):
            violation = self._bursts.finish()
            self._open()
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Return the violation at the end of the history, unless a burst has shown one."""
        return None if self._broken else self._bursts.finish()

    def _open(self) -> None:
        self._closed = self._aborting = False
        self._bursts = JudgedBursts(
            RECORDED,
            self._config,
            clock=self._stage.clock,
            process=self._stage.process,
            search=self._search,
            keep=self._keep,
        )
        with self._stage.alone():
            self._clients = Clients(self._config, self._bursts.recorder, self._accumulator_class)

    def _call(self, step: Call) -> None:
        recorder = self._bursts.recorder
        self._interruptions.join_in(recorder.process())
        match step:
            case AppendRecord():
                self._append(step)
            case AndCall(step=AppendRecord() as append, then=then):
                self._append(append, partial(self._call, then))
            case AvailableMemory() | HasIncomplete() | FlushInProgress():
                self._clients.perform(step)
            case Raise():
                raise_it()
            case InterruptThread(victim=number):
                victim = self._interruptions.victim(number)
                recorder.do(Interrupt(name=victim.name), victim.interrupt)
            case FlushAll():
                self._clients.perform(Flush())
            case CloseAll(by_force=True):
                # The sender aborts.
                self._aborting = True
            case CloseAll():
                self._close()
            case _:
                raise AssertionError(step)
        self._news.spread()

    def _append(self, step: AppendRecord, then: Callable[[], object] | None = None) -> None:
        partition = _PARTITIONS[step.partition]
        self._clients.append(partition, step.size, step.max_time_to_block_ms, then)

    def _close(self) -> None:
        self._closed = True
        self._clients.perform(Close())

    def _serve(self) -> None:
        """Act as the sender until all other threads have ended and no batch is queued."""
        while self._news.wait():
            self._send()
        self._send()

    def _send(self) -> None:
        if self._aborting:
            self._aborting = False
            self._close()
            self._clients.perform(Abort())
        while self._clients.port.accumulator.has_undrained():
            for batch in self._drain():
                self._responses += 1
                if self._responses % self._split_one_in == 0 and len(batch.records) > 1:
                    self._clients.perform(Split(batch=batch.batch))
                else:
                    how = self._answers[(self._responses - 1) % len(self._answers)]
                    self._clients.answer(batch, how)
                if self._asks_ready:
                    self._clients.perform(Unmute(partition=batch.partition))

    def _drain(self) -> Sequence[DrainedBatch]:
        if not self._asks_ready:
            return self._clients.drain(_DRAIN)
        self._clients.perform(Expire())
        self._clients.is_ready(_READY, _NODE)
        return self._clients.drain_and_mute(_DRAIN)


class _News:
    """The signal that wakes the sender whenever a call has ended.

    An append waits for the memory of batches that other appends have queued. A flush waits for the
    batches of appends that have returned. So the sender is only needed after a call has ended.
    """

    def __init__(self, at_work: int) -> None:
        self._lock = sync.lock("news")
        self._changed = sync.condition(self._lock, "news.changed")
        self._at_work = at_work
        self._is_any = False

    def spread(self) -> None:
        """Record that a call has ended, and wake the sender."""
        with self._lock:
            self._is_any = True
            self._changed.notify()

    def leave(self) -> None:
        """Record that a thread has ended, and wake the sender."""
        with self._lock:
            self._at_work -= 1
            self._changed.notify()

    def wait(self) -> bool:
        """Wait until a call or every thread has ended; return whether a thread still runs."""
        with self._lock:
            while not self._is_any and self._at_work:
                self._changed.wait()
            self._is_any = False
            return self._at_work > 0


MACHINE = Machine(
    suite=ACCUMULATOR,
    profile=WHEELPROOF,
    sound=RecordAccumulator,
    port=ReferenceAccumulatorPort,
    parts={"real": (run_threaded_accumulator_fuzz,)},
)
