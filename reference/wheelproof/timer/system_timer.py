"""The timer of the broker: a hierarchy of wheels, a delay queue, an executor with one thread.

A broker has a timer for every request that waits, and cancels nearly all of them. So adding and
cancelling have to be cheap, and may be done by many threads at once; expiry is one thread's work.

>>> from wheelproof.clock import ManualClock
>>> from wheelproof.sync import DeferredExecutor
>>> from wheelproof.timer import SystemTimer, TimerTask
>>> class Say(TimerTask):
...     def run(self) -> None:
...         print("expired")
>>> clock, executor = ManualClock(), DeferredExecutor()
>>> timer = SystemTimer("example", clock=clock, executor=executor)
>>> timer.add(Say(100))
>>> timer
SystemTimer('example', tick_ms=1, wheel_size=20, size=1)
>>> clock.advance(100)
>>> timer.advance_clock(0)
True
>>> executor.run_pending()
expired
1
>>> timer.size()
0

Invariants:

- A task that was added and not cancelled is in one bucket, or was submitted once.
- A bucket that holds something is queued, or an adder that holds the read side is about to offer
  it.
- The wheel's clock is not ahead of time, nor behind what an advance that has returned has expired.
"""

from typing import Annotated, ClassVar

from wheelproof import sync
from wheelproof.clock import Clock, SystemClock
from wheelproof.domain import require_integer
from wheelproof.errors import TimerClosedError
from wheelproof.sync import Executor, GuardedBy
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.timer.timer import Timer
from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
from wheelproof.timer.timer_task_list import IDLE, TimerTaskList
from wheelproof.timer.timing_wheel import TimingWheel
from wheelproof.units import Millis

DEFAULT_TICK_MS = 1
DEFAULT_WHEEL_SIZE = 20
EXECUTOR_TERMINATION_MS = Millis(5_000)


class SystemTimer(Timer):
    """A timer whose adds and cancels cost the same however many tasks wait.

    Adders share the read side of a lock and run concurrently; an advance takes the write side
    (standard 1.2, 1.5). Between `add` and the run of a task lie, in this order: its bucket, the
    delay queue, `advance_clock`, the executor.

    Lock order: read-write lock, task, upper bucket, lower bucket, entry (standard 1.15).
    TLA+: SystemTimer.
    """

    _timing_wheel_class: ClassVar[type[TimingWheel]] = TimingWheel
    _delay_queue_class: ClassVar[type[DelayQueue]] = DelayQueue

    def __init__(
        self,
        executor_name: str,
        *,
        tick_ms: int = DEFAULT_TICK_MS,
        wheel_size: int = DEFAULT_WHEEL_SIZE,
        start_ms: int | None = None,
        clock: Clock | None = None,
        executor: Executor | None = None,
    ) -> None:
        """Make a timer with an empty wheel.

        `tick_ms` is the resolution in milliseconds and `wheel_size` the number of buckets a level;
        `start_ms` is where the wheel's clock begins, now by default. `clock` is the system's and
        `executor` one with a single thread by default.

        Raises IllegalArgumentError for a tick or size below 1, and for a start below 0 or in the
        future, where tasks would run early.
        """
        self._clock = SystemClock() if clock is None else clock
        now_ms = self._clock.hi_res_clock_ms()
        start_ms = now_ms if start_ms is None else require_integer("start_ms", start_ms, 0, now_ms)
        self._lock = sync.read_write_lock("SystemTimer.lock")
        self._closed: Annotated[bool, GuardedBy("_lock")] = False
        self._task_counter = sync.atomic_integer(0, "SystemTimer.task_counter")
        self._delay_queue = self._delay_queue_class(self._clock)
        self._timing_wheel = self._timing_wheel_class(
            tick_ms=tick_ms,
            wheel_size=wheel_size,
            start_ms=start_ms,
            task_counter=self._task_counter,
            queue=self._delay_queue,
        )
        self._task_executor = (
            sync.single_thread_executor(f"executor-{executor_name}")
            if executor is None
            else executor
        )
        self._name = executor_name

    def __repr__(self) -> str:
        """Return the name, the resolution, and the number of tasks that wait."""
        wheel = self._timing_wheel
        return (
            f"{type(self).__name__}({self._name!r}, tick_ms={wheel.tick_ms}, "
            f"wheel_size={wheel.wheel_size}, size={self.size()})"
        )

    def add(self, timer_task: TimerTask) -> None:
        """Take `timer_task` in (standard 1.2).

        The deadline counts from the moment at which the clock is read inside this call. A task
        whose tick the wheel has reached is submitted at once.
        Raises TimerClosedError after `close`, and what the executor's `submit` raises; then the
        task is not in the timer.
        TLA+: LockRead, QueueForRead, Refuse, ReadClock, Bind, Insert, Link, SetExpiration,
        Offer, Withdraw and UnlockRead of SystemTimer; Add and SubmitAtOnce of TimingWheel.
        """
        with self._lock.read:
            self._require_open()
            expiration_ms = Millis(timer_task.delay_ms + self._clock.hi_res_clock_ms())
            entry = TimerTaskEntry(timer_task, expiration_ms)
            try:
                timer_task.set_timer_task_entry(entry)
                self._add_timer_task_entry(entry)
            except BaseException:
                timer_task.claim(entry)
                entry.remove()
                raise

    def advance_clock(self, timeout_ms: int) -> bool:
        """Submit what is due, waiting at most `timeout_ms` milliseconds for it (standard 1.5).

        Returns whether a bucket was taken, which it may be although all its entries were cancelled.
        Any number of threads may call this. Raises TimerClosedError after `close`,
        IllegalArgumentError for a negative time-out, and what the executor's `submit` raises: then
        the tasks that it did not take wait for the next advance.
        TLA+: StartAdvance, AwaitDue, TimeOut, QueueForWrite, LockWrite, Poll, PollNothing,
        AdvanceClock, FlushLock, FlushEntry, FlushEnd and UnlockWrite of SystemTimer; AwaitDue,
        PollOf, FlushEntry, FlushDone and EndAdvance of TimingWheel.
        """
        require_integer("timeout_ms", timeout_ms, 0)
        # Kafka: take the first bucket, waiting for it; if there is none, return; lock; flush.
        # Here:  wait until the first is due, and take none; lock; take; flush.
        # Why:   an adder that runs before the lock is late by a whole interval (findings 1 to 3).
        self._delay_queue.await_due(timeout_ms)
        # Also when nothing seemed due: the lock waits for adders between their link and their
        # offer, behind whom others may already have returned.
        with self._lock.write:
            self._require_open()
            return self._expire_due_buckets()

    def size(self) -> int:
        """Return the number of linked entries (standard 1.11, 1.14)."""
        return self._task_counter.get()

    def close(self) -> None:
        """Stop for good (standard 1.16).

        Waits, at most EXECUTOR_TERMINATION_MS, for the tasks already submitted, unless one of them
        is the caller; so does who closes it again.
        TLA+: CloseLock, CloseUnlock and Shutdown of SystemTimer.
        """
        with self._lock.write:
            self._closed = True
        self._delay_queue.close()
        self._task_executor.shutdown()
        self._task_executor.await_termination(EXECUTOR_TERMINATION_MS)

    def _add_timer_task_entry(self, entry: TimerTaskEntry) -> None:
        """Put an entry into the wheel, or submit its task if that is due.

        TLA+: Insert, Submit and RefuseTask of SystemTimer; TestCancelled and Submit of
        EntryMigration.
        """
        # Kafka: if the entry is not cancelled, submit its task.
        # Here:  take the task's binding, and submit if that succeeds.
        # Why:   a cancel between test and submission says yes, and the task runs (finding 4).
        if not self._timing_wheel.add(entry) and entry.timer_task.claim(entry):
            try:
                self._task_executor.submit(entry.timer_task.run)
            except BaseException:
                entry.timer_task.take_back(entry)
                raise

    def _expire_due_buckets(self) -> bool:
        bucket = self._delay_queue.poll()
        if bucket is None:
            return False
        while bucket is not None:
            try:
                self._expire_bucket(bucket)
            except BaseException:
                if self._timing_wheel.current_time_ms < bucket.get_expiration():
                    # A signal came before anything was done with the bucket.
                    self._requeue(bucket)
                raise
            bucket = self._delay_queue.poll()
        return True

    def _expire_bucket(self, bucket: TimerTaskList) -> None:
        """Empty a bucket that is due."""
        try:
            # The clock first: it sends entries to a lower level or expires them (rule 1.6).
            self._timing_wheel.advance_clock(bucket.get_expiration())
            bucket.flush(self._add_timer_task_entry)
        except BaseException:
            # What was not submitted is due, and the wheel's clock waits here until it is taken:
            # nothing of a later round can come into this bucket.
            self._requeue(bucket)
            raise

    def _requeue(self, bucket: TimerTaskList) -> None:
        """Put a bucket back for the next advance, unless it was emptied."""
        if bucket.get_expiration() != IDLE:
            self._delay_queue.offer_unless_queued(bucket)

    def _require_open(self) -> None:
        if self._closed:
            raise TimerClosedError("the timer has been closed; make a new one")
