"""For redis-py: a task that is cancelled in the moment in which its connection comes.

From Python 3.13 on both pass, since asyncio's Condition then hands the notification on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

connections = pytest.importorskip("redis.asyncio.connection")


class Idle:
    """A connection to nothing, as the pool uses one."""

    def __init__(self, **_: object) -> None:
        """Take the settings of a real one."""

    async def connect(self) -> None:
        """Connect."""

    async def disconnect(self) -> None:
        """Disconnect."""

    async def re_auth(self) -> None:
        """Authenticate again."""

    async def can_read(self) -> bool:
        """Return whether unread data are there."""
        return False

    def should_reconnect(self) -> bool:
        """Return whether a release has to reconnect."""
        return False


async def turns() -> None:
    """Let all tasks go on that can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def second_of(give_back: Callable[[Any, Any, asyncio.Task[Any]], Awaitable[None]]) -> str:
    """Lend the only connection, let two tasks wait for it, and say what the second one gets."""
    pool = connections.BlockingConnectionPool(
        max_connections=1, timeout=None, connection_class=Idle
    )
    lent = await pool.get_connection()
    first, second = (asyncio.create_task(pool.get_connection()) for _ in range(2))
    await turns()
    await give_back(pool, lent, first)
    await turns()
    told = "a connection" if second.done() else "nothing: it waits"
    second.cancel()
    await turns()
    return told


async def cancel_as_it_comes(pool: Any, lent: Any, first: asyncio.Task[Any]) -> None:
    """Release the connection and cancel the first task before it runs."""
    await pool.release(lent)
    first.cancel()


async def cancel_before_it_comes(pool: Any, lent: Any, first: asyncio.Task[Any]) -> None:
    """Cancel the first task, and release the connection behind it."""
    first.cancel()
    await turns()
    await pool.release(lent)


def test_the_next_task_gets_the_connection_of_one_that_is_cancelled_as_it_comes() -> None:
    """As when the client of a web server goes away."""
    assert asyncio.run(second_of(cancel_as_it_comes)) == "a connection"


def test_the_next_task_gets_the_connection_of_one_that_is_cancelled_before_it_comes() -> None:
    """This one passes."""
    assert asyncio.run(second_of(cancel_before_it_comes)) == "a connection"
