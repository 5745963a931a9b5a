"""For redis-py: who waits, and is passed over.

A task is cancelled in the moment in which its connection comes: from Python 3.13 on these tests
pass, since asyncio's Condition then hands the notification on. Or a newcomer takes the connection.
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


async def rounds_of(rest: Callable[[], Awaitable[None]]) -> int:
    """Let a task wait while another uses the only connection 100 times; `rest` is between two uses.

    Return how often that one gave it back before the first had it.
    """
    pool = connections.BlockingConnectionPool(
        max_connections=1, timeout=None, connection_class=Idle
    )
    lent = await pool.get_connection()
    first = asyncio.create_task(pool.get_connection())
    await turns()
    for given_back in range(1, 101):
        await pool.release(lent)
        await rest()
        if first.done():
            return given_back
        lent = await pool.get_connection()
    first.cancel()
    await turns()
    return 101


async def nothing() -> None:
    """Go on at once."""


def test_a_newcomer_does_not_take_the_connection_of_a_task_that_waits() -> None:
    """As when a task sends one command after the other."""
    assert asyncio.run(rounds_of(nothing)) <= 100


def test_a_task_that_waits_gets_the_connection_if_nobody_comes_before_it_runs() -> None:
    """This one passes."""
    assert asyncio.run(rounds_of(turns)) == 1
