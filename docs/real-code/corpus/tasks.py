"""Asyncio tasks that share an object of a released package, one of them cancelled or late.

Each docstring says how. `python -m wheelproof_lab pages corpus` installs the releases and runs all.
"""

import asyncio
import sys
from contextlib import suppress
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock, patch


async def _use(lock: Any) -> None:
    async with lock:
        await asyncio.sleep(0)


async def _one_of_two_waiters_cancelled(lock: Any) -> None:
    _holder, first, second = (asyncio.create_task(_use(lock)) for _ in range(3))
    await asyncio.sleep(0)
    first.cancel()
    await second


async def _three_one_by_one(lock: Any) -> None:
    inside = 0

    async def use() -> None:
        nonlocal inside
        async with lock:
            inside += 1
            assert inside == 1, f"{inside} tasks hold the lock"
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(use(), use(), use())


async def anyio_lock_cancelled() -> None:
    """A waiter is cancelled as the lock is released: the next to come waits for a free lock."""
    await _one_of_two_waiters_cancelled(import_module("anyio").Lock(fast_acquire=True))


async def anyio_semaphore_cancelled() -> None:
    """A waiter is cancelled as the place gets free: the next to come waits for a free place."""
    await _one_of_two_waiters_cancelled(import_module("anyio").Semaphore(1, fast_acquire=True))


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
    await _one_of_two_waiters_cancelled(import_module("anyio").CapacityLimiter(1))


async def _two_consumers(condition: Any) -> None:
    """One item, two consumers: the notified one is cancelled, the other has to be told."""
    items = list[int]()

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


async def anyio_condition_cancelled() -> None:
    """One item, two consumers: the notified one is cancelled, the other is never told."""
    anyio = import_module("anyio")
    await _two_consumers(anyio.Condition(anyio.Lock(fast_acquire=True)))


async def asyncio_condition_cancelled() -> None:
    """One item, two consumers: the notified one is cancelled, the other is never told."""
    await _two_consumers(asyncio.Condition())


async def fair_rlock_two_owners() -> None:
    """The lock is released to a waiter that has not run yet, and a newcomer takes it as well."""
    await _three_one_by_one(import_module("fair_async_rlock").FairAsyncRLock())


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
    await _three_one_by_one(import_module("aiorwlock").RWLock(fast=True).writer)


async def redis_connect_cancelled() -> None:
    """A task is cancelled while it connects: it waits for ever for a lock that it holds itself."""
    redis = import_module("redis.asyncio")

    async def connect(_connection: object) -> None:
        await asyncio.sleep(0)

    async def can_read(_connection: object) -> bool:
        return False

    methods = {"connect": connect, "can_read_destructive": can_read}
    kind = type("Connection", (redis.Connection,), methods)
    pool = redis.BlockingConnectionPool(1, timeout=None, connection_class=kind)
    task = asyncio.create_task(pool.get_connection("GET"))
    await asyncio.sleep(0)
    task.cancel()
    results = await asyncio.gather(task, return_exceptions=True)
    if isinstance(results[0], BaseException):
        await pool.get_connection("GET")


async def redis_anothers_answer() -> None:
    """A task is cancelled while it waits for its answer: the next command is given that answer."""
    redis = import_module("redis.asyncio")
    tasks: list[asyncio.Task[None]] = []

    async def answer(reader: asyncio.StreamReader, command: list[bytes]) -> None:
        await asyncio.sleep(0)
        reader.feed_data(b"$" + b"".join(command).split(b"$")[-1])

    async def connect(**_options: object) -> tuple[asyncio.StreamReader, Mock]:
        reader, writer = asyncio.StreamReader(), Mock(drain=AsyncMock(), wait_closed=AsyncMock())
        writer.transport.get_extra_info.return_value = None
        writer.writelines = lambda data: tasks.append(asyncio.create_task(answer(reader, data)))
        return reader, writer

    with patch("asyncio.open_connection", connect):
        client = redis.Redis(max_connections=1)
        task = asyncio.create_task(client.get("a"))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        got = await client.get("b")
    assert got == b"b", f"asked for b, got {got}"


async def asyncio_wait_for_cancelled() -> None:
    """An item comes at the moment at which the task that waits for it is cancelled."""
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def take() -> int:
        return await asyncio.wait_for(queue.get(), 5)

    async def put() -> None:
        queue.put_nowait(1)

    task, putting = asyncio.create_task(take()), asyncio.create_task(put())
    await asyncio.sleep(0)
    promised = task.cancel()
    await asyncio.wait([task, putting])
    assert task.cancelled() or not promised, "cancel() answered True, and the task went on"


async def aiomysql_closed_connection() -> None:
    """A connection that was closed comes back to the pool: a task that waits is never told."""
    pools = import_module("aiomysql.pool")
    made: list[Mock] = []

    def connect(**_settings: object) -> Mock:
        reader = Mock(eof_received=False, at_eof=lambda: False, exception=lambda: None)
        connection = Mock(closed=False, _reader=reader, get_transaction_status=lambda: False)
        connection.close = lambda: setattr(connection, "closed", True)
        made.append(connection)
        return connection

    async def use(pool: Any) -> None:
        async with pool.acquire() as connection:
            await asyncio.sleep(0)
            if connection is made[0]:
                connection.close()

    with patch.object(pools, "connect", AsyncMock(side_effect=connect)):
        pool = await pools.create_pool(minsize=0, maxsize=1)
        await asyncio.gather(use(pool), use(pool))


async def aiojobs_limit_exceeded() -> None:
    """Two jobs wait for their turn, the later one is closed: the other begins at once."""
    running = 0
    scheduler = import_module("aiojobs").Scheduler(limit=1, close_timeout=None)

    async def work() -> None:
        nonlocal running
        running += 1
        assert running == 1, f"a limit of one, {running} jobs run"
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        running -= 1

    jobs = [await scheduler.spawn(work()) for _ in range(3)]
    await jobs[2].close()
    await jobs[1].wait()


async def async_lru_forgets() -> None:
    """A call that was invalidated fails, and takes the value of the next call with it."""
    calls = 0

    async def number_of_call() -> int:
        nonlocal calls
        calls += 1
        number = calls
        await asyncio.sleep(0)
        assert number > 1, "the first call fails"
        return number

    compute: Any = import_module("async_lru").alru_cache()(number_of_call)
    failing = asyncio.create_task(compute())
    await asyncio.sleep(0)
    compute.cache_invalidate()
    kept = asyncio.create_task(compute())
    ends: list[object] = await asyncio.gather(failing, kept, return_exceptions=True)
    if isinstance(ends[1], int):
        assert await compute() == ends[1], f"the value {ends[1]} was computed again"


async def httpcore_cancelled() -> None:
    """A request is cancelled on its way: its connection is never free again."""
    httpcore = import_module("httpcore")
    answer = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", b"ok"]
    backend = httpcore.AsyncMockBackend(answer * 2)
    pool = httpcore.AsyncConnectionPool(max_connections=1, network_backend=backend)

    async def get() -> None:
        async with pool.stream("GET", "http://a/") as response:
            await response.aread()

    cancelled = asyncio.create_task(get())
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    await get()


async def aiosqlite_two_closes() -> None:
    """Two tasks close a connection: its thread answers the first one and ends, the other waits."""
    connection = await import_module("aiosqlite").connect(":memory:")
    await asyncio.gather(connection.close(), connection.close())


async def aiohttp_cancelled_as_its_turn_comes() -> None:
    """A request is cancelled as a connection gets free for it: the next in the queue waits on."""
    aiohttp = import_module("aiohttp")
    made = AsyncMock(side_effect=lambda *_: Mock(should_close=False))
    kind = type("Connector", (aiohttp.BaseConnector,), {"_create_connection": made})
    connector = kind(limit=1, force_close=True)
    request = Mock(proxy=None, connection_key=Mock(is_ssl=False))

    async def use() -> None:
        connection = await connector.connect(request, [], aiohttp.ClientTimeout())
        try:
            await asyncio.sleep(0)
        finally:
            connection.release()

    tasks = [asyncio.create_task(use()) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _psycopg_pool() -> Any:
    """Import the package. What it needs of psycopg, and libpq below it, is made up."""
    errors = SimpleNamespace(OperationalError=Exception, ProgrammingError=Exception)
    psycopg = Mock(__version__="3.3.0", errors=errors)
    made: dict[str, Any] = {"": psycopg, ".errors": errors, ".pq": Mock()}
    for name, module in made.items():
        sys.modules.setdefault(f"psycopg{name}", module)
    return import_module("psycopg_pool")


async def _pool_that_connects(**sizes: int) -> Any:
    """Open a pool whose workers have not connected yet."""
    kind = _psycopg_pool().AsyncConnectionPool
    with patch.object(kind, "_start_workers"):
        pool = kind(open=False, **sizes)
        await pool.open()
    return pool


async def psycopg_worker_not_cancelled() -> None:
    """A worker of the pool is cancelled at work: it takes that for a failure, and goes on."""
    queue = asyncio.Queue[object]()
    queue.put_nowait(Mock(run=lambda: asyncio.sleep(1)))
    worker = asyncio.create_task(_psycopg_pool().AsyncConnectionPool.worker(queue))
    await asyncio.sleep(0)
    worker.cancel()
    await asyncio.wait([worker])


async def psycopg_two_waits() -> None:
    """Two tasks wait until the pool is full: AssertionError."""
    pool = await _pool_that_connects(min_size=1)
    said = await asyncio.gather(pool.wait(), pool.wait(), return_exceptions=True)
    assert not any(isinstance(error, AssertionError) for error in said), f"{said}"


async def psycopg_too_many_connections() -> None:
    """A pool that has grown gets a larger minimum: it grows by the difference once more."""
    pool = await _pool_that_connects(min_size=1, max_size=2)
    with suppress(_psycopg_pool().PoolTimeout):
        await pool.getconn(timeout=1)
    await pool.resize(2)
    size = pool.get_stats()["pool_size"]
    assert size <= 2, f"at most 2 connections, and {size} are made"


async def aiokafka_gives_up_too_early() -> None:
    """Two batches take 4 s each: at the second, the time of the first is subtracted once more."""
    module = import_module("aiokafka.producer.message_accumulator")
    accumulator = module.MessageAccumulator(Mock(), 10**6, 0, 30)
    partition = import_module("aiokafka").TopicPartition("topic", 0)
    read: list[int] = []

    def monotonic() -> int:
        read.append(4 * len(read))
        return read[-1]

    # A batch that is sent at once, each time. The clock says how long that took.
    accumulator._append_batch(accumulator.create_builder(), partition).drain_ready()
    with (
        patch.object(module, "time", Mock(monotonic=monotonic)),
        suppress(module.KafkaTimeoutError),
    ):
        await accumulator.add_batch(accumulator.create_builder(), partition, timeout=10)
    assert read[-1] >= 10, f"given 10 s, gave up after {read[-1]} s"
