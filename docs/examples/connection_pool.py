"""A pool of connections, for the guide to the model checker: one version with a bug, one without.

The bug is an old one: a connection that comes back wakes one waiting thread, but a thread that
arrives meanwhile takes it first. Who was woken has to look again; `if` looks once, `while` again.
"""

from wheelproof import sync
from wheelproof_explore.program import Program, Scenario


class Pool:
    """Lends connections, each to one thread at a time."""

    def __init__(self, connections: int) -> None:
        self._lock = sync.lock("pool")
        self._returned = sync.condition(self._lock, "returned")
        self._free = connections

    def acquire(self) -> None:
        """Wait for a free connection and take it."""
        with self._lock:
            if self._free == 0:
                self._returned.wait()
            self._take()

    def release(self) -> None:
        """Give a connection back."""
        with self._lock:
            self._free += 1
            self._returned.notify()

    def _take(self) -> None:
        assert self._free > 0, "lent a connection that is in use"
        self._free -= 1


class MendedPool(Pool):
    """The same pool, in which who was woken looks again."""

    def acquire(self) -> None:
        """Wait for a free connection and take it."""
        with self._lock:
            while self._free == 0:
                self._returned.wait()
            self._take()


def three_users(pool_class: type[Pool]) -> Scenario:
    """Three threads share one connection."""
    pool = pool_class(1)
    use = [pool.acquire, pool.release]
    return Scenario(threads={"a": use, "b": use, "c": use})


def broken() -> Scenario:
    """The pool with the bug."""
    return three_users(Pool)


def mended() -> Scenario:
    """The pool without it."""
    return three_users(MendedPool)


BROKEN = Program(name="pool", summary="three users, one connection", build=broken)
MENDED = Program(name="mended-pool", summary="three users, one connection", build=mended)
