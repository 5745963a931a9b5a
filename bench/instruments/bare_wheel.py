"""The wheel's add and cancel on bare `threading`: what the sync layer is measured against.

The algorithm, its locks and its methods are those of `wheelproof.timer`; locks are the standard
library's, and cells are plain attributes, with a plain lock where an update must be atomic. What
only advancing needs is left out.
"""

import heapq
import threading

from wheelproof.domain import require_integer
from wheelproof.timer.arithmetic import (
    already_expired,
    bucket_index,
    truncate_to_tick,
    virtual_id,
    within_interval,
)
from wheelproof.units import MAX_MILLIS, Millis

IDLE = -1


class Counter:
    """An integer under its own lock."""

    __slots__ = ("lock", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.value = 0

    def add(self, delta: int) -> None:
        with self.lock:
            self.value += delta


class BareTask:
    __slots__ = ("_entry", "_entry_lock", "_monitor", "delay_ms")

    def __init__(self, delay_ms: int) -> None:
        self.delay_ms = Millis(require_integer("delay_ms", delay_ms, -MAX_MILLIS))
        self._monitor = threading.RLock()
        self._entry: BareEntry | None = None
        self._entry_lock = threading.Lock()

    def cancel(self) -> bool:
        with self._monitor:
            entry = self._entry
            if entry is None:
                return False
            entry.remove()
            with self._entry_lock:
                if self._entry is not entry:
                    return False
                self._entry = None
                return True

    def set_timer_task_entry(self, entry: "BareEntry") -> None:
        with self._monitor:
            with self._entry_lock:
                older = self._entry
                self._entry = entry
            if older is not None:
                older.remove()

    def get_timer_task_entry(self) -> "BareEntry | None":
        return self._entry


class BareEntry:
    __slots__ = ("expiration_ms", "list", "monitor", "next", "prev", "timer_task")

    next: "BareEntry"
    prev: "BareEntry"

    def __init__(self, timer_task: BareTask, expiration_ms: Millis) -> None:
        self.timer_task = timer_task
        self.expiration_ms = expiration_ms
        self.monitor = threading.RLock()
        self.list: BareList | None = None

    def cancelled(self) -> bool:
        return self.timer_task.get_timer_task_entry() is not self

    def remove(self) -> None:
        holder = self.list
        while holder is not None:
            holder.remove(self)
            holder = self.list


class BareList:
    __slots__ = ("_expiration", "_expiration_lock", "_monitor", "_root", "_task_counter")

    def __init__(self, task_counter: Counter) -> None:
        self._task_counter = task_counter
        self._monitor = threading.RLock()
        self._expiration = IDLE
        self._expiration_lock = threading.Lock()
        self._root = root = BareEntry(BareTask(0), Millis(IDLE))
        root.next = root.prev = root

    def __lt__(self, other: "BareList") -> bool:
        return self._expiration < other._expiration

    def set_expiration(self, expiration_ms: Millis) -> bool:
        with self._expiration_lock:
            before = self._expiration
            self._expiration = expiration_ms
        return before != expiration_ms

    def add(self, entry: BareEntry) -> None:
        linked = False
        while not linked:
            entry.remove()
            with self._monitor, entry.monitor:
                linked = entry.list is None
                if linked:
                    self._link(entry)

    def remove(self, entry: BareEntry) -> None:
        with self._monitor, entry.monitor:
            if self._holds(entry):
                self._unlink(entry)

    def _holds(self, entry: BareEntry) -> bool:
        return entry.list is self

    def _link(self, entry: BareEntry) -> None:
        root = self._root
        tail = root.prev
        entry.next = root
        entry.prev = tail
        entry.list = self
        tail.next = entry
        root.prev = entry
        self._task_counter.add(1)

    def _unlink(self, entry: BareEntry) -> None:
        entry.next.prev = entry.prev
        entry.prev.next = entry.next
        del entry.next, entry.prev
        entry.list = None
        self._task_counter.add(-1)


class BareQueue:
    __slots__ = ("_heap", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heap: list[BareList] = []

    def offer(self, bucket: BareList) -> None:
        with self._lock:
            heapq.heappush(self._heap, bucket)


class BareWheel:
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

    def __init__(
        self,
        *,
        tick_ms: int,
        wheel_size: int,
        start_ms: int,
        task_counter: Counter,
        queue: BareQueue,
    ) -> None:
        self.tick_ms = Millis(tick_ms)
        self.wheel_size = wheel_size
        self.interval_ms = Millis(tick_ms * wheel_size)
        self._current_time_ms = truncate_to_tick(start_ms, tick_ms)
        self._task_counter = task_counter
        self._queue = queue
        self._buckets = tuple(BareList(task_counter) for _ in range(wheel_size))
        self._monitor = threading.RLock()
        self._overflow_wheel: BareWheel | None = None

    def add(self, entry: BareEntry) -> bool:
        expiration_ms = entry.expiration_ms
        if self._is_cancelled(entry):
            return False
        if already_expired(expiration_ms, self._current_time_ms, self.tick_ms):
            return False
        if not within_interval(expiration_ms, self._current_time_ms, self.interval_ms):
            return self._get_or_create_overflow_wheel().add(entry)
        self._put(entry, virtual_id(expiration_ms, self.tick_ms))
        return True

    def _is_cancelled(self, entry: BareEntry) -> bool:
        return entry.cancelled()

    def _put(self, entry: BareEntry, number: int) -> None:
        bucket = self._buckets[bucket_index(number, self.wheel_size)]
        bucket.add(entry)
        if bucket.set_expiration(Millis(number * self.tick_ms)):
            self._queue.offer(bucket)

    def _get_or_create_overflow_wheel(self) -> "BareWheel":
        overflow_wheel = self._overflow_wheel
        if overflow_wheel is not None:
            return overflow_wheel
        with self._monitor:
            overflow_wheel = self._overflow_wheel
            if overflow_wheel is None:
                overflow_wheel = BareWheel(
                    tick_ms=self.interval_ms,
                    wheel_size=self.wheel_size,
                    start_ms=self._current_time_ms,
                    task_counter=self._task_counter,
                    queue=self._queue,
                )
                self._overflow_wheel = overflow_wheel
            return overflow_wheel
