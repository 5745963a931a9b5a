"""The threaded machine of the buffer pool: threads that take memory and give it back.

After each burst all memory is there again and nobody waits; meanwhile no more is lent than there
is, and nobody who waits long enough goes away with nothing (semantics.md 3.9). Threads interrupt
each other and close the pool: the next burst has a new one.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import strategies as st

from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    BufferExhaustedError,
    BufferPool,
    ByteBuffer,
    ProducerClosedError,
)
from wheelproof.producer.byte_buffer import allocate_stand_in
from wheelproof.sync import use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_spec.base.fuzz_report import FuzzReport
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.buffer_pool.oracle import PoolClause
from wheelproof_spec.engines.fuzz.burst import BurstError, run_burst
from wheelproof_spec.engines.fuzz.bursts import run_burst_fuzz
from wheelproof_spec.engines.fuzz.interruptions import Interruptions
from wheelproof_spec.engines.fuzz.threaded_case import Burst, Setup, ThreadedCase
from wheelproof_spec.engines.runtimes.hooks import InstrumentedRuntime

_PATIENCE_MS = 15_000
"""Far longer than a burst takes: who waits this long waits in vain."""


def run_threaded_pool_fuzz(
    pool_class: type[BufferPool],
    *,
    cases: int,
    seed: int,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz buffer_pool --threads real --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run bursts of threads on `pool_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "buffer pool, real threads",
        partial(PoolUnderTest, pool_class),
        _setups(),
        _calls(),
        cases=cases,
        seed=seed,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
    )


class PoolUnderTest:
    """A pool, and what its threads hold of it."""

    def __init__(self, pool_class: type[BufferPool], case: ThreadedCase) -> None:
        setup = dict(case.setup)
        self._total = setup["total_memory"]
        self._lock = threading.Lock()
        self._held = 0
        self._failing = threading.local()
        self._violation: Violation | None = None
        self._interruptions = Interruptions()
        self._make = partial(
            pool_class, self._total, setup["poolable_size"], allocator=self._allocate
        )
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        self._open()

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and judge what was seen."""
        self._interruptions = Interruptions()
        if self._closing:
            self._open()
        try:
            run_burst([[partial(self._call, words) for words in program] for program in burst])
        except BurstError as error:
            return replace(error.violation, rule=PoolClause.NO_LOST_WAKE_UP)
        return self._violation or self._leftover()

    def _open(self) -> None:
        self._closing = self._closed = False
        with use_runtime(self._runtime):
            self._pool = self._make()

    def _call(self, words: str) -> None:
        self._interruptions.join_in()
        match words.split(" "):
            case ["interrupt", number]:
                self._interruptions.interrupt(int(number))
            case ["close"]:
                self._closing = True
                self._pool.close()
                self._closed = True
            case [verb, size, timeout]:
                self._use(verb, int(size) % (self._total + 1), timeout, words)
            case _:
                raise AssertionError(words)

    def _use(self, verb: str, size: int, timeout: str, words: str) -> None:
        closed_before = self._closed
        self._failing.now = verb == "fail"
        timeout_ms = _PATIENCE_MS if timeout == "patiently" else 0 if timeout == "never" else 1
        try:
            buffer = self._pool.allocate(size, timeout_ms)
        except MemoryError:
            return
        except BufferExhaustedError:
            if timeout_ms == _PATIENCE_MS:
                self._note(PoolClause.NO_LOST_WAKE_UP, f"{words}: nothing came")
            return
        except ProducerClosedError:
            if not self._closing:
                self._note(PoolClause.ENDS_FOR_A_REASON, f"{words}: closed, but nobody closes")
            return
        except ThreadInterruptedError:
            if not self._interruptions.allow():
                self._note(PoolClause.ENDS_FOR_A_REASON, f"{words}: nobody interrupted it")
            return
        if closed_before:
            self._note(PoolClause.CLOSE_RELEASES, f"{words}: served by a pool that was closed")
        self._hold(size, words)
        self._hold(-size, words)
        self._pool.deallocate(buffer)

    def _hold(self, size: int, words: str) -> None:
        with self._lock:
            self._held += size
            if self._held > self._total:
                self._note(PoolClause.NO_MORE_THAN_TOTAL, f"{words}: {self._held} bytes are lent")

    def _allocate(self, size: int) -> ByteBuffer:
        if self._failing.now:
            raise MemoryError
        return allocate_stand_in(size)

    def _leftover(self) -> Violation | None:
        usage = self._pool.usage()
        if usage.waiting == 0 and usage.non_pooled + usage.pooled == self._total:
            return None
        self._note(PoolClause.MEMORY_IS_CONSERVED, str(usage))
        return self._violation

    def _note(self, clause: PoolClause, observed: str) -> None:
        self._violation = Violation(
            rule=clause,
            expected=f"{self._total} bytes for threads that give back what they take",
            observed=observed,
            reason="a burst of threads has shown it",
        )


_QUIET = ("use 1 hastily",) * 3
"""What stands where a close could: it is rare, since nothing happens in the burst after it."""


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
