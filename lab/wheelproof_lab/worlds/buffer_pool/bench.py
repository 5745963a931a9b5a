"""The buffer pool: allocations that wait, time out, are interrupted, fail, and a pool that closes.

A wait of FOREVER has no time-out, so a lost wake-up shows as a thread that waits for ever.
Any other time-out may fire at any moment. TLA+: BufferPool.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from wheelproof import sync
from wheelproof.errors import IllegalArgumentError
from wheelproof.producer import (
    BufferOverflowError,
    BufferPool,
    ByteBuffer,
    ForeignBufferError,
    IllegalStateError,
    ProducerClosedError,
    WaitTime,
    WaitTimeSensor,
)
from wheelproof.producer.byte_buffer import allocate_byte_buffer
from wheelproof.units import MAX_MILLIS, Millis
from wheelproof_explore.program import Faults, choose
from wheelproof_lab.worlds.tables import WRONG_NUMBERS, Bench
from wheelproof_lab.worlds.timer.system_timer import StandingClock
from wheelproof_spec.components.buffer_pool.port import ENDS, MetricError

FOREVER = MAX_MILLIS - 1_000
_POOLABLE = 2
_NS_OF_MS = 1_000_000


class PatientClock:
    """The runtime's clock; a wait until FOREVER ends only by a notification."""

    def __init__(self) -> None:
        self._runtime = sync.current_runtime()

    def hi_res_clock_ms(self) -> Millis:
        """Return the time that this thread sees."""
        return self._runtime.monotonic_ms()

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """Wait for a notification, or until the deadline if it is not FOREVER."""
        del lock
        if deadline_ms >= FOREVER:
            condition.wait()
        else:
            condition.wait(Millis(deadline_ms - self.hi_res_clock_ms()))


class FailingSensor:
    """A metric that may raise."""

    def record(self, waited_ns: int) -> None:
        """Raise MetricError or not: the explorer tries both."""
        del waited_ns
        if choose(2):
            raise MetricError


class FaultySensor:
    """A metric that raises now and then."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def record(self, waited_ns: int) -> None:
        """Return, or raise MetricError."""
        del waited_ns
        self._faults.may_fail("record", MetricError)


_FAULTS = (MemoryError, MetricError)


class PoolBench(Bench):
    """A pool, its loans at the beginning, and the checks of its final state."""

    def __init__(
        self,
        pool_class: type[BufferPool],
        total: int,
        held: Sequence[int] = (),
        wait_time: WaitTimeSensor | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.failing = False
        self._faults = faults
        super().__init__()
        self.pool = pool_class(
            total,
            _POOLABLE,
            clock=PatientClock(),
            allocator=self._allocate,
            wait_time=wait_time,
        )
        self._wait_time = wait_time
        # Not of the poolable size, so it is not lent again: it is refused for good.
        self._ended = self.pool.allocate(1, 0)
        self.pool.deallocate(self._ended)
        self.held = [self.pool.allocate(size, 0) for size in held]

    def use(self, size: int, timeout_ms: int = FOREVER) -> None:
        """Allocate, fill and give back; the allocation may end without a buffer."""
        try:
            buffer = self.pool.allocate(size, timeout_ms)
        except tuple(ENDS):
            return
        assert not buffer.position, f"a buffer with {buffer.position} bytes in it was lent"
        assert buffer.capacity == size, f"{buffer.capacity} bytes were lent in the place of {size}"
        buffer.put(bytes(size))
        self.refuses(BufferOverflowError, partial(buffer.put, b"+"))
        self.pool.deallocate(buffer)

    def use_in_turn(self, size: int) -> None:
        """Allocate and give back; threads that waited before are served before allocate returns."""
        waiting = self.pool.queued()
        try:
            buffer = self.pool.allocate(size, FOREVER)
        except _FAULTS:
            return
        still_waiting = self.pool.queued()
        self.pool.deallocate(buffer)
        assert still_waiting == 0 or waiting == 0, "went before a thread that had waited longer"

    def give_back(self, *numbers: int) -> None:
        """Give back these loans of the beginning; all of them without numbers."""
        for number in numbers or range(len(self.held)):
            self.pool.deallocate(self.held[number])

    def give_back_or_be_refused(self) -> None:
        """Give all loans back; the pool refuses if they were given back already."""
        try:
            self.give_back()
        except ValueError:
            return

    def look(self) -> None:
        """Raise unless each gauge lies within its bounds, and the memory adds up."""
        for memory in (self.pool.available_memory(), self.pool.unallocated_memory()):
            assert 0 <= memory <= self.pool.total_memory, f"{memory} bytes"
        assert 0 <= self.pool.queued() <= 2, "more wait than there are threads"
        if isinstance(self._wait_time, WaitTime):
            assert self._wait_time.total_ns() >= 0, "a wait that is shorter than nothing"
            assert self._wait_time.ratio() >= 0, "a share that is less than nothing"
        self.audit()

    def forget_waits(self) -> None:
        """Raise unless a window of the metric lasts 30 s, and a wait counts for 60 s."""
        if not isinstance(self._wait_time, WaitTime):
            return
        for passed_ms, counts in ((59_999, True), (60_000, False)):
            clock = StandingClock()
            waits = type(self._wait_time)(clock)
            waits.record(1)
            clock.now_ms = Millis(passed_ms)
            assert (waits.ratio() > 0) is counts, f"counted after {passed_ms} ms: {not counts}"
        # Of 1 ns and then 2 ns both count in one window, and in two the second one alone.
        for ended_ms, waited_ns, window_ms in ((29_999, 3, 60_000), (30_000, 2, 30_000)):
            clock = StandingClock()
            waits = type(self._wait_time)(clock)
            waits.record(1)
            clock.now_ms = Millis(ended_ms)
            waits.record(2)
            clock.now_ms = Millis(60_000)
            expected = waited_ns / (window_ms * _NS_OF_MS)
            assert waits.ratio() == expected, f"a wait after {ended_ms} ms: {waits.ratio()}"

    def audit(self) -> None:
        """Raise unless the memory adds up at this moment (standard 3.9)."""
        self.pool.usage().check(self.pool.total_memory)

    def misuse(self) -> None:
        """Raise unless wrong numbers, other pools' buffers and those given back are refused."""
        for wrong in WRONG_NUMBERS:
            for call in (self.pool.allocate, BufferPool):
                calls = partial(call, wrong, 1), partial(call, 1, wrong)
                self.refuses(IllegalArgumentError, *calls)
        more = partial(self.pool.allocate, self.pool.total_memory + 1, 0)
        self.refuses(IllegalArgumentError, more, partial(BufferPool, 1, 0))
        another = BufferPool(_POOLABLE, _POOLABLE, clock=PatientClock())
        wrong_ones = another.allocate(_POOLABLE, 0), self._ended
        refused = (partial(self.pool.deallocate, one) for one in wrong_ones)
        self.refuses(ForeignBufferError, *refused)
        # No buffer is none to refuse (standard 3.7).
        self.pool.deallocate(None)

    def state(self) -> object:
        """Return where the memory is."""
        return self.pool.usage()

    def check(self) -> None:
        """Raise unless all memory is back, no thread waits, and misuse is refused."""
        self.audit()
        self.misuse_alone()
        usage = self.pool.usage()
        assert usage.lent == 0, f"{usage.lent} bytes are still on loan"
        assert usage.waiting == 0, f"{usage.waiting} threads are in the queue, and all have ended"
        # The audit itself sees a byte that is made, and one that a negative part makes up for.
        made, hidden = replace(usage, lent=1), replace(usage, lent=-1, accumulated=1)
        for unsound in (made, hidden):
            self.refuses(IllegalStateError, partial(unsound.check, self.pool.total_memory))

    def _allocate(self, size: int) -> ByteBuffer:
        if self.failing and choose(2):
            raise MemoryError
        if self._faults is not None:
            self._faults.may_fail("allocate", MemoryError)
        return allocate_byte_buffer(size)

    def close(self) -> None:
        """Close the pool; raise unless it lends nothing afterwards."""
        self.pool.close()
        self.refuses(ProducerClosedError, partial(self.pool.allocate, 0, 0))
