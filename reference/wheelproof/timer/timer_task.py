"""A unit of delayed work and its place in the timer: TimerTask and TimerTaskEntry.

Between an add and the run of a task others may cancel it, or add it again. All of them meet at one
cell of the task, its binding: whoever takes that away has decided.

>>> from wheelproof.timer.timer_task import TimerTask, TimerTaskEntry
>>> class Say(TimerTask):
...     def run(self) -> None:
...         print("expired")
>>> task = Say(100)
>>> entry = TimerTaskEntry(task, 1_100)
>>> entry
TimerTaskEntry(Say(delay_ms=100), expiration_ms=1100)
>>> task.set_timer_task_entry(entry)
>>> task.cancel(), entry.cancelled()
(True, True)

Invariants:

- A task is bound to one entry at most; an entry that is not bound never fires.
- An entry is in the list that its `list` names, and in no other.
- Lock order: task, list, entry (standard 1.15).
"""

from abc import ABC, abstractmethod
from typing import Annotated, Protocol, Self

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.sync import AtomicReference, GuardedBy, Volatile
from wheelproof.units import MAX_MILLIS, Millis


class TimerTask(ABC):
    """Work to be run once, `delay_ms` milliseconds after it is added to a timer.

    A task is bound to at most one entry at a time. Taking the binding away decides its fate:
    the timer by `claim`, and then it is submitted; a caller by `cancel`, and then it never runs; a
    later add by binding a new entry, and then only that one fires (standard 1.12).

    TLA+: variable `bound` of EntryMigration.
    """

    __slots__ = ("_entry", "_monitor", "delay_ms")

    def __init__(self, delay_ms: int) -> None:
        """Make a task with a delay in milliseconds; a negative one means: at once.

        Raises IllegalArgumentError if the delay is no integer or outside the domain
        (standard 1.17).
        """
        self.delay_ms = Millis(require_integer("delay_ms", delay_ms, -MAX_MILLIS))
        self._monitor = sync.monitor("TimerTask.monitor")
        self._entry: AtomicReference[TimerTaskEntry | None] = sync.atomic_reference(
            None, "TimerTask.entry"
        )

    def __repr__(self) -> str:
        """Return the class and the delay."""
        return f"{type(self).__name__}(delay_ms={self.delay_ms})"

    @abstractmethod
    def run(self) -> None:
        """Do the work; called on the executor's thread."""

    def cancel(self) -> bool:
        """Take the task out of the timer (standard 1.10).

        Returns True if the task will not run for the add that came before, False if there was
        nothing to cancel: never added, already submitted, already cancelled.
        TLA+: Cancel and CancelInVain of Timer and of TimingWheel; the steps Cancel* of
        EntryMigration and of SystemTimer.
        """
        with self._monitor:
            entry = self._entry.get()
            if entry is None:
                return False
            entry.remove()
            return self._entry.compare_and_set(entry, None)

    def set_timer_task_entry(self, entry: "TimerTaskEntry") -> None:
        """Bind the task to `entry` and remove any older entry (standard 1.2, 1.12).

        To bind it to the entry that it has already has no effect.

        TLA+: the steps Bind* of EntryMigration.
        """
        with self._monitor:
            older = self._entry.get_and_set(entry)
            if older is not None and older is not entry:
                older.remove()

    def get_timer_task_entry(self) -> "TimerTaskEntry | None":
        """Return the entry that the task is bound to.

        Takes no lock: the flushing thread calls it while it holds a bucket's monitor, which comes
        after the task's monitor in the lock order (standard 1.15).
        """
        return self._entry.get()

    def claim(self, entry: "TimerTaskEntry") -> bool:
        """Unbind the task from `entry` in order to submit it; False if it is no longer bound to it.

        TLA+: Claim of EntryMigration, Fire of Timer.
        """
        return self._entry.compare_and_set(entry, None)

    def take_back(self, entry: "TimerTaskEntry") -> None:
        """Bind the task to `entry` again, since it was not submitted, unless a later add has.

        TLA+: TakeBack of SystemTimer.
        """
        self._entry.compare_and_set(None, entry)


class EntryHolder(Protocol):
    """A list that can hold entries: a TimerTaskList."""

    def remove(self, entry: "TimerTaskEntry", /) -> None:
        """Take the entry out if this list holds it; else nothing."""
        ...


class TimerTaskEntry:
    """One add of a task: an immutable expiration and the list that holds it, if any.

    `next` and `prev` belong to that list, whose monitor guards them; outside any list the entry has
    neither.
    """

    __slots__ = ("expiration_ms", "list", "monitor", "next", "prev", "timer_task")

    next: Annotated[Self, GuardedBy("list._monitor")]
    prev: Annotated[Self, GuardedBy("list._monitor")]

    def __init__(self, timer_task: TimerTask, expiration_ms: Millis) -> None:
        self.timer_task = timer_task
        self.expiration_ms = expiration_ms
        self.monitor = sync.monitor("TimerTaskEntry.monitor")
        self.list: Volatile[EntryHolder | None] = sync.volatile(None, "TimerTaskEntry.list")

    def __repr__(self) -> str:
        """Return the task and when it is due."""
        return f"TimerTaskEntry({self.timer_task!r}, expiration_ms={self.expiration_ms})"

    def cancelled(self) -> bool:
        """Tell whether the task is no longer bound to this entry (standard 1.10)."""
        return self.timer_task.get_timer_task_entry() is not self

    def remove(self) -> None:
        """Take the entry out of whichever list holds it.

        Another thread may move it at the same time, so the list is asked again until there is none
        (KAFKA-2226). TLA+: the steps Remove* of EntryMigration.
        """
        holder = self.list.get()
        while holder is not None:
            holder.remove(self)
            holder = self.list.get()
