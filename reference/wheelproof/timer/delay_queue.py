"""The queue of buckets, ordered by expiration: what tells a timer how long it may sleep.

A wheel with a hand that moves at each tick wakes a thread a thousand times a second, for nothing
most of the time. Here the buckets that hold something are in a queue, and a thread sleeps until the
first of them expires.

>>> from wheelproof import sync
>>> from wheelproof.clock import ManualClock
>>> from wheelproof.timer.delay_queue import DelayQueue
>>> from wheelproof.timer.timer_task_list import TimerTaskList
>>> clock = ManualClock()
>>> queue = DelayQueue(clock)
>>> bucket = TimerTaskList(sync.atomic_integer(0, "tasks"))
>>> bucket.set_expiration(20)
True
>>> queue.offer(bucket)
>>> queue.poll() is bucket
False
>>> clock.advance_to(20)
>>> queue.poll() is bucket
True

Invariants:

- A bucket is queued at most once, and its key does not change while it is.
- Nobody sleeps past the head: an offer that comes before it wakes who waits.
- After `close` nobody waits.
"""

import heapq
from typing import Annotated

from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.sync import GuardedBy
from wheelproof.timer.timer_task_list import TimerTaskList
from wheelproof.units import Millis


class DelayQueue:
    """A queue from which a bucket can be taken once its expiration has come.

    One queue serves all levels of a timer. A bucket's expiration must not change while the bucket
    is queued (standard 1.18), since the order is kept as it was at the offer.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = sync.lock("DelayQueue.lock")
        self._available = sync.condition(self._lock, "DelayQueue.available")
        # A heap by expiration. A bucket is in it at most once.
        self._heap: Annotated[list[TimerTaskList], GuardedBy("_lock")] = []
        self._closed: Annotated[bool, GuardedBy("_lock")] = False

    def offer(self, bucket: TimerTaskList) -> None:
        """Put `bucket` into the queue. TLA+: Offer and Notify of DelayQueue."""
        with self._lock:
            heapq.heappush(self._heap, bucket)
            if self._heap[0] is bucket:
                self._available.notify_all()

    def offer_unless_queued(self, bucket: TimerTaskList) -> None:
        """Put `bucket` before all that have its expiration; nothing changes if it is there.

        For what a signal or an executor has ended, an `offer` or what came after a `poll`: the next
        advance begins where the last one did (standard 6.2.4). TLA+: Requeue of SystemTimer.
        """
        with self._lock:
            if bucket not in self._heap:
                # A heap keeps no order among equals, so it is sorted, which makes it a heap, too.
                self._heap[:] = sorted([bucket, *self._heap])
            self._available.notify_all()

    def poll(self) -> TimerTaskList | None:
        """Take the bucket with the smallest expiration if that has come; else return None.

        TLA+: Poll of DelayQueue.
        """
        bucket: TimerTaskList | None = None
        try:
            with self._lock:
                if self._head_is_due():
                    bucket = self._heap[0]
                    heapq.heappop(self._heap)
            return bucket
        except BaseException:
            # A signal came after the bucket was taken, and nobody would have it.
            if bucket is not None:
                self.offer_unless_queued(bucket)
            raise

    def await_due(self, timeout_ms: int) -> None:
        """Wait at most `timeout_ms` milliseconds until a bucket could be taken, and take none.

        Answers nothing: whoever wants the bucket has to look again, under the timer's lock.
        TLA+: AwaitDue of SystemTimer; ReadClock, Lock, TestHead, TestDeadline, Await and Wake of
        DelayQueue.
        """
        deadline_ms = self._clock.hi_res_clock_ms() + timeout_ms
        with self._lock:
            while not self._head_is_due():
                if self._closed or self._clock.hi_res_clock_ms() >= deadline_ms:
                    return
                self._clock.wait_until(self._lock, self._available, self._next_look(deadline_ms))

    def close(self) -> None:
        """End the waits under way; from now on nothing waits here. TLA+: Close of DelayQueue."""
        with self._lock:
            self._closed = True
            self._available.notify_all()

    def __len__(self) -> int:
        """Return the number of queued buckets."""
        with self._lock:
            return len(self._heap)

    def _head_is_due(self) -> bool:
        heap = self._heap
        return bool(heap) and heap[0].get_expiration() <= self._clock.hi_res_clock_ms()

    def _next_look(self, deadline_ms: int) -> Millis:
        heap = self._heap
        return Millis(min(deadline_ms, heap[0].get_expiration()) if heap else deadline_ms)
