"""Programs around released code that nobody here wrote; none of it is changed.

wheelproof explore --instrument none programs:kafka_pool
"""

import asyncio
import importlib
import importlib.util
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, Full, LifoQueue, PriorityQueue, Queue, SimpleQueue
from types import ModuleType

from wheelproof_explore.program import Program, Scenario, Settings, TimeMode

LONGEST_MS = 5_000


def pool_module() -> ModuleType:
    """Return kafka-python's module of the buffer pool alone: 3.12 cannot import the package."""
    if "kafka" not in sys.modules:
        found = importlib.util.find_spec("kafka")
        assert found is not None, "pip install kafka-python==2.0.2"
        for name, part in (("kafka", ""), ("kafka.producer", "/producer")):
            package = sys.modules[name] = ModuleType(name)
            package.__path__ = [
                f"{place}{part}" for place in found.submodule_search_locations or ()
            ]
    return importlib.import_module("kafka.producer.buffer")


def kafka_pool() -> Scenario:
    """One buffer, three users: who is given 5,000 ms waits for them, or gets the buffer."""
    module = pool_module()
    pool = module.SimpleBufferPool(100, 100)

    def use() -> None:
        begin = time.monotonic()
        try:
            buffer = pool.allocate(100, LONGEST_MS)
        except module.Errors.KafkaTimeoutError:
            waited = (time.monotonic() - begin) * 1000
            assert waited >= LONGEST_MS, f"given {LONGEST_MS} ms, timed out after {waited:.0f} ms"
        else:
            pool.deallocate(buffer)

    return Scenario(threads={"a": use, "b": use, "c": use})


KAFKA_POOL_IN_TIME = Program(
    name="kafka-pool-in-time",
    summary="the same, with a clock: time passes only when nothing else can happen",
    build=kafka_pool,
    settings=Settings(time=TimeMode.LAZY),
    patch_threading=True,
)


def _hand_over(queue: "Queue[int] | SimpleQueue[int]") -> Scenario:
    taken: list[int] = []

    def put() -> None:
        queue.put(1)
        queue.put(2)

    def take() -> None:
        taken.append(queue.get())

    def check() -> None:
        assert sorted(taken) == [1, 2]

    return Scenario(threads={"producer": put, "one": take, "other": take}, check=check)


def queue_fifo() -> Scenario:
    """A queue with one place, a producer and two consumers."""
    return _hand_over(Queue(1))


def queue_lifo() -> Scenario:
    """The same, last in, first out."""
    return _hand_over(LifoQueue(1))


def queue_priority() -> Scenario:
    """The same, by priority."""
    return _hand_over(PriorityQueue(1))


def queue_simple() -> Scenario:
    """The same, without a bound."""
    return _hand_over(SimpleQueue())


def queue_join() -> Scenario:
    """Who joins a queue goes on when all that was put has been worked on, and not before."""
    queue: Queue[int] = Queue()
    queue.put(1)
    done: list[int] = []

    def work() -> None:
        done.append(queue.get())
        queue.task_done()

    def join() -> None:
        queue.join()
        assert done == [1]

    return Scenario(threads={"worker": work, "joins": join})


def queue_times_out() -> Scenario:
    """Put and get with time-outs: what was put is taken, or still there."""
    queue: Queue[int] = Queue(1)
    put: list[int] = []
    taken: list[int] = []

    def offer() -> None:
        for item in (1, 2):
            try:
                queue.put(item, timeout=1)
            except Full:
                continue
            put.append(item)

    def poll() -> None:
        try:
            taken.append(queue.get(timeout=1))
        except Empty:
            return

    def check() -> None:
        while not queue.empty():
            taken.append(queue.get_nowait())
        assert taken == put

    return Scenario(threads={"offers": offer, "polls": poll}, check=check)


def pool_of_threads() -> None:
    """Two tasks on a pool of one thread, both awaited, and the pool shut down."""
    with ThreadPoolExecutor(1) as pool:
        futures = [pool.submit(pow, 2, number) for number in (1, 2)]
        assert [future.result() for future in futures] == [2, 4]


def pool_waits_for_itself() -> None:
    """A task that waits for another one of the same pool, which has one thread."""
    pool = ThreadPoolExecutor(1)
    outer = pool.submit(lambda: pool.submit(pow, 2, 2).result())
    assert outer.result() == 4


def cachetools_cached() -> Scenario:
    """A cached function is called by two threads with the same key."""
    cachetools = importlib.import_module("cachetools")
    calls: list[int] = []

    def square(number: int) -> int:
        calls.append(number)
        return number * number

    cached = cachetools.cached({}, lock=threading.Lock())(square)

    def call() -> None:
        assert cached(3) == 9

    def check() -> None:
        assert calls == [3], f"called {len(calls)} times for one key"

    return Scenario(threads={"a": call, "b": call}, check=check)


def cachetools_condition() -> Scenario:
    """The same with a condition, which is there to prevent a stampede."""
    cachetools = importlib.import_module("cachetools")
    calls: list[int] = []
    cached = cachetools.cached({}, condition=threading.Condition())(calls.append)

    def check() -> None:
        assert calls == [3], f"called {len(calls)} times for one key"

    return Scenario(threads=dict.fromkeys(("a", "b"), lambda: cached(3)), check=check)


def _readers_and_writers(kind: str) -> Scenario:
    lock = getattr(importlib.import_module("readerwriterlock.rwlock"), kind)()
    counter = [0]

    def write() -> None:
        with lock.gen_wlock():
            before = counter[0]
            lock_of_another_kind.acquire()
            counter[0] = before + 1
            lock_of_another_kind.release()

    def read() -> None:
        with lock.gen_rlock():
            before = counter[0]
            lock_of_another_kind.acquire()
            lock_of_another_kind.release()
            assert counter[0] == before

    def check() -> None:
        assert counter == [2]

    lock_of_another_kind = threading.Lock()
    return Scenario(threads={"writes": write, "writes too": write, "reads": read}, check=check)


def rwlock_fair() -> Scenario:
    """Two writers and a reader of readerwriterlock's fair lock."""
    return _readers_and_writers("RWLockFair")


def rwlock_read() -> Scenario:
    """The same, readers first."""
    return _readers_and_writers("RWLockRead")


def rwlock_write() -> Scenario:
    """The same, writers first."""
    return _readers_and_writers("RWLockWrite")


def expiringdict_iteration() -> Scenario:
    """One thread goes through a cache, another one adds to it."""
    cache = importlib.import_module("expiringdict").ExpiringDict(max_len=10, max_age_seconds=60)
    cache["a"] = cache["b"] = 1

    def sum_up() -> None:
        assert sum(cache[key] for key in cache) in (2, 3)

    def add() -> None:
        cache["c"] = 1

    return Scenario(threads={"sums up": sum_up, "adds": add})


def expiringdict_items() -> Scenario:
    """The same by way of `items`, which copies."""
    cache = importlib.import_module("expiringdict").ExpiringDict(max_len=10, max_age_seconds=60)
    cache["a"] = cache["b"] = 1

    def add() -> None:
        cache["c"] = 1

    def sum_up() -> None:
        assert sum(value for _, value in cache.items()) in (2, 3)

    return Scenario(threads={"sums up": sum_up, "adds": add})


def circuitbreaker_counts() -> Scenario:
    """Two calls fail through one circuit breaker, which counts failures."""
    breaker = importlib.import_module("circuitbreaker").CircuitBreaker(failure_threshold=2)

    def fail() -> None:
        with suppress(ZeroDivisionError):
            breaker.call(divmod, 1, 0)

    def check() -> None:
        assert breaker.failure_count == 2, f"2 failures, counted {breaker.failure_count}"

    return Scenario(threads={"a": fail, "b": fail}, check=check)


async def wait_for_swallows_a_cancellation() -> None:
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


def kafka_pool_out_of_turn() -> Scenario:
    """One buffer, which is lent, and two who wait for it while it is given back."""
    module = pool_module()
    pool = module.SimpleBufferPool(100, 100)
    lent = pool.allocate(100, LONGEST_MS)

    def wait() -> None:
        # The ValueError is that of the waiter who was passed over, as `kafka_pool` shows.
        with suppress(module.Errors.KafkaTimeoutError, ValueError):
            pool.deallocate(pool.allocate(100, LONGEST_MS))

    threads = {"one": wait, "other": wait, "owner": lambda: pool.deallocate(lent)}
    return Scenario(threads=threads)
