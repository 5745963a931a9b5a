"""Programs about the main thread, and about what asyncio's own code does with tasks.

They belong to the module of `insides`, whose names they use.
"""

PROGRAMS = """
import asyncio
async def given(number):
    await asyncio.sleep(0)
    return number
def wrong_order_of_completion():
    # Python makes a set of the coroutines, whose order depends on their addresses.
    async def main():
        some = [given(number) for number in range(3)]
        got = [await one for one in asyncio.as_completed(some)]
        assert got == [0, 1, 2]
    asyncio.run(main())
def wrong_time_out_of_completion():
    async def main():
        for one in asyncio.as_completed([given(1), given(2)], timeout=1):
            try: await one
            except TimeoutError: raise AssertionError
    asyncio.run(main())
def right_results_as_they_complete():
    async def main():
        got = [await one for one in asyncio.as_completed([given(1), given(2)])]
        assert sorted(got) == [1, 2]
    asyncio.run(main())
def right_tasks_as_they_complete():
    async def main():
        tasks = [asyncio.create_task(given(number)) for number in range(2)]
        got = [await one for one in asyncio.as_completed(tasks)]
        assert sorted(got) == [0, 1] and all(one.done() for one in tasks)
    asyncio.run(main())
# Who drops an asynchronous generator before its end has a task of the loop end it.
async def numbers_with_an_end(seen):
    try:
        for number in range(3): yield number
    finally:
        n = seen.n
        await asyncio.sleep(0)
        seen.n = n + 1
async def first_number(seen):
    async for number in numbers_with_an_end(seen): return number
def wrong_ends_of_dropped_generators():
    seen = Seen()
    async def main():
        await asyncio.gather(first_number(seen), first_number(seen))
        while seen.n == 0: await asyncio.sleep(0)
    asyncio.run(main())
    assert seen.n == 2
def wrong_end_before_the_loop_ends():
    seen = Seen()
    async def main():
        seen.numbers = numbers_with_an_end(seen)
        await asyncio.gather(anext(seen.numbers), asyncio.sleep(0))
    asyncio.run(main())
    assert seen.n == 0
def right_end_before_the_loop_ends():
    seen, lock = Seen(), threading.Lock()
    async def main():
        seen.numbers = numbers_with_an_end(seen)
        with lock: await asyncio.gather(anext(seen.numbers), asyncio.sleep(0))
    asyncio.run(main())
    assert seen.n == 1
def right_end_by_aclosing():
    seen = Seen()
    async def one():
        async with contextlib.aclosing(numbers_with_an_end(seen)) as numbers:
            return await anext(numbers)
    async def main():
        lock = asyncio.Lock()
        async def locked():
            async with lock: await one()
        await asyncio.gather(locked(), locked())
    asyncio.run(main())
    assert seen.n == 2
def is_main(): return threading.current_thread() is threading.main_thread()
def wrong_worker_is_no_main_thread():
    lock, seen = threading.Lock(), Seen()
    def work():
        with lock: seen.n += 1
    two(work, work)
    assert not is_main()
def wrong_count_of_threads():
    lock, seen = threading.Lock(), Seen()
    def work():
        with lock: seen.n += 1
        assert threading.active_count() == 1
    two(work, work)
def wrong_thread_of_a_callback():
    # Who adds it to a future that is done calls it.
    with ThreadPoolExecutor(1) as pool:
        called = []
        pool.submit(int).add_done_callback(lambda _: called.append(is_main()))
    assert called == [False]
def right_main_thread():
    lock, said = threading.Lock(), []
    def work():
        with lock: said.append(is_main())
    work()
    two(work, work)
    assert said == [True, False, False]
def right_main_thread_that_workers_ask_for_first():
    lock, said = threading.Lock(), []
    def work():
        with lock: said.append(threading.main_thread())
    two(work, work)
    assert said == [threading.current_thread()] * 2
    assert threading.enumerate() == [said[0]] and said[0].name == "MainThread"
"""
