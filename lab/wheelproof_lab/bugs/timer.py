"""Defects of the timer: each class reintroduces one of them."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from wheelproof.domain import require_integer
from wheelproof.errors import RejectedExecutionError, TimerClosedError
from wheelproof.sync.single_thread_executor import SingleThreadExecutor
from wheelproof.timer import (
    SystemTimer,
    SystemTimerReaper,
    TimerTaskEntry,
    TimerTaskList,
    TimingWheel,
)
from wheelproof.timer.delay_queue import DelayQueue
from wheelproof.timer.system_timer_reaper import WORK_TIMEOUT_MS
from wheelproof_lab.bugs.known_bug import Finder, KnownBug, Sight
from wheelproof_spec.components.timer.reference import TimerVariant

_logger = logging.getLogger(__name__)


class StaleListBucket(TimerTaskList):
    """KAFKA-2226: removes an entry even if another list holds it now."""

    __slots__ = ()

    def _holds(self, entry: TimerTaskEntry) -> bool:
        return entry.list.get() is not None


class UnguardedEntryBucket(TimerTaskList):
    """A bucket that adds and removes under the list's monitor only, without the entry's monitor."""

    __slots__ = ()

    def add(self, entry: TimerTaskEntry) -> None:
        """Link `entry` at the tail."""
        linked = False
        while not linked:
            entry.remove()
            with self._monitor:
                linked = entry.list.get() is None
                if linked:
                    self._link(entry, self._root)

    def remove(self, entry: TimerTaskEntry) -> None:
        """Unlink `entry` if this list holds it."""
        with self._monitor:
            if self._holds(entry):
                self._unlink(entry)


class StaleListWheel(TimingWheel):
    """A wheel of StaleListBucket."""

    __slots__ = ()
    _bucket_class = StaleListBucket


class UnguardedEntryWheel(TimingWheel):
    """A wheel of UnguardedEntryBucket."""

    __slots__ = ()
    _bucket_class = UnguardedEntryBucket


class CancelBlindWheel(TimingWheel):
    """KAFKA-2226: puts an entry into a bucket even if the entry was cancelled."""

    __slots__ = ()

    def _is_cancelled(self, entry: TimerTaskEntry) -> bool:
        del entry
        return False


class HalfBuiltOverflowWheel(TimingWheel):
    """KAFKA-2112: publishes the overflow wheel before it is built."""

    __slots__ = ()

    def _get_or_create_overflow_wheel(self) -> TimingWheel:
        overflow_wheel = self._overflow_wheel.get()
        if overflow_wheel is not None:
            return overflow_wheel
        with self._monitor:
            overflow_wheel = self._overflow_wheel.get()
            if overflow_wheel is None:
                overflow_wheel = HalfBuiltOverflowWheel.__new__(HalfBuiltOverflowWheel)
                self._overflow_wheel.set(overflow_wheel)
                HalfBuiltOverflowWheel.__init__(
                    overflow_wheel,
                    tick_ms=self.interval_ms,
                    wheel_size=self.wheel_size,
                    start_ms=self._current_time_ms,
                    task_counter=self._task_counter,
                    queue=self._queue,
                )
            return overflow_wheel


class OneBucketWheel(TimingWheel):
    """A wheel that may have one bucket, as in Kafka: no level of it ever spans a future tick."""

    __slots__ = ()
    _fewest_buckets = 1


class StaleListTimer(SystemTimer):
    """KAFKA-2226, first variant."""

    _timing_wheel_class = StaleListWheel


class CancelBlindTimer(SystemTimer):
    """KAFKA-2226, second variant: a cancelled task is submitted anyway."""

    _timing_wheel_class = CancelBlindWheel

    def _add_timer_task_entry(self, entry: TimerTaskEntry) -> None:
        if not self._timing_wheel.add(entry):
            self._task_executor.submit(entry.timer_task.run)


class HalfBuiltOverflowTimer(SystemTimer):
    """KAFKA-2112."""

    _timing_wheel_class = HalfBuiltOverflowWheel


class UnguardedEntryTimer(SystemTimer):
    """A timer whose buckets do not lock the entry's monitor."""

    _timing_wheel_class = UnguardedEntryWheel


class AdvanceAfterFlushTimer(SystemTimer):
    """Flushes a bucket before the wheel's clock moves: every entry goes back into the bucket."""

    def _expire_bucket(self, bucket: TimerTaskList) -> None:
        bucket.flush(self._add_timer_task_entry)
        self._timing_wheel.advance_clock(bucket.get_expiration())


class PollOutsideLockTimer(SystemTimer):
    """Kafka's advance: it polls the first bucket before it locks, and gives up if there is none."""

    def advance_clock(self, timeout_ms: int) -> bool:
        """Submit the tasks that are due."""
        require_integer("timeout_ms", timeout_ms, 0)
        self._delay_queue.await_due(timeout_ms)
        bucket = self._delay_queue.poll()
        if bucket is None:
            return False
        with self._lock.write:
            self._require_open()
            self._expire_bucket(bucket)
            self._expire_due_buckets()
        return True


class SubmitAfterTestTimer(SystemTimer):
    """Kafka's submission: the test for cancellation and the submission are two separate steps."""

    def _add_timer_task_entry(self, entry: TimerTaskEntry) -> None:
        if not self._timing_wheel.add(entry) and not entry.cancelled():
            self._task_executor.submit(entry.timer_task.run)


class OneBucketTimer(SystemTimer):
    """A timer whose wheels may have one bucket, as in Kafka."""

    _timing_wheel_class = OneBucketWheel


class RefusalLosesBucket(TimerTaskList):
    """A bucket that forgets the entry whose task the executor has refused."""

    __slots__ = ()

    def _take_back(self, entry: TimerTaskEntry) -> None:
        """Forget the entry."""


class RefusalLosesWheel(TimingWheel):
    """A wheel of RefusalLosesBucket."""

    __slots__ = ()
    _bucket_class = RefusalLosesBucket


class RefusalLosesTimer(SystemTimer):
    """Kafka's flush: a refusal loses its task, and the rest of the bucket is in no queue."""

    _timing_wheel_class = RefusalLosesWheel

    def _add_timer_task_entry(self, entry: TimerTaskEntry) -> None:
        if not self._timing_wheel.add(entry) and entry.timer_task.claim(entry):
            self._task_executor.submit(entry.timer_task.run)

    def _requeue(self, bucket: TimerTaskList) -> None:
        """Leave the bucket in no queue."""


class OneWokenQueue(DelayQueue):
    """A queue whose close wakes one of the threads that wait."""

    def close(self) -> None:
        """End one wait."""
        with self._lock:
            self._closed = True
            self._available.notify()


class OneWokenTimer(SystemTimer):
    """A timer with such a queue."""

    _delay_queue_class = OneWokenQueue


class EndingReaper(SystemTimerReaper):
    """Kafka's reaper: any error of an advance ends it, and the timer goes on to take tasks."""

    def _work(self) -> None:
        try:
            while True:
                self._timer.advance_clock(WORK_TIMEOUT_MS)
        except TimerClosedError:
            return


class CancelledExecutor(SingleThreadExecutor):
    """An executor that `asyncio.CancelledError` ends: it takes later tasks, and runs none."""

    def _work(self) -> None:
        while (task := self._take()) is not None:
            try:
                task()
            except (Exception, SystemExit):
                _logger.exception("a task of %s raised; the next one runs", self._name)
            del task


class StartedForGoodExecutor(SingleThreadExecutor):
    """An executor whose thread counts as started though its start has failed."""

    def submit(self, task: Callable[[], None]) -> None:
        """Queue `task`, and start the thread before the first one."""
        with self._lock:
            if self._shut_down:
                raise RejectedExecutionError(f"{self._name} has been shut down")
            self._tasks.append(task)
            self._changed.notify_all()
            if not self._started:
                self._started = True
                self._worker.start()


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerBug(KnownBug):
    """A defect of the timer, with the class that has it: timer, bucket, reaper or executor."""

    timer_class: type[SystemTimer] = SystemTimer
    bucket_class: type[TimerTaskList] = TimerTaskList
    reaper_class: type[SystemTimerReaper] = SystemTimerReaper
    executor_class: type[SingleThreadExecutor] = SingleThreadExecutor

    def variant(self) -> TimerVariant:
        """Return what `wheelproof fuzz` takes in the place of the reference's classes."""
        return TimerVariant(timer_class=self.timer_class, bucket_class=self.bucket_class)


BUGS: tuple[TimerBug, ...] = (
    TimerBug(
        id="KAFKA-2226/stale-list",
        component="timer",
        timer_class=StaleListTimer,
        bucket_class=StaleListBucket,
        trigger=(
            "the reaper moves an entry to another list while cancel removes it from the one that "
            "it saw"
        ),
        broken="an entry is in one list at most",
        source="KAFKA-2226",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.INTERLEAVING,
        ),
        models=("MCEntryMigration_KAFKA_2226_any_list",),
        seen=(Sight.RECORDED,),
    ),
    TimerBug(
        id="KAFKA-2226/no-cancelled-test",
        component="timer",
        timer_class=CancelBlindTimer,
        trigger="a cancelled entry is re-inserted and submitted without a test",
        broken="nothing runs after a successful cancel",
        source="KAFKA-2226",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.THREADS,
            Finder.INTERLEAVING,
        ),
        models=("MCEntryMigration_KAFKA_2226_no_test",),
        seen=(Sight.DRIVEN,),
    ),
    TimerBug(
        id="KAFKA-2112",
        component="timer",
        timer_class=HalfBuiltOverflowTimer,
        trigger="an adder sees the overflow wheel between its publication and its construction",
        broken="safe publication",
        source="KAFKA-2112",
        finders=(
            Finder.TLC,
            Finder.EXPLORE,
            Finder.INTERLEAVING,
        ),
        models=("MCOverflowWheel_KAFKA_2112",),
        seen=(Sight.RECORDED,),
    ),
    TimerBug(
        id="entry-monitor-dropped",
        component="timer",
        timer_class=UnguardedEntryTimer,
        bucket_class=UnguardedEntryBucket,
        trigger="two lists race for one entry",
        broken="links and counter stay consistent",
        source="standard 1.13",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.THREADS,
            Finder.INTERLEAVING,
        ),
        models=(
            "MCEntryMigration_entry_monitor_dropped",
            "MCEntryMigration_entry_monitor_dropped_links",
            "MCEntryMigration_entry_monitor_dropped_counter",
        ),
        unseen=(
            "a timer never offers one entry to two lists, so it shows on lists alone; every "
            "program of the timer passes with it"
        ),
    ),
    TimerBug(
        id="advance-after-flush",
        component="timer",
        timer_class=AdvanceAfterFlushTimer,
        trigger="a bucket is flushed before the wheel's clock has moved",
        broken="flush ends",
        source="standard 1.6",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
        ),
        models=(
            "MCTimingWheel_AdvanceAfterFlush",
            "MCEntryMigration_advance_after_flush",
            "MCSystemTimer_advance_after_flush",
        ),
        seen=(Sight.DRIVEN,),
    ),
    TimerBug(
        id="poll-outside-lock",
        component="timer",
        timer_class=PollOutsideLockTimer,
        trigger="an adder runs between the reaper's poll and its lock",
        broken="a due task is submitted by the end of the advance; a queued bucket keeps its key",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.INTERLEAVING,
        ),
        models=(
            "MCSystemTimer_poll_outside_late",
            "MCSystemTimer_poll_outside_key",
            "MCSystemTimer_poll_outside_early",
        ),
        seen=(Sight.RECORDED,),
    ),
    TimerBug(
        id="test-then-submit",
        component="timer",
        timer_class=SubmitAfterTestTimer,
        trigger="a task is cancelled between the cancelled test and its submission",
        broken="nothing is submitted after its cancel has returned",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.PROOF,
            Finder.EXPLORE,
            Finder.SEQUENTIAL,
            Finder.INTERLEAVING,
        ),
        models=("MCEntryMigration_test_then_submit",),
        seen=(Sight.DRIVEN,),
    ),
    TimerBug(
        id="one-bucket",
        component="timer",
        timer_class=OneBucketTimer,
        trigger="a wheel of one bucket gets a task that lies ahead",
        broken="every add returns",
        source="docs/findings.md",
        finders=(
            Finder.TLC,
            Finder.SEQUENTIAL,
        ),
        models=("MCTimingWheel_OneBucket",),
        seen=(
            Sight.DRIVEN,
            Sight.RECORDED,
        ),
    ),
    TimerBug(
        id="refused-task-lost",
        component="timer",
        timer_class=RefusalLosesTimer,
        trigger="the executor refuses a task while its bucket is flushed",
        broken="a task that was not submitted expires at the next advance",
        source="standard 6.2",
        finders=(Finder.EXPLORE,),
        unseen="only an executor that refuses shows it; those of drivers and loads take every task",
        alone="only an executor that refuses shows it; with random calls it takes every task",
    ),
    TimerBug(
        id="reaper-ends-at-error",
        component="timer",
        reaper_class=EndingReaper,
        trigger="an advance of the reaper raises",
        broken="a task that is accepted afterwards expires",
        source="standard 6.3",
        finders=(Finder.EXPLORE,),
        unseen="only an advance that raises shows it; in driven and recorded calls none does",
        alone="only an advance that raises shows it; in random calls none does",
    ),
    TimerBug(
        id="cancelled-error-ends-executor",
        component="timer",
        executor_class=CancelledExecutor,
        trigger="a task raises asyncio.CancelledError, or another one of its kind",
        broken="an executor that takes a task runs it",
        source="standard 6.2",
        finders=(Finder.EXPLORE,),
        unseen="only a task that raises shows it; in driven and recorded calls none does",
        alone="only a task that raises shows it; in random calls none does",
    ),
    TimerBug(
        id="failed-start-counts",
        component="timer",
        executor_class=StartedForGoodExecutor,
        trigger="the thread of the executor cannot be started at the first task",
        broken="an executor that takes a task runs it",
        source="standard 6.2",
        finders=(Finder.EXPLORE,),
        unseen="only a thread that does not start shows it, and no driver can cause that",
        alone="only a thread that does not start shows it; with random calls each one starts",
    ),
    TimerBug(
        id="close-wakes-one",
        component="timer",
        timer_class=OneWokenTimer,
        trigger="the timer is closed while two threads wait in an advance",
        broken="every advance ends once the timer is closed",
        source="standard 1.16",
        finders=(Finder.EXPLORE,),
        unseen="only two threads that wait in an advance show it; a driver or a load has one",
        alone="only two threads that wait in an advance show it; a load has one",
    ),
)
