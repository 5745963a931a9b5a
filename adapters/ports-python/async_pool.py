#!/usr/bin/env python3
"""The BlockingConnectionPool of redis-py's asyncio client behind the protocol wheelproof.driver/1.

A buffer of the case is a connection, which never connects to anything. Waits end by the clock of a
loop that is told the time. With the word `concurrent` it also makes calls that overlap.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.metadata import version
from typing import Any

from serving import Fields, Request, serve
from stepped_loop import Loop

CONNECTION = import_module("redis.asyncio.connection")
ERRORS = import_module("redis.exceptions")


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


class Pool:
    """A BlockingConnectionPool; each allocation runs in a task of its own."""

    def __init__(self, config: dict[str, int]) -> None:
        self.loop = Loop()
        self.loop.now_s = config["start_ms"] / 1000
        size = config["total_memory"] // config["poolable_size"]
        # A pool of no connections is refused.
        make = CONNECTION.BlockingConnectionPool
        self.pool = make(max_connections=size, connection_class=Idle)
        self.ended: dict[str, str] = {}
        self.lent: dict[str, Any] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self._callers: set[asyncio.Task[None]] = set()

    def allocate(self, buffer: str, max_time_to_block_ms: int, **_: object) -> None:
        """Allocate in a new task; if the call blocks, the task stays in it."""

        async def run() -> None:
            self.ended[buffer] = await self.get(buffer, max_time_to_block_ms)

        self._tasks[buffer] = self.loop.create_task(run())

    async def get(self, buffer: str, max_time_to_block_ms: int) -> str:
        """Return how an allocation ends."""
        # The pool has one time-out for all; it is read when a call begins.
        self.pool.timeout = max_time_to_block_ms / 1000
        try:
            self.lent[buffer] = await self.pool.get_connection()
        except ERRORS.ConnectionError:
            return "exhausted"
        except asyncio.CancelledError:
            return "interrupted"
        return "buffer"

    def begin(self, caller: Coroutine[Any, Any, None]) -> None:
        """Let a caller make its calls."""
        task = self.loop.create_task(caller)
        self._callers.add(task)
        task.add_done_callback(self._callers.discard)

    async def call(self, request: Request) -> dict[str, str]:
        """Make a call of one of several callers, in its task; return what has ended."""
        match request:
            case {"op": "allocate", "args": {"buffer": buffer, "max_time_to_block_ms": limit_ms}}:
                task = asyncio.current_task()
                assert task is not None
                self._tasks[buffer] = task
                return {buffer: await self.get(buffer, limit_ms)}
            case {"op": "deallocate", "args": {"buffer": buffer}}:
                await self.pool.release(self.lent[buffer])
            case {"op": "interrupt", "args": {"name": name}}:
                self.interrupt(name)
            case _:
                raise ValueError(request["op"])
        return {}

    def deallocate(self, buffer: str) -> None:
        """Return a connection to the pool; raise KeyError if it is not lent."""
        self.loop.run_until_complete(self.pool.release(self.lent[buffer]))

    def interrupt(self, name: str) -> None:
        """Cancel the task of an allocation."""
        self._tasks[name].cancel()

    def advance(self, to_ms: int) -> None:
        """Set the clock."""
        self.loop.now_s = to_ms / 1000


def perform(port: Pool, operation: str, arguments: dict[str, Any]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    getattr(port, operation)(**arguments)
    port.loop.settle()
    ended, port.ended = port.ended, {}
    return {"ended": ended}


def together(
    port: Pool, callers: list[list[Request]], tell: Callable[[Request, Fields], None]
) -> None:
    """Make the calls of several callers, each in a task of its own; some may wait on."""

    async def run(requests: list[Request]) -> None:
        for request in requests:
            tell(request, {"ended": await port.call(request)})

    for requests in callers:
        port.begin(run(requests))
    port.loop.settle()


def main() -> None:
    """Answer requests until `bye`."""
    logging.disable()
    made: list[Pool] = []

    def make(config: dict[str, int]) -> Pool:
        while made:
            made.pop().loop.end()
        made.append(Pool(config))
        return made[0]

    who = {"impl": "redis-py asyncio BlockingConnectionPool", "version": version("redis")}
    capabilities = ["virtual_time", "interruption", *sys.argv[1:]]
    able = {"components": ["buffer_pool"], "capabilities": capabilities}
    hello: Fields = {**who, **able, "profiles": {"buffer_pool": "longest-waiting-first"}}
    serve(hello, make, perform, together)
    while made:
        made.pop().loop.end()


if __name__ == "__main__":
    main()
