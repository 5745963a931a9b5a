"""Threads that allocate and deallocate memory, interrupt each other and close the pool.

The machine `buffer_pool` of `wheelproof fuzz`. The calls are recorded, and the history judge
decides whether the contract allows them. After each burst the available memory and the queue are
read: no thread waits then. A new pool replaces a closed one.
"""

import threading
from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st

from wheelproof.producer import BufferPool, ByteBuffer, WaitTime
from wheelproof.producer.byte_buffer import allocate_stand_in
from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_spec.base.calls import Interrupt
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import LONGEST_WAITING_FIRST, PoolConfig
from wheelproof_spec.components.buffer_pool.history import RECORDED
from wheelproof_spec.components.buffer_pool.recording.calls import RecordedPool
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime
from wheelproof_spec.fuzz.interruptions import Interruptions
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.threaded_case import Burst, Setup, ThreadedCase

_TIMEOUTS_MS = {"patiently": 600_000, "hastily": 1, "never": 0}
"""A patient call waits longer than a burst may take: if it gets no memory, the burst is stuck."""


def run_threaded_pool_fuzz(pool_class: type[BufferPool], plan: FuzzPlan) -> FuzzReport:
    """Run bursts of threads on the pool of `pool_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "buffer pool, real threads",
        partial(PoolUnderTest, pool_class, keep=plan.keep),
        _setups(),
        bursts_of(_calls()),
        plan,
    )


class PoolUnderTest:
    """A pool whose threads record their calls."""

    def __init__(
        self,
        pool_class: type[BufferPool],
        case: ThreadedCase,
        *,
        keep: Callable[[KeptHistory], object] | None,
    ) -> None:
        self._keep = keep
        self._pool_class = pool_class
        self._config = PoolConfig(**dict(case.setup))
        self._failing = threading.local()
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        self._open()

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and return the violation of the history, if any."""
        self._interruptions = Interruptions()
        programs = [[partial(self._call, words) for words in program] for program in burst]
        violation = self._bursts.run(programs, self._calls.look)
        if violation is None and self._closed:
            violation = self._bursts.finish()
            self._open()
        return violation

    def _open(self) -> None:
        self._closed = False
        self._bursts = JudgedBursts(RECORDED, self._config, keep=self._keep)
        with use_runtime(self._runtime):
            pool = self._pool_class(
                self._config.total_memory,
                self._config.poolable_size,
                allocator=self._allocate,
                wait_time=WaitTime(),
            )
        # Named by the object: a buffer that two threads have at the same time has one name.
        recorder = self._bursts.recorder
        self._calls = RecordedPool(pool, recorder, lambda buffer: f"b{id(buffer)}")

    def _call(self, words: str) -> None:
        recorder = self._bursts.recorder
        self._interruptions.join_in(recorder.process())
        match words.split(" "):
            case ["interrupt", number]:
                victim = self._interruptions.victim(int(number))
                recorder.do(Interrupt(name=victim.name), victim.interrupt)
            case ["close"]:
                self._closed = True
                self._calls.close()
            case [verb, size, timeout]:
                self._use(verb, int(size) % (self._config.total_memory + 1), timeout)
            case _:
                raise AssertionError(words)

    def _use(self, verb: str, size: int, timeout: str) -> None:
        self._failing.now = verb == "fail"
        buffer = self._calls.allocate(size, _TIMEOUTS_MS[timeout])
        if buffer is not None:
            self._calls.deallocate(buffer)

    def _allocate(self, size: int) -> ByteBuffer:
        if self._failing.now:
            raise MemoryError
        return allocate_stand_in(size)


_QUIET = ("use 1 hastily",) * 3
"""The alternatives to a close, which is rare, since nothing happens after it in its burst."""


def _setups() -> st.SearchStrategy[Setup]:
    return st.builds(_setup, st.sampled_from((1, 2, 16)), st.integers(1, 3), st.integers(0, 1))


def _setup(poolable: int, buffers: int, rest: int) -> Setup:
    return ("total_memory", poolable * buffers + rest), ("poolable_size", poolable)


def _calls() -> st.SearchStrategy[str]:
    uses = st.builds(
        "{} {} {}".format,
        st.sampled_from(("use", "use", "use", "fail")),
        st.sampled_from((1, 2, 16, 16, 32, 47)),
        st.sampled_from(("patiently", "patiently", "hastily", "never")),
    )
    interruptions = st.builds("interrupt {}".format, st.integers(0, 3))
    return st.one_of(*[uses] * 6, interruptions, st.sampled_from(("close", *_QUIET)))


MACHINE = Machine(
    suite=BUFFER_POOL,
    profile=LONGEST_WAITING_FIRST,
    sound=BufferPool,
    port=ReferencePoolPort,
    parts={"real": (run_threaded_pool_fuzz,)},
)
