"""Asyncio tasks that share an object of a released package, one of them cancelled or late.

Each docstring says how. `python -m wheelproof_lab corpus` installs the releases and runs them all.
"""

import asyncio
from importlib import import_module
from typing import Any


async def _use(lock: Any) -> None:
    async with lock:
        await asyncio.sleep(0)


async def anyio_lock_cancelled() -> None:
    """A waiter is cancelled as the lock is released: the next to come waits for a free lock."""
    lock = import_module("anyio").Lock(fast_acquire=True)
    _holder, first, second = (asyncio.create_task(_use(lock)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await second


async def anyio_semaphore_cancelled() -> None:
    """A waiter is cancelled as the place gets free: the next to come waits for a free place."""
    semaphore = import_module("anyio").Semaphore(1, fast_acquire=True)
    _holder, first, second = (asyncio.create_task(_use(semaphore)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await second


async def anyio_limiter_exceeded() -> None:
    """The token goes to a waiter that has not run yet, and a newcomer takes it as well."""
    limiter = import_module("anyio").CapacityLimiter(1)

    async def use() -> None:
        async with limiter:
            assert limiter.available_tokens >= 0, f"{limiter.borrowed_tokens} tokens lent"
            await asyncio.sleep(0)

    await asyncio.gather(use(), use(), use())


async def anyio_limiter_cancelled() -> None:
    """A waiter that was given the token is cancelled before it runs: the token is lost."""
    limiter = import_module("anyio").CapacityLimiter(1)
    _holder, first, second = (asyncio.create_task(_use(limiter)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await second


async def anyio_condition_cancelled() -> None:
    """One item, two consumers: the notified one is cancelled, the other is never told."""
    anyio = import_module("anyio")
    condition, items = anyio.Condition(anyio.Lock(fast_acquire=True)), list[int]()

    async def consume() -> None:
        async with condition:
            while not items:
                await condition.wait()
            items.pop()

    async def produce() -> None:
        async with condition:
            items.append(1)
            condition.notify()

    impatient, patient = asyncio.create_task(consume()), asyncio.create_task(consume())
    producer = asyncio.create_task(produce())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, producer, return_exceptions=True)
    if not items:
        await produce()
    await patient


async def asyncio_condition_cancelled() -> None:
    """One item, two consumers: the notified one is cancelled, the other is never told."""
    condition, items = asyncio.Condition(), list[int]()

    async def consume() -> None:
        async with condition:
            while not items:
                await condition.wait()
            items.pop()

    async def produce() -> None:
        async with condition:
            items.append(1)
            condition.notify()

    impatient, patient = asyncio.create_task(consume()), asyncio.create_task(consume())
    producer = asyncio.create_task(produce())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.gather(impatient, producer, return_exceptions=True)
    if not items:
        await produce()
    await patient


async def fair_rlock_two_owners() -> None:
    """The lock is released to a waiter that has not run yet, and a newcomer takes it as well."""
    lock = import_module("fair_async_rlock").FairAsyncRLock()
    inside = 0

    async def use() -> None:
        nonlocal inside
        async with lock:
            inside += 1
            assert inside == 1, f"{inside} tasks hold the lock"
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(use(), use(), use())


async def fair_rlock_cancelled() -> None:
    """The waiter that the lock was released to is cancelled before it runs: nobody is woken."""
    lock = import_module("fair_async_rlock").FairAsyncRLock()
    holder, first, second = (asyncio.create_task(_use(lock)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(holder, first, return_exceptions=True)
    await second


async def aiorwlock_reader_cancelled() -> None:
    """A reader that waits is cancelled: one reader less than none is counted, so none may write."""
    lock = import_module("aiorwlock").RWLock(fast=True)
    writer, reader = asyncio.create_task(_use(lock.writer)), asyncio.create_task(_use(lock.reader))
    await asyncio.sleep(0)
    reader.cancel()
    await asyncio.gather(writer, reader, return_exceptions=True)
    await _use(lock.writer)


async def aiorwlock_writer_cancelled() -> None:
    """A writer that waits for a reader is cancelled: then the lock admits nobody any more."""
    lock = import_module("aiorwlock").RWLock(fast=True)
    reader, writer = asyncio.create_task(_use(lock.reader)), asyncio.create_task(_use(lock.writer))
    await asyncio.sleep(0)
    writer.cancel()
    await asyncio.gather(reader, writer, return_exceptions=True)
    await _use(lock.reader)


async def aiorwlock_two_writers() -> None:
    """The lock is released to a writer that has not run yet, and another takes it as well."""
    lock = import_module("aiorwlock").RWLock(fast=True)
    inside = 0

    async def write() -> None:
        nonlocal inside
        async with lock.writer:
            inside += 1
            assert inside == 1, f"{inside} writers at once"
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(write(), write(), write())
