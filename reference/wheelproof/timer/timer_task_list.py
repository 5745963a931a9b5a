"""A bucket of a timing wheel: entries that share one expiration.

Entries leave from the middle when their tasks are cancelled, so a bucket is a linked list; and they
move to other buckets as time passes, so two lists can race for one entry (KAFKA-2226).

>>> from wheelproof import sync
>>> from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
>>> from wheelproof.timer.timer_task_list import TimerTaskList
>>> class Say(TimerTask):
...     def run(self) -> None:
...         print("expired")
>>> tasks = sync.atomic_integer(0, "tasks")
>>> bucket = TimerTaskList(tasks)
>>> bucket.set_expiration(20), bucket.set_expiration(20)
(True, False)
>>> bucket.add(TimerTaskEntry(Say(5), 25))
>>> tasks.get()
1
>>> bucket.flush(lambda entry: print(entry.expiration_ms))
25
>>> tasks.get(), bucket.get_expiration()
(0, -1)

Invariants:

- Under the monitor: from the root along `next` through every entry whose `list` is this, and back.
- `prev` leads the other way.
- The counter is the number of entries in all lists of the timer.
"""

from collections.abc import Callable
from typing import Annotated

from wheelproof import sync
from wheelproof.sync import AtomicInteger, GuardedBy
from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
from wheelproof.units import Millis

IDLE = -1
"""The expiration of a bucket that waits for nothing."""


class _NoTask(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: the root of a list is never submitted."""


_NO_TASK = _NoTask(0)


class TimerTaskList:
    """A cyclic doubly linked list with a root, and the expiration of what is in it.

    The task counter is shared by all buckets of a timer: the number of linked entries
    (standard 1.14).
    """

    __slots__ = ("_expiration", "_monitor", "_root", "_task_counter")

    # From the root along `next` through the linked entries back to the root; `prev` the other way.
    # Under the monitor, an entry is linked here exactly if its `list` is this one.
    _root: Annotated[TimerTaskEntry, GuardedBy("_monitor")]

    def __init__(self, task_counter: AtomicInteger) -> None:
        self._task_counter = task_counter
        self._monitor = sync.monitor("TimerTaskList.monitor")
        self._expiration = sync.atomic_integer(IDLE, "TimerTaskList.expiration")
        self._root = root = TimerTaskEntry(_NO_TASK, Millis(IDLE))
        root.next = root.prev = root

    def set_expiration(self, expiration_ms: Millis) -> bool:
        """Set the bucket's expiration and tell whether that changed it (standard 1.3)."""
        return self._expiration.get_and_set(expiration_ms) != expiration_ms

    def get_expiration(self) -> Millis:
        """Return the bucket's expiration in milliseconds, IDLE if it waits for nothing."""
        return Millis(self._expiration.get())

    def __lt__(self, other: "TimerTaskList") -> bool:
        return self._expiration.get() < other._expiration.get()

    def add(self, entry: TimerTaskEntry) -> None:
        """Link `entry` at the tail, out of whichever list held it before (standard 1.13).

        The entry's monitor is needed beside the list's: two lists can race for one entry.
        TLA+: the steps Add* of EntryMigration.
        """
        linked = False
        while not linked:
            # Outside all monitors: the entry may sit in another list, whose monitor comes first.
            entry.remove()
            with self._monitor, entry.monitor:
                linked = entry.list.get() is None
                if linked:
                    self._link(entry, self._root)

    def remove(self, entry: TimerTaskEntry) -> None:
        """Unlink `entry` if this list holds it; else nothing (standard 1.13, KAFKA-2226).

        TLA+: the steps Remove* of EntryMigration.
        """
        with self._monitor, entry.monitor:
            if self._holds(entry):
                self._unlink(entry)

    def flush(self, action: Callable[[TimerTaskEntry], None]) -> None:
        """Take out every entry and hand it to `action`, then become idle (standard 1.6).

        The monitor is held throughout. What `action` raises is passed on: the entry it failed with
        is the head again, and the bucket keeps its expiration.
        TLA+: the steps Flush* of EntryMigration.
        """
        with self._monitor:
            head = self._root.next
            while head is not self._root:
                try:
                    # Inside: what a signal ends here finds its way back, too.
                    self.remove(head)
                    action(head)
                except BaseException:
                    self._take_back(head)
                    raise
                head = self._root.next
            self._expiration.set(IDLE)

    def _take_back(self, entry: TimerTaskEntry) -> None:
        """Make `entry` the head again, unless it is cancelled or has found its place.

        TLA+: TestBack and LinkBack of SystemTimer.
        """
        with entry.monitor:
            if entry.list.get() is None and not entry.cancelled():
                self._link(entry, self._root.next)

    def _link(self, entry: TimerTaskEntry, successor: TimerTaskEntry) -> None:
        predecessor = successor.prev
        try:
            entry.next = successor
            entry.prev = predecessor
            entry.list.set(self)
            predecessor.next = entry
            successor.prev = entry
            self._task_counter.add_and_get(1)
        except BaseException:
            # A signal came before it was counted.
            predecessor.next = successor
            successor.prev = predecessor
            del entry.next, entry.prev
            entry.list.set(None)
            raise

    def _unlink(self, entry: TimerTaskEntry) -> None:
        successor = entry.next
        predecessor = entry.prev
        try:
            successor.prev = predecessor
            predecessor.next = successor
            # Neither its neighbours nor a cycle stay referenced: what is unlinked is freed at once.
            del entry.next, entry.prev
            entry.list.set(None)
            self._task_counter.add_and_get(-1)
        except BaseException:
            # A signal came before it was counted.
            entry.next = successor
            entry.prev = predecessor
            successor.prev = predecessor.next = entry
            entry.list.set(self)
            raise

    def _holds(self, entry: TimerTaskEntry) -> bool:
        """Tell whether `entry` is in this list."""
        return entry.list.get() is self
