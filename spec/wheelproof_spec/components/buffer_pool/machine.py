"""Threads that allocate and deallocate memory, interrupt each other and close the pool.

The machine `buffer_pool` of `wheelproof fuzz`. The calls are recorded, and the history judge
decides whether the contract allows them. A thread gives back at once what it gets. After each
burst the available memory and the queue are read: no thread waits then. A new pool replaces a
closed one.
"""

from collections.abc import Callable
from functools import partial

from wheelproof.producer import BufferPool
from wheelproof_spec.base.calls import AvailableMemory, Close, Interrupt
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.judging import LinearizationSearch
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import (
    LONGEST_WAITING_FIRST,
    Allocate,
    Allocated,
    PoolConfig,
    Queued,
)
from wheelproof_spec.components.buffer_pool.history import RECORDED
from wheelproof_spec.components.buffer_pool.port import PoolPort, given_back
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.components.buffer_pool.work import BURSTS, Borrow, GiveBack
from wheelproof_spec.drive.work import AndCall, InterruptThread, Raise
from wheelproof_spec.fuzz.burst import Interruptions, raise_it, surviving
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.stage import Programs, RealThreads, Stage
from wheelproof_spec.fuzz.threaded_case import Burst
from wheelproof_spec.history.recording.load_recorder import RecordedPort

_TITLE = BUFFER_POOL.definition.title()


def run_threaded_pool_fuzz(pool_class: type[BufferPool], plan: FuzzPlan) -> FuzzReport:
    """Run bursts of threads on the pool of `pool_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "buffer pool, real threads",
        lambda case: PoolUnderTest(
            pool_class, case.setup, RealThreads(_TITLE, case.preemption()), keep=plan.keep
        ),
        setups_of(BURSTS),
        bursts_of(BURSTS),
        plan,
    )


class PoolUnderTest:
    """A pool whose threads record their calls."""

    def __init__(
        self,
        pool_class: type[BufferPool],
        setup: PoolConfig,
        stage: Stage,
        *,
        keep: Callable[[KeptHistory], object] | None = None,
        search: LinearizationSearch | None = None,
    ) -> None:
        self._keep = keep
        self._search = search
        self._pool_class = pool_class
        self._config = setup
        self._stage = stage
        self._kept: list[Allocated] = []
        """What was borrowed, and has not been given back."""
        self._then: dict[str, Call] = {}
        """What the allocator calls, the next time that a process allocates memory."""
        self._broken = False
        self._open()

    def programs(self, burst: Burst[Call]) -> Programs:
        """Return the calls of a burst."""
        self._interruptions = Interruptions()
        return [
            [(step, surviving(partial(self._call, step))) for step in program] for program in burst
        ]

    def run(self, burst: Burst[Call]) -> Violation | None:
        """Run one burst and return the violation of the history, if any."""
        programs = self.programs(burst)
        violation = self._bursts.judge(lambda: self._stage.run(programs), self._settle)
        if violation is None and self._closed:
            violation = self._bursts.finish()
            self._open()
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Return the violation at the end of the history, unless a burst has shown one."""
        return None if self._broken else self._bursts.finish()

    def _open(self) -> None:
        self._closed = False
        self._bursts = JudgedBursts(
            RECORDED,
            self._config,
            clock=self._stage.clock,
            process=self._stage.process,
            search=self._search,
            keep=self._keep,
        )
        recorder = self._bursts.recorder
        with self._stage.alone():
            port = PoolPort(
                self._config,
                self._pool_class,
                caller=recorder.process,
                allocating=self._call_back,
            )
        self._pool = RecordedPort(port, recorder)

    def _call(self, step: Call) -> None:
        recorder = self._bursts.recorder
        self._interruptions.join_in(recorder.process())
        match step:
            case Allocate():
                answer = self._pool.perform(step)
                if isinstance(answer, Allocated):
                    self._pool.perform(given_back(answer))
            case InterruptThread(victim=number):
                victim = self._interruptions.victim(number)
                recorder.do(Interrupt(name=victim.name), victim.interrupt)
            case Close():
                self._closed = True
                self._pool.perform(step)
            case Borrow(size=size):
                answer = self._pool.perform(Allocate(size=size, max_time_to_block_ms=0))
                if isinstance(answer, Allocated):
                    self._kept.append(answer)
            case AndCall(step=Allocate() as allocate, then=then):
                self._then[recorder.process()] = then
                self._call(allocate)
                self._then.pop(recorder.process(), None)
            case GiveBack(loan=loan):
                if self._kept:
                    self._pool.perform(given_back(self._kept.pop(loan % len(self._kept))))
            case AvailableMemory() | Queued():
                self._pool.perform(step)
            case Raise():
                raise_it()
            case _:
                raise AssertionError(step)

    def _call_back(self) -> None:
        """Make the call of the allocator, if this process has one."""
        then = self._then.pop(self._bursts.recorder.process(), None)
        if then is not None:
            self._call(then)

    def _settle(self) -> None:
        while self._kept:
            self._pool.perform(given_back(self._kept.pop()))
        self._pool.perform(AvailableMemory())
        self._pool.perform(Queued())


MACHINE = Machine(
    suite=BUFFER_POOL,
    profile=LONGEST_WAITING_FIRST,
    sound=BufferPool,
    port=ReferencePoolPort,
    parts={"real": (run_threaded_pool_fuzz,)},
)
