"""Wrong pools: each has one defect. LosesUpdates is right for one thread."""

import threading

from support.reference.python_pool import ReferencePool
from support.reference.shelf_pool import ShelfPool, Waiter
from wheelproof_spec.testing import Buffer


class LosesAtTimeOut(ShelfPool):
    """Who waits takes what there is, and keeps it when the time is out."""

    def _joined(self) -> None:
        self._left = 0

    def _gives_up(self) -> None:
        pass


class LendsTwice(ShelfPool):
    def _cut(self, size: int) -> Buffer:
        as_large = (lent for lent in self._lent if len(lent) == size)
        return next(as_large, None) or super()._cut(size)


class LastComeFirstServed(ShelfPool):
    def _next(self) -> Waiter:
        fits = (waiter for waiter in reversed(self._line) if waiter.size <= self._left)
        return next(fits, self._line[0])


class Barging(ShelfPool):
    def _has_turn(self) -> bool:
        return True


class NoSizeChecked(ShelfPool):
    def _require_size(self, size: int) -> None:
        pass


class LendsMore(ShelfPool):
    def _cut(self, size: int) -> Buffer:
        return bytearray(size + 1)


class NeverAtOnce(ShelfPool):
    """It lends only to who waits."""

    def _has_turn(self) -> bool:
        return False


class OpenForEver(ShelfPool):
    def _require_open(self) -> None:
        pass


class KeepsNothing(ReferencePool):
    def unallocated_memory(self) -> int:
        return self.available_memory()


class CountsOneMore(ShelfPool):
    def queued(self) -> int:
        return len(self._line) and len(self._line) + 1


class TakesEverything(ShelfPool):
    """It takes a buffer back that is not lent, as if nothing had happened."""

    def deallocate(self, buffer: Buffer) -> None:
        if any(lent is buffer for lent in self._lent):
            super().deallocate(buffer)


class Raises(ShelfPool):
    def _cut(self, size: int) -> Buffer:
        raise OverflowError(f"no shelf for {size} bytes")


class LosesUpdates(ShelfPool):
    """The first thread of a burst writes back how much was left before the others began.

    It reads that, lets the others begin, and goes on when they have ended. So the race happens
    whenever threads meet, however they are scheduled.
    """

    def __init__(self, total_memory: int, poolable_size: int) -> None:
        super().__init__(total_memory, poolable_size)
        self._read = threading.Event()
        self._too_little = False

    def allocate(self, size: int, max_block_ms: int) -> Buffer:
        left = self._left
        if threading.current_thread().name != "burst-0":
            self._let_the_first_begin()
            return super().allocate(size, max_block_ms)
        self._read.set()
        for thread in threading.enumerate():
            if thread.name in ("burst-1", "burst-2", "burst-3"):
                thread.join()
        # Nobody is to wait for what is lost.
        buffer = super().allocate(size, 0 if self._too_little else max_block_ms)
        self._too_little = self._left > left - size
        self._left = left - size
        return buffer

    def deallocate(self, buffer: Buffer) -> None:
        self._let_the_first_begin()
        super().deallocate(buffer)

    def _let_the_first_begin(self) -> None:
        name = threading.current_thread().name
        if name.startswith("burst-") and name != "burst-0":
            self._read.wait()
        elif name != "burst-0":
            self._read.clear()
