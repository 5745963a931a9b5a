"""A pool of one connection for asyncio, with a request that is cancelled while it waits.

wheelproof explore task_pool.py:broken
"""

import asyncio
import contextlib


class Pool:
    """Lends a connection to one task at a time."""

    def __init__(self) -> None:
        self._free = 1
        self._waiting: list[asyncio.Future[None]] = []

    async def acquire(self) -> None:
        """Wait for the connection and take it."""
        while self._free == 0:
            returned = asyncio.get_running_loop().create_future()
            self._waiting.append(returned)
            await returned
        self._free -= 1

    def release(self) -> None:
        """Give the connection back, and wake the task that has waited longest."""
        self._free += 1
        self._wake_one()

    def _wake_one(self) -> None:
        while self._waiting:
            returned = self._waiting.pop(0)
            if not returned.done():
                returned.set_result(None)
                return


class MendedPool(Pool):
    """The same pool, in which a task that is cancelled wakes the next one."""

    async def acquire(self) -> None:
        """Wait for the connection and take it."""
        while self._free == 0:
            returned = asyncio.get_running_loop().create_future()
            self._waiting.append(returned)
            try:
                await returned
            except asyncio.CancelledError:
                if self._free > 0:
                    self._wake_one()
                raise
        self._free -= 1


async def _two_requests(pool: Pool) -> None:
    """Two requests wait for the connection; the client of the first one goes away."""

    async def request() -> None:
        await pool.acquire()
        pool.release()

    await pool.acquire()
    first, second = asyncio.create_task(request()), asyncio.create_task(request())
    await asyncio.sleep(0)
    pool.release()
    first.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await first
    await second


async def broken() -> None:
    """The pool with the bug."""
    await _two_requests(Pool())


async def mended() -> None:
    """The pool without it."""
    await _two_requests(MendedPool())
