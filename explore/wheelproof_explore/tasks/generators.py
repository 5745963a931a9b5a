"""The asynchronous generators of a controlled loop, which are ended as asyncio ends them.

Whoever drops the last reference to one that has not ended has a task of the loop end it. Those that
are left when all tasks have ended are ended before the loop is closed.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import cast
from weakref import ReferenceType

from wheelproof_explore.runtime.runtime import ControlledRuntime

_Some = AsyncGenerator[object, object]


class Generators:
    """The asynchronous generators that the tasks of a loop have begun.

    `hooks` are those of `sys.set_asyncgen_hooks`. When the loop is `closed`, none is ended.
    """

    def __init__(self, runtime: ControlledRuntime, loop: asyncio.AbstractEventLoop) -> None:
        self._runtime = runtime
        self._loop = loop
        # In the order in which they were begun, which is the same in every run.
        self._begun: list[ReferenceType[_Some]] = []
        self.hooks = (self._begins, self._dropped)
        self.closed = False

    def left(self) -> list[_Some]:
        """Return those that live and have not ended."""
        found = [one() for one in self._begun]
        return [one for one in found if one is not None and getattr(one, "ag_frame", None)]

    async def end_all(self) -> None:
        """End those that are left; raises the first of their exceptions."""
        ends = [one.aclose() for one in self.left()]
        results = await asyncio.gather(*ends, return_exceptions=True)
        for error in results:
            if isinstance(error, Exception):
                raise error

    def _begins(self, generator: _Some) -> None:
        self._begun.append(ReferenceType(generator))

    def _dropped(self, generator: _Some) -> None:
        runtime, thread = self._runtime, self._runtime.current
        over = runtime.closed or runtime.stop is not None or thread is None or thread.aborted
        if not over and not self.closed:
            end = cast("Coroutine[object, object, None]", generator.aclose())
            self._loop.call_soon_threadsafe(self._loop.create_task, end)
