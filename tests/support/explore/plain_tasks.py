"""Coroutines that have never heard of a model checker, and share plain state."""

import asyncio
import threading
import time


class Counter:
    def __init__(self) -> None:
        self.count = 0


async def right_turns() -> None:
    """Two turns never overlap."""
    counter = Counter()

    async def increment() -> None:
        time.time()
        counter.count += 1
        await asyncio.sleep(0)
        counter.count += 1

    await asyncio.gather(increment(), increment())
    assert counter.count == 4


async def right_hand_over_to_a_thread() -> None:
    counter, loop, done = Counter(), asyncio.get_running_loop(), asyncio.Event()

    def work() -> None:
        counter.count += 1
        loop.call_soon_threadsafe(done.set)

    counter.count += 1
    thread = threading.Thread(target=work)
    thread.start()
    await done.wait()
    counter.count += 1
    thread.join()
    assert counter.count == 3


async def lost_update_between_turns() -> None:
    counter = Counter()

    async def increment() -> None:
        before = counter.count
        time.time()
        await asyncio.sleep(0)
        counter.count = before + 1

    await asyncio.gather(increment(), increment())
    assert counter.count == 2


async def race_of_a_turn_and_a_thread() -> None:
    counter = Counter()

    def work() -> None:
        counter.count += 1

    thread = threading.Thread(target=work)
    thread.start()
    await asyncio.sleep(0)
    counter.count += 1
    thread.join()
