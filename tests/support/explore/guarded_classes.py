"""Classes with declared guards, some of which break them."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof import sync
from wheelproof.domain import require_integer
from wheelproof.sync import GuardedBy
from wheelproof.timer import DelayQueue, SystemTimer, TimerTaskList


class Account:
    """Declares a field in its constructor, as most classes do."""

    def __init__(self) -> None:
        self._lock = sync.monitor("account")
        self._balance: Annotated[int, GuardedBy("_lock")] = 0

    def pay_in(self) -> None:
        with self._lock:
            self._balance += 1

    def pay_in_without_the_lock(self) -> None:
        self._balance += 1

    def look(self) -> int:
        return self._balance

    def close(self) -> None:
        del self._balance


class SlottedAccount:
    """Declares a slot in its body."""

    __slots__ = ("_balance", "_lock")
    _balance: Annotated[int, GuardedBy("_lock")]

    def __init__(self) -> None:
        self._lock = sync.lock("account")
        self._balance = 0

    def pay_in(self) -> None:
        with self._lock:
            self._balance += 1

    def pay_in_without_the_lock(self) -> None:
        self._balance += 1

    def look(self) -> int:
        return self._balance

    def close(self) -> None:
        del self._balance


class DerivedAccount(Account):
    """Uses the field of its base in its own constructor."""

    def __init__(self, balance: int) -> None:
        super().__init__()
        self._balance = balance


class Table:
    """Is read under either side of a read-write lock and written under one."""

    def __init__(self) -> None:
        self.lock = sync.read_write_lock("table", prefer_writers=True)
        self.rows: Annotated[int, GuardedBy("lock")] = 0


@dataclass(slots=True)
class Shelf:
    """What has a monitor."""

    monitor: sync.Monitor


class Book:
    """Is guarded by the monitor of the shelf that it stands on, if it stands on one."""

    def __init__(self) -> None:
        self.shelf: sync.Volatile[Shelf | None] = sync.volatile(None, "shelf")
        self.lent: Annotated[bool, GuardedBy("shelf.monitor")] = False


class Lost:
    """Names a lock that it has not."""

    def __init__(self) -> None:
        self.value: Annotated[int, GuardedBy("_lock")] = 0


class HandedOver:
    """Belongs to whoever was told of it last."""

    def __init__(self) -> None:
        self.value: Annotated[int, GuardedBy("its maker until it is handed over")] = 0


class Point:
    """Has fields that are declared nowhere."""

    __slots__ = ("lock", "ready", "x")

    def __init__(self) -> None:
        self.lock = sync.lock("lock")
        self.ready = sync.atomic_integer(0, "ready")
        self.x = 0


class HastyQueue(DelayQueue):
    """A planted bug: looks at the heap without its lock."""

    def __len__(self) -> int:
        return len(self._heap)


class HastyTimer(SystemTimer):
    """A planted bug: advances among the adders, under the read side of the lock."""

    def advance_clock(self, timeout_ms: int) -> bool:
        require_integer("timeout_ms", timeout_ms, 0)
        self._delay_queue.await_due(timeout_ms)
        with self._lock.read:
            return self._expire_due_buckets()


class HastyBucket(TimerTaskList):
    """A planted bug: flushes without the bucket's monitor."""

    __slots__ = ()

    def is_empty(self) -> bool:
        return self._root.next is self._root
