"""Programs with tasks: what asyncio's own code does with them.

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
"""
