"""The buffer pool: allocations that wait, time out, are interrupted, fail, and a pool that closes.

A wait that says FOREVER has no time-out at all, so that a wake-up that is lost shows as a thread
that waits for ever; any other time-out may fire at any moment. TLA+: BufferPool.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from wheelproof import sync
from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    BufferExhaustedError,
    BufferPool,
    ByteBuffer,
    ProducerClosedError,
    WaitTimeSensor,
)
from wheelproof.producer.byte_buffer import allocate_stand_in
from wheelproof.producer.pooled_memory import PooledMemory
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.components.buffer_pool.bug_table import (
    BUGS,
)
from wheelproof_spec.engines.explore.program import (
    DEFAULT_SETTINGS,
    Action,
    PlainField,
    Program,
    Scenario,
    Settings,
    choose,
)
from wheelproof_spec.engines.explore.programs.making import program

FOREVER = MAX_MILLIS - 1_000
SOON = 10
_POOLABLE = 2


class PatientClock:
    """The runtime's clock; a wait until FOREVER ends by a notification alone."""

    def __init__(self) -> None:
        self._runtime = sync.current_runtime()

    def hi_res_clock_ms(self) -> Millis:
        """Return the time that this thread sees."""
        return self._runtime.monotonic_ms()

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait to be notified, and if it is not FOREVER, until the time is over."""
        del lock
        if deadline_ms >= FOREVER:
            condition.wait()
        else:
            condition.wait(Millis(deadline_ms - self.hi_res_clock_ms()))


class SensorError(Exception):
    """What the metric raises."""


class _FailingSensor:
    def record(self, waited_ms: Millis) -> None:
        """Raise, or not."""
        del waited_ms
        if choose(2):
            raise SensorError


_LEAVES = (
    BufferExhaustedError,
    ProducerClosedError,
    ThreadInterruptedError,
    MemoryError,
    SensorError,
)
"""How an allocation may end without a buffer."""


class PoolBench:
    """A pool, what is on loan at the beginning, and how it has to look in the end."""

    def __init__(
        self,
        pool_class: type[BufferPool],
        total: int,
        held: Sequence[int] = (),
        wait_time: WaitTimeSensor | None = None,
    ) -> None:
        self.failing = False
        self.pool = pool_class(
            total,
            _POOLABLE,
            clock=PatientClock(),
            allocator=self._allocate,
            wait_time=wait_time,
        )
        self._held = [self.pool.allocate(size, 0) for size in held]

    def use(self, size: int, timeout_ms: int = FOREVER) -> None:
        """Allocate and give back; the allocation may end without a buffer."""
        try:
            buffer = self.pool.allocate(size, timeout_ms)
        except _LEAVES:
            return
        self.pool.deallocate(buffer)

    def use_in_turn(self, size: int) -> None:
        """Allocate and give back; whoever waited before the call is served before it returns."""
        waiting = self.pool.queued()
        buffer = self.pool.allocate(size, FOREVER)
        still_waiting = self.pool.queued()
        self.pool.deallocate(buffer)
        assert still_waiting == 0 or waiting == 0, "went before a thread that had waited longer"

    def give_back(self, *numbers: int) -> None:
        """Give back what was on loan at the beginning; all of it without numbers."""
        for number in numbers or range(len(self._held)):
            self.pool.deallocate(self._held[number])

    def audit(self) -> None:
        """Raise unless the memory adds up at this moment (semantics.md 3.9)."""
        usage = self.pool.usage()
        found = usage.non_pooled + usage.pooled + usage.lent + usage.accumulated
        assert found == self.pool.total_memory, f"{usage} is not {self.pool.total_memory} bytes"

    def check(self) -> None:
        """Raise unless all memory is back and nobody waits."""
        self.audit()
        usage = self.pool.usage()
        assert usage.lent == 0, f"{usage.lent} bytes are still on loan"
        assert usage.waiting == 0, f"{usage.waiting} threads are in the queue, and all have ended"

    def _allocate(self, size: int) -> ByteBuffer:
        if self.failing and choose(2):
            raise MemoryError
        return allocate_stand_in(size)

    def scenario(self, threads: Mapping[str, Action]) -> Scenario:
        """Return the scenario of these threads."""
        return Scenario(threads=threads, check=self.check)


def contended(pool_class: type[BufferPool]) -> Scenario:
    """Two threads want the only pooled buffer, which a third one gives back."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))
    use = partial(bench.use, _POOLABLE)
    return bench.scenario({"first": use, "second": use, "holder": bench.give_back})


def handed_on(pool_class: type[BufferPool]) -> Scenario:
    """The memory for two waiting threads comes back at once: the first wakes the second."""
    bench = PoolBench(pool_class, 3, held=(3,))
    return bench.scenario(
        {
            "pooled": partial(bench.use, _POOLABLE),
            "small": partial(bench.use, 1),
            "holder": bench.give_back,
        }
    )


def accumulated(pool_class: type[BufferPool]) -> Scenario:
    """A large allocation gathers what two threads give back, one after the other."""
    bench = PoolBench(pool_class, 4, held=(_POOLABLE, 1))
    return bench.scenario(
        {
            "large": partial(bench.use, 4),
            "holder 1": partial(bench.give_back, 0),
            "holder 2": partial(bench.give_back, 1),
            "audit": bench.audit,
        }
    )


def timed_out(pool_class: type[BufferPool]) -> Scenario:
    """Of two waiting threads one may time out, while memory comes back: the other one is served."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))
    return bench.scenario(
        {
            "hurried": partial(bench.use, _POOLABLE, SOON),
            "patient": partial(bench.use, 1),
            "holder": bench.give_back,
        }
    )


def timed_out_with_a_part(pool_class: type[BufferPool]) -> Scenario:
    """A large allocation times out with a part of its memory, which goes to the next one."""
    bench = PoolBench(pool_class, 3, held=(1, 2))
    return Scenario(
        threads={
            "hurried": partial(bench.use, 3, SOON),
            "patient": partial(bench.use, 1),
            "holder": partial(bench.give_back, 0),
        },
        check=bench.audit,
    )


def interrupted(pool_class: type[BufferPool]) -> Scenario:
    """Of two waiting threads one is interrupted, while memory comes back."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))
    victim = sync.thread(partial(bench.use, _POOLABLE), "victim")

    def interrupt() -> None:
        victim.start()
        victim.interrupt()

    return bench.scenario(
        {
            "interrupter": interrupt,
            "patient": partial(bench.use, 1),
            "holder": bench.give_back,
        }
    )


def closed(pool_class: type[BufferPool]) -> Scenario:
    """The pool is closed while two threads wait, or are about to: all of them return."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))
    return Scenario(
        threads={
            "pooled": partial(bench.use, _POOLABLE),
            "small": partial(bench.use, 1),
            "closer": bench.pool.close,
        },
        check=bench.audit,
    )


def closed_while_given_back(pool_class: type[BufferPool]) -> Scenario:
    """The pool is closed while memory comes back and a thread waits for it."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))
    return bench.scenario(
        {
            "hurried": partial(bench.use, 1, SOON),
            "holder": bench.give_back,
            "closer": bench.pool.close,
        }
    )


def failing(pool_class: type[BufferPool]) -> Scenario:
    """The memory of a reservation may not be had: it goes to the thread that waits."""
    bench = PoolBench(pool_class, 3)
    bench.failing = True
    return bench.scenario(
        {"large": partial(bench.use, 3), "small": partial(bench.use, 1), "audit": bench.audit}
    )


def failing_after_a_wait(pool_class: type[BufferPool]) -> Scenario:
    """The same after a wait, with a time-out beside it."""
    bench = PoolBench(pool_class, 3, held=(3,))
    bench.failing = True
    return bench.scenario(
        {
            "large": partial(bench.use, 3),
            "small": partial(bench.use, 1, SOON),
            "holder": bench.give_back,
        }
    )


def metric_fails(pool_class: type[BufferPool]) -> Scenario:
    """The metric of a wait may raise, while memory comes back: the other thread is served."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,), wait_time=_FailingSensor())
    return bench.scenario(
        {
            "pooled": partial(bench.use, _POOLABLE),
            "small": partial(bench.use, 1),
            "holder": bench.give_back,
        }
    )


def in_turn(pool_class: type[BufferPool]) -> Scenario:
    """A thread waits for all there is, comes back bit by bit; a newcomer wants little."""
    bench = PoolBench(pool_class, 2, held=(1, 1))
    return bench.scenario(
        {
            "large": partial(bench.use, 2),
            "newcomer": partial(bench.use_in_turn, 1),
            "holder": bench.give_back,
        }
    )


def four_threads(pool_class: type[BufferPool]) -> Scenario:
    """Three sizes and a pool that one buffer fills, with a time-out."""
    bench = PoolBench(pool_class, 2, held=(2,))
    return bench.scenario(
        {
            "hurried": partial(bench.use, 2, SOON),
            "pooled": partial(bench.use, _POOLABLE),
            "small": partial(bench.use, 1),
            "holder": bench.give_back,
        }
    )


def given_back_twice(pool_class: type[BufferPool]) -> Scenario:
    """Two threads give back the same buffer: one of them is refused."""
    bench = PoolBench(pool_class, _POOLABLE, held=(_POOLABLE,))

    def give_back() -> None:
        try:
            bench.give_back()
        except ValueError:
            return

    return bench.scenario({"one": give_back, "other": give_back})


PoolScenario = Callable[[type[BufferPool]], Scenario]

_BUILDERS: Mapping[str, PoolScenario] = {
    "pool-contended": contended,
    "pool-handed-on": handed_on,
    "pool-accumulated": accumulated,
    "pool-timed-out": timed_out,
    "pool-timed-out-with-a-part": timed_out_with_a_part,
    "pool-interrupted": interrupted,
    "pool-closed": closed,
    "pool-closed-while-given-back": closed_while_given_back,
    "pool-failing": failing,
    "pool-failing-after-a-wait": failing_after_a_wait,
    "pool-metric-fails": metric_fails,
    "pool-in-turn": in_turn,
    "pool-spurious": in_turn,
    "pool-given-back-twice": given_back_twice,
    "pool-four-threads": four_threads,
}

_SETTINGS: Mapping[str, Settings] = {"pool-spurious": Settings(spurious_wakeups=1)}

_BUGS: Mapping[str, str] = {
    "KAFKA-3651": "pool-timed-out",
    "KAFKA-4840/no-give-back": "pool-timed-out-with-a-part",
    "KAFKA-4840/no-hand-on": "pool-interrupted",
    "KAFKA-4840/no-refund": "pool-failing",
    "barging": "pool-in-turn",
    "anyone-takes": "pool-spurious",
    "given-back-twice": "pool-given-back-twice",
}
"""The scenario that shows each bug that the checker finds."""

_GUARDED = (
    PlainField(owner=PooledMemory, name="_non_pooled_available_memory"),
    PlainField(owner=BufferPool, name="_closed"),
)
"""What the pool's lock guards and can be replaced."""


def _program(name: str, scenario: str, pool_class: type[BufferPool]) -> Program:
    return program(
        name,
        partial(_BUILDERS[scenario], pool_class),
        _SETTINGS.get(scenario, DEFAULT_SETTINGS),
        _GUARDED,
    )


PROGRAMS: tuple[Program, ...] = tuple(
    _program(scenario, scenario, BufferPool) for scenario in _BUILDERS
)
FAILING: tuple[Program, ...] = tuple(
    _program(f"bug/{bug}", scenario, find_bug(BUGS, bug).pool_class)
    for bug, scenario in _BUGS.items()
)
