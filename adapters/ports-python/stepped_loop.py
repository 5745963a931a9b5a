"""An event loop whose clock is set from outside, for the ports that are made of coroutines."""

import asyncio

ITERATIONS = 40
"""More iterations of the loop than any chain of callbacks in a port takes."""


class Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock is set from outside, in float seconds as in asyncio."""

    now_s = 0.0

    def time(self) -> float:
        """Return the time in seconds."""
        return self.now_s

    def settle(self) -> None:
        """Run the loop until nothing can go on."""

        async def idle() -> None:
            for _ in range(ITERATIONS):
                await asyncio.sleep(0)

        self.run_until_complete(idle())

    def end(self) -> None:
        """Cancel what still waits, and close the loop."""
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.settle()
        self.close()
