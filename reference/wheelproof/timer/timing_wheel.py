"""A hierarchical timing wheel.

A wheel of n buckets holds what expires within n ticks. What lies further ahead goes to an overflow
wheel, whose tick is this wheel's whole interval, and so on upwards; as time passes, entries come
down again, to where time is told more finely. Adding and cancelling cost the same however many
timers there are.

G. Varghese and T. Lauck, "Hashed and Hierarchical Timing Wheels", SOSP 1987; as Kafka uses it: a
delay queue of buckets drives the clock, so that an empty bucket costs nothing.

    >>> from wheelproof import sync
    >>> from wheelproof.clock import ManualClock
    >>> from wheelproof.timer.delay_queue import DelayQueue
    >>> from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
    >>> from wheelproof.timer.timing_wheel import TimingWheel
    >>> class Say(TimerTask):
    ...     def run(self) -> None:
    ...         print("expired")
    >>> def entry(expiration_ms: int) -> TimerTaskEntry:
    ...     task = Say(expiration_ms)
    ...     made = TimerTaskEntry(task, expiration_ms)
    ...     task.set_timer_task_entry(made)
    ...     return made
    >>> queue = DelayQueue(ManualClock())
    >>> tasks = sync.atomic_integer(0, "tasks")
    >>> wheel = TimingWheel(tick_ms=1, wheel_size=20, start_ms=0, task_counter=tasks, queue=queue)
    >>> wheel.add(entry(0)), wheel.add(entry(5))
    (False, True)
    >>> wheel.overflow_wheel is None
    True
    >>> wheel.add(entry(300))
    True
    >>> wheel.overflow_wheel is None
    False

Invariants:

- A bucket holds one tick at a time: entries of one virtual id (standard 1.3).
- The clock of a wheel is a multiple of its tick, and that of the wheel above agrees with it.
- A bucket that holds an entry is queued with its expiration, once whoever added it is done.
"""

from typing import Annotated, ClassVar, Self

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.sync import AtomicInteger, GuardedBy, Volatile
from wheelproof.timer.arithmetic import (
    advanced_clock,
    already_expired,
    bucket_index,
    truncate_to_tick,
    virtual_id,
    wheel_interval,
    within_interval,
)
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.timer.timer_task import TimerTaskEntry
from wheelproof.timer.timer_task_list import TimerTaskList
from wheelproof.units import MAX_MILLIS, Millis

_LONGEST_TICK_MS = 2 * MAX_MILLIS
"""No expiration lies further ahead of a wheel's clock, so no overflow wheel has a longer tick."""


class TimingWheel:
    """One level of the hierarchy; level 0 is the one that a timer owns.

    The wheel's owner calls `add` under the read side of its read-write lock and `advance_clock`
    under the write side (standard 1.2, 1.5).
    """

    __slots__ = (
        "_buckets",
        "_current_time_ms",
        "_monitor",
        "_overflow_wheel",
        "_queue",
        "_task_counter",
        "interval_ms",
        "tick_ms",
        "wheel_size",
    )

    _bucket_class: ClassVar[type[TimerTaskList]] = TimerTaskList
    _fewest_buckets: ClassVar[int] = 2
    # A multiple of `tick_ms`. The wheel holds what expires within `interval_ms` of it.
    _current_time_ms: Annotated[int, GuardedBy("the owner's read-write lock")]
    # Bucket i holds the tick whose number is i modulo the size: one at a time (standard 1.3).
    _buckets: Annotated[dict[int, TimerTaskList], GuardedBy("a step of the interpreter")]

    def __init__(
        self,
        *,
        tick_ms: int,
        wheel_size: int,
        start_ms: int,
        task_counter: AtomicInteger,
        queue: DelayQueue,
    ) -> None:
        """Make a wheel whose clock stands at `start_ms` milliseconds, truncated to the tick.

        Raises IllegalArgumentError if the tick or the size is below 1 or the start outside the
        domain.
        """
        require_integer("tick_ms", tick_ms, 1, _LONGEST_TICK_MS)
        require_integer("wheel_size", wheel_size, 1)
        require_integer("start_ms", start_ms, 0)
        self.tick_ms = Millis(tick_ms)
        # Kafka: as many buckets as were asked for.
        # Here:  two at least.
        # Why:   one bucket spans the tick that has begun and holds nothing, on any level: an add
        #        makes wheels without end (finding 6).
        self.wheel_size = max(wheel_size, self._fewest_buckets)
        self.interval_ms = Millis(wheel_interval(tick_ms, self.wheel_size))
        self._current_time_ms = truncate_to_tick(start_ms, tick_ms)
        self._task_counter = task_counter
        self._queue = queue
        # Made when they are first needed: what lies far ahead makes many wheels and one bucket.
        self._buckets = {}
        self._monitor = sync.monitor("TimingWheel.monitor")
        self._overflow_wheel: Volatile[TimingWheel | None] = sync.volatile(
            None, "TimingWheel.overflow_wheel"
        )

    @property
    def current_time_ms(self) -> Millis:
        """The wheel's clock in milliseconds, behind real time when idle (standard 1.7)."""
        return Millis(self._current_time_ms)

    @property
    def overflow_wheel(self) -> "TimingWheel | None":
        """The wheel above, if anything has ever lain beyond this one."""
        return self._overflow_wheel.get()

    def add(self, entry: TimerTaskEntry) -> bool:
        """Put `entry` into the bucket of its expiration (standard 1.3).

        Returns False if it was cancelled or if the wheel's clock has reached its tick.
        TLA+: operator `Insert` of TimingWheel.
        """
        expiration_ms = entry.expiration_ms
        if self._is_cancelled(entry):
            return False
        # expiration_ms < current_time_ms + tick_ms: its tick has begun.
        if already_expired(expiration_ms, self._current_time_ms, self.tick_ms):
            return False
        # expiration_ms >= current_time_ms + interval_ms: beyond this wheel.
        if not within_interval(expiration_ms, self._current_time_ms, self.interval_ms):
            return self._get_or_create_overflow_wheel().add(entry)
        self._put(entry, virtual_id(expiration_ms, self.tick_ms))
        return True

    def advance_clock(self, time_ms: int) -> None:
        """Move the clock to `time_ms`, truncated to the tick, here and above (standard 1.4).

        No effect unless at least one tick has passed. TLA+: AdvanceClock of TimingWheel.
        """
        before_ms = self._current_time_ms
        current_time_ms = advanced_clock(before_ms, time_ms, self.tick_ms)
        if current_time_ms == before_ms:
            return
        self._current_time_ms = current_time_ms
        try:
            overflow_wheel = self._overflow_wheel.get()
            if overflow_wheel is not None:
                overflow_wheel.advance_clock(Millis(current_time_ms))
        except BaseException:
            # A signal: the next advance begins here again. A wheel above that stayed behind would
            # put what comes down back into the same bucket.
            self._current_time_ms = before_ms
            raise

    def _is_cancelled(self, entry: TimerTaskEntry) -> bool:
        """Tell what to leave out."""
        return entry.cancelled()

    def _put(self, entry: TimerTaskEntry, number: int) -> None:
        # number % wheel_size
        bucket = self._bucket(bucket_index(number, self.wheel_size))
        expiration_ms = Millis(number * self.tick_ms)
        try:
            bucket.add(entry)
            # Only the first entry of a round offers the bucket: its key changes once a round.
            if bucket.set_expiration(expiration_ms):
                self._queue.offer(bucket)
        except BaseException:
            # The entry may be in, and others that rely on this offer.
            bucket.set_expiration(expiration_ms)
            self._queue.offer_unless_queued(bucket)
            raise

    def _bucket(self, index: int) -> TimerTaskList:
        """Return a bucket, made here if there is none; of two adders that make it, one prevails.

        No lock: both operations of the dictionary are one step of the interpreter.
        """
        bucket = self._buckets.get(index)
        if bucket is None:
            bucket = self._buckets.setdefault(index, self._bucket_class(self._task_counter))
        return bucket

    def _get_or_create_overflow_wheel(self) -> "TimingWheel":
        """Return the wheel above.

        TLA+: Read, Lock, ReadAgain, Make, Publish and Unlock of OverflowWheel.
        """
        overflow_wheel = self._overflow_wheel.get()
        if overflow_wheel is not None:
            return overflow_wheel
        with self._monitor:
            overflow_wheel = self._overflow_wheel.get()
            if overflow_wheel is None:
                # Published whole: readers take no lock (KAFKA-2112).
                overflow_wheel = self._new_overflow_wheel()
                self._overflow_wheel.set(overflow_wheel)
            return overflow_wheel

    def _new_overflow_wheel(self) -> Self:
        return type(self)(
            tick_ms=self.interval_ms,
            wheel_size=self.wheel_size,
            start_ms=self._current_time_ms,
            task_counter=self._task_counter,
            queue=self._queue,
        )
