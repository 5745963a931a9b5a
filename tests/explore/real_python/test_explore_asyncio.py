"""Coroutines: every order of ready callbacks and timers, and cancellation at every await."""

import asyncio
import gc
import sys
import threading
import time
from collections.abc import AsyncGenerator, Callable, Coroutine

import pytest

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.result import Exploration
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.tasks.loop import cancel_anywhere
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow

_MENDED = sys.version_info >= (3, 12)
"""Whether asyncio.wait_for makes no task of its own."""
_Main = Callable[[], Coroutine[object, object, None] | None]


def _explored(main: _Main, options: Options | None = None) -> Exploration:
    program = threading_program(main.__name__, main)
    assert program is not None
    return explore(program, options or Options(keep_going=True))


async def _two(count: Callable[[], Coroutine[object, object, None]]) -> None:
    await asyncio.gather(count(), count())


async def lost_update() -> None:
    counter = [0]

    async def count() -> None:
        before = counter[0]
        await asyncio.sleep(0)
        counter[0] = before + 1

    await _two(count)
    assert counter == [2], counter


async def update_under_a_lock() -> None:
    counter, lock = [0], asyncio.Lock()

    async def count() -> None:
        async with lock:
            before = counter[0]
            await asyncio.sleep(0)
            counter[0] = before + 1

    await _two(count)
    assert counter == [2]


async def update_with_a_place() -> None:
    counter, places = [0], asyncio.Semaphore(1)

    async def count() -> None:
        async with places:
            before = counter[0]
            await asyncio.sleep(0)
            counter[0] = before + 1

    await _two(count)
    assert counter == [2]


async def locks_in_two_orders() -> None:
    locks = asyncio.Lock(), asyncio.Lock()

    async def take(first: int) -> None:
        async with locks[first]:
            await asyncio.sleep(0)
            async with locks[1 - first]:
                pass

    await asyncio.gather(take(0), take(1))


async def queue_with_one_place() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue(1)

    async def put() -> None:
        for number in range(3):
            await queue.put(number)

    async with asyncio.TaskGroup() as group:
        group.create_task(put())
        assert [await queue.get() for _ in range(3)] == [0, 1, 2]


async def event_and_condition() -> None:
    event, changed, come = asyncio.Event(), asyncio.Condition(), list[int]()

    async def wait() -> None:
        await event.wait()
        async with changed:
            come.append(1)
            changed.notify_all()

    tasks = [asyncio.create_task(wait()) for _ in range(2)]
    event.set()
    async with changed:
        await changed.wait_for(lambda: len(come) == 2)
    await asyncio.gather(*tasks)


async def wait_for_an_item() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue()
    got: list[int] = []

    async def get() -> None:
        try:
            got.append(await asyncio.wait_for(queue.get(), 1))
        except TimeoutError:
            return

    task = asyncio.create_task(get())
    queue.put_nowait(1)
    await task
    assert got or queue.qsize() == 1


async def timers_in_order() -> None:
    rung: list[int] = []
    loop = asyncio.get_running_loop()
    loop.call_later(2, rung.append, 2)
    loop.call_later(1, rung.append, 1)
    cancelled = loop.call_later(1.5, rung.append, 3)
    cancelled.cancel()
    await asyncio.sleep(3)
    assert rung == [1, 2]
    assert loop.time() == 3


async def timers_that_are_due_together() -> None:
    rung: list[int] = []
    loop = asyncio.get_running_loop()
    loop.call_later(1, rung.append, 1)
    loop.call_later(1, rung.append, 2)
    await asyncio.sleep(2)
    assert rung == [1, 2]


async def cancelled_with_a_lock() -> None:
    lock = asyncio.Lock()

    async def use() -> None:
        async with lock:
            await asyncio.sleep(1)

    task = asyncio.create_task(use())
    cancel_anywhere(task)
    await asyncio.wait([task])
    assert not lock.locked()


async def cancelled_between_two() -> None:
    balance = [1, 1]

    async def move() -> None:
        balance[0] -= 1
        await asyncio.sleep(0)
        balance[1] += 1

    task = asyncio.create_task(move())
    cancel_anywhere(task)
    await asyncio.wait([task])
    assert sum(balance) == 2, balance


async def wait_for_swallows_a_cancellation() -> None:
    """What asyncio.wait_for of Python 3.11 does if both come at once; 3.12 has mended it."""
    queue: asyncio.Queue[int] = asyncio.Queue()

    async def get() -> int:
        return await asyncio.wait_for(queue.get(), 5)

    task = asyncio.create_task(get())

    async def put() -> None:
        queue.put_nowait(1)

    putting = asyncio.create_task(put())
    await asyncio.sleep(0)
    asked = task.cancel()
    await asyncio.wait([task, putting])
    assert task.cancelled() or not asked, "cancelled in vain"


async def nobody_asks() -> None:
    async def fail() -> None:
        raise ValueError("never retrieved")

    task = asyncio.create_task(fail())
    await asyncio.sleep(1)
    assert task.get_name() == "fail"


async def on_a_thread() -> None:
    done = threading.Event()
    assert await asyncio.to_thread(pow, 2, 3) == 8
    assert not done.is_set()


async def steps_inside_turns() -> None:
    """A turn with steps of its own, such as a look at the clock, has every place among turns."""
    counter = [0]

    async def count() -> None:
        before = counter[0]
        time.time()
        await asyncio.sleep(0)
        counter[0] = before + 1

    await _two(count)
    assert counter == [2], counter


async def steps_after_the_last_change() -> None:
    counter, lock = [0], threading.Lock()

    async def count() -> None:
        before = counter[0]
        await asyncio.sleep(0)
        with lock:
            counter[0] = before + 1

    await _two(count)
    assert counter == [2], counter


async def on_two_threads() -> None:
    loop = asyncio.get_running_loop()
    calls = (loop.run_in_executor(None, pow, 2, number) for number in (3, 4))
    assert await asyncio.gather(*calls) == [8, 16]


async def a_thread_that_wakes_a_busy_loop() -> None:
    loop = asyncio.get_running_loop()
    woken = loop.create_future()
    thread = threading.Thread(target=loop.call_soon_threadsafe, args=(woken.set_result, None))
    thread.start()
    thread.join()
    await woken


async def a_thread_comes_between_two_callbacks() -> None:
    """The order in which callbacks are scheduled, one of them by a thread during a turn."""
    loop, called, lock = asyncio.get_running_loop(), list[int](), threading.Lock()
    thread = threading.Thread(target=loop.call_soon_threadsafe, args=(called.append, 2))
    thread.start()
    loop.call_soon(called.append, 1)
    with lock:
        pass
    loop.call_soon(called.append, 3)
    thread.join()
    await asyncio.sleep(1)
    assert called != [1, 2, 3]


async def a_thread_has_no_running_loop() -> None:
    found, lock = list[object](), threading.Lock()

    def look() -> None:
        with lock:
            found.append(asyncio._get_running_loop())

    thread = threading.Thread(target=look)
    thread.start()
    with lock:
        assert asyncio.get_running_loop()
    thread.join()
    assert found == [None]
    assert asyncio.get_running_loop()


async def a_call_that_is_cancelled_before_it_begins() -> None:
    begun: list[int] = []
    call = asyncio.get_running_loop().run_in_executor(None, begun.append, 1)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()


def the_loop_waits_for_its_threads() -> None:
    done: list[int] = []

    async def main() -> None:
        asyncio.get_running_loop().run_in_executor(None, done.append, 1)

    asyncio.run(main())
    assert done == [1]


def a_closed_loop_takes_no_calls() -> None:
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        await asyncio.create_task(asyncio.sleep(0))

    asyncio.run(main())
    assert loops[0].is_closed()
    with pytest.raises(RuntimeError, match="Event loop is closed"):
        loops[0].call_soon_threadsafe(print)


_asked_later: list[bool] = []


class _KeptByItself:
    """What only the garbage collector removes, and then it asks whether its loop is closed."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.itself = self

    def __del__(self) -> None:
        _asked_later.append(self.loop.is_closed())


async def leaves_work_for_the_garbage_collector() -> None:
    _KeptByItself()
    await asyncio.sleep(0)


def test_the_loop_of_a_run_that_has_ended_is_closed() -> None:
    _explored(leaves_work_for_the_garbage_collector)
    gc.collect()
    assert _asked_later
    assert all(_asked_later)


async def opens_a_connection() -> None:
    await asyncio.open_connection("localhost", 9)


_PASS: dict[_Main, int] = {
    cancelled_with_a_lock: 9,
    event_and_condition: 4,
    on_a_thread: 15,
    on_two_threads: 137,
    a_call_that_is_cancelled_before_it_begins: 36,
    a_closed_loop_takes_no_calls: 1,
    a_thread_has_no_running_loop: 2,
    a_thread_that_wakes_a_busy_loop: 1,
    the_loop_waits_for_its_threads: 30,
    queue_with_one_place: 2,
    timers_in_order: 1,
    update_under_a_lock: 12,
    update_with_a_place: 12,
    wait_for_an_item: 1 if _MENDED else 13,
    **({wait_for_swallows_a_cancellation: 37} if _MENDED else {}),
}
_TOO_LARGE = {
    on_a_thread,
    on_two_threads,
    a_call_that_is_cancelled_before_it_begins,
    the_loop_waits_for_its_threads,
}
"""Programs that brute force does not finish."""
_FAIL: dict[_Main, str] = {
    cancelled_between_two: "[0, 1]",
    locks_in_two_orders: "main waits on locks_in_two_orders, line",
    lost_update: "[1]",
    nobody_asks: "ValueError: never retrieved",
    a_thread_comes_between_two_callbacks: "[1, 2, 3]",
    steps_after_the_last_change: "[1]",
    steps_inside_turns: "[1]",
    timers_that_are_due_together: "AssertionError",
    **({} if _MENDED else {wait_for_swallows_a_cancellation: "cancelled in vain"}),
}


@pytest.mark.parametrize("main", _PASS, ids=lambda main: main.__name__)
def test_every_order_passes(main: _Main) -> None:
    result = _explored(main)
    assert (result.verdict(), result.classes) == (Verdict.PASS, _PASS[main]), result.summary()
    assert result.runs == result.classes


@pytest.mark.parametrize("main", _FAIL, ids=lambda main: main.__name__)
def test_an_order_that_fails_is_found_and_repeated(main: _Main) -> None:
    result = _explored(main, Options())
    found = result.counterexample
    assert found is not None, result.summary()
    assert _FAIL[main] in result.summary()
    again = _explored(main, Options(engine=Engine.REPLAY, schedule=found.schedule))
    assert again.counterexample is not None
    assert again.counterexample.failure.kind is found.failure.kind


@pytest.mark.parametrize("main", [lost_update, *(main for main in _PASS if main not in _TOO_LARGE)])
def test_both_substrates_and_the_brute_engine_agree(main: _Main) -> None:
    options = (
        Options(keep_going=True),
        Options(keep_going=True, substrate=SubstrateKind.THREADS),
        Options(keep_going=True, engine=Engine.BRUTE),
    )
    assert len({_explored(main, option).digest for option in options}) == 1


def test_what_the_loop_has_not_is_refused() -> None:
    with pytest.raises(ProgramRejectedError, match="asks the event loop for create_connection"):
        _explored(opens_a_connection)


def test_a_loop_of_ones_own_is_refused() -> None:
    def main() -> None:
        asyncio.new_event_loop().run_until_complete(asyncio.sleep(0))

    with pytest.raises(ProgramRejectedError, match=r"give the coroutine to asyncio\.run\(\)"):
        _explored(main)


async def begins_a_generator_when_cancelled() -> None:
    async def numbers() -> AsyncGenerator[int]:
        yield 1
        yield 2

    kept: list[AsyncGenerator[int]] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            kept.append(numbers())
            await anext(kept[0])

    await asyncio.wait([asyncio.create_task(waits())], timeout=1)


def test_a_generator_that_nobody_ends_is_refused() -> None:
    with pytest.raises(ProgramRejectedError, match="begins an asynchronous generator"):
        _explored(begins_a_generator_when_cancelled)


def test_outside_of_runs_asyncio_is_as_ever() -> None:
    _explored(update_under_a_lock)
    asyncio.run(update_under_a_lock())
