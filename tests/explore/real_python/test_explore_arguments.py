"""What is given to methods and functions of C is read, also what lies inside; targets of threads.

Each program has one thread that reads a container, by the call, and one that changes it. So there
are two orders to explore.
"""

import bisect
import functools
import heapq
import itertools
import operator
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Literal, cast

import pytest

from support.explore.exploring import beside_installed
from wheelproof_explore.library import explore
from wheelproof_explore.verdicts import Verdict


def _orders(read: Callable[[], object], change: Callable[[], object]) -> int:
    def program() -> None:
        threads = [threading.Thread(target=work) for work in (read, change)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return explore(program, max_runs=100).classes


def _update(held: dict[object, object]) -> None:
    into = dict[object, object]()
    into.update(held)


def _assign_slice(held: list[int]) -> None:
    into = [0, 0]
    into[:1] = held


def _sort(held: list[int]) -> None:
    into = [[2], held]
    into.sort()


def _compare(held: list[int]) -> None:
    into = [[1, 5], held]
    assert [1, 5] in into
    into.remove([1, 5])


_READS: tuple[Callable[[list[int]], object], ...] = (
    lambda held: list[int]().extend(held),
    lambda held: deque[int]().extendleft(held),
    lambda held: {1}.union(held),
    lambda held: {1}.issubset(held),
    lambda held: set[int]().update(held),
    _assign_slice,
    _sort,
    _compare,
    lambda held: [[1]].count(held),
    lambda held: [[1], held].index(held),
    lambda held: held in ([1],),
    lambda held: sorted([[1], held]),
    lambda held: max([[1], held]),
    lambda held: any([held]),
    lambda held: sum([held], list[int]()),
    lambda held: list(map(len, [held])),
    lambda held: list(filter(None, [held])),
    lambda held: list(itertools.chain.from_iterable([held])),
    lambda held: list(itertools.starmap(max, [[held, held]])),
    lambda held: list(itertools.product([held])),
    lambda held: functools.reduce(list[int].__add__, [held, held]),
    lambda held: heapq.heappush([[1, 2]], held),
    lambda held: bisect.insort([[1, 2]], held),
)


@pytest.mark.parametrize("read", _READS)
def test_what_a_call_is_given_is_read(read: Callable[[list[int]], object]) -> None:
    held = [1]
    assert _orders(lambda: read(held), lambda: held.append(2)) > 1


_READS_OF_BYTES: tuple[Callable[[bytearray], object], ...] = (
    lambda held: bytearray().extend(held),
    lambda held: bytearray(b"aa").find(held),
    lambda held: bytearray(b"a").startswith(held),
    lambda held: bytearray(b",").join([held, held]),
)


@pytest.mark.parametrize("read", _READS_OF_BYTES)
def test_what_a_bytearray_is_given_is_read(read: Callable[[bytearray], object]) -> None:
    held = bytearray(b"a")
    assert _orders(lambda: read(held), lambda: held.append(2)) > 1


def test_what_a_dict_is_given_is_read() -> None:
    held: dict[object, object] = {1: 1}
    assert _orders(lambda: _update(held), lambda: held.pop(1, None)) == 2


def test_a_container_that_is_only_kept_is_not_read() -> None:
    held, kept = [1], list[list[int]]()
    assert _orders(lambda: kept.append(held), lambda: held.append(2)) == 1


_TAKES: tuple[Callable[[Iterator[int]], object], ...] = (
    list,
    sorted,
    lambda items: max(items, default=0),
    lambda items: list[int]().extend(items),
)


@pytest.mark.parametrize("take", _TAKES)
def test_who_goes_through_an_iterator_uses_it_up(
    take: Callable[[Iterator[int]], object],
) -> None:
    def program() -> None:
        items = iter([1, 2])
        threads = [threading.Thread(target=lambda: take(items)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert explore(program).classes == 2


_POP: Callable[[list[int]], int] = list[int].pop
_APPEND: Callable[[list[int], int], None] = list[int].append
_ADD_IN_PLACE = cast("Callable[[list[int], list[int]], list[int]]", vars(operator)["iadd"])
_CALLS: tuple[Callable[[list[int]], object], ...] = (
    lambda held: [*map(_POP, [held])],
    lambda held: [each + 1 for each in map(_POP, [held])],
    lambda held: next(map(_POP, [held])),
    lambda held: sum(map(_POP, [held])),
    lambda held: deque(map(_POP, [held])),
    lambda held: sorted([held], key=_POP),
    lambda held: max([held], key=_POP),
    lambda held: functools.reduce(_ADD_IN_PLACE, [[3]], held),
    lambda held: [*filter(_POP, [held])],
    lambda held: [*itertools.takewhile(_POP, [held])],
    lambda held: [*itertools.starmap(_APPEND, [(held, 1)])],
    lambda held: [*itertools.accumulate([held, [5]], _ADD_IN_PLACE)],
    lambda held: [*map(functools.partial(_APPEND, held), [1])],
    lambda held: [*map(operator.methodcaller("pop"), [held])],
    lambda held: [*map(random.shuffle, [held])],
    lambda held: [*map(heapq.heappop, [held])],
)


@pytest.mark.parametrize("change", _CALLS)
def test_what_c_calls_with_items_changes_them(change: Callable[[list[int]], object]) -> None:
    held = [2, 1]
    assert _orders(lambda: len(held), lambda: change(held)) > 1


def test_what_c_keeps_to_call_it_later_changes_nothing() -> None:
    held = [2, 1]
    assert _orders(lambda: len(held), lambda: map(_POP, [held])) == 1
    assert _orders(lambda: len(held), lambda: functools.partial(_POP, held)) == 1


_INSTALLED = """
class Held:
    def __get__(self, one, kind=None): return vars(one).get("held", 0)
    def __set__(self, one, value): vars(one)["held"] = value
class Box:
    held = Held()
    def __init__(self): self._n = 0
    @property
    def n(self): return self._n
    @n.setter
    def n(self, value): self._n = value
    def get(self): return self._n
    def set(self, value): self._n = value
    def __call__(self): self._n += 1
class Lazy:
    def get(self): return getattr(self, "_n", 0)
    def set(self, value): self._n = value
"""
_OWN = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from installed_box import Box, Lazy
def two(*works):
    threads = [threading.Thread(target=one) for one in works]
    for one in threads: one.start()
    for one in threads: one.join()
def by_property():
    box = Box()
    def work(): box.n = box.n + 1
    two(work, work)
def by_setter_alone():
    box = Box()
    def work(): box.n = 1
    two(work, box.get)
def by_descriptor():
    box = Box()
    def work(): box.held = box.held + 1
    two(work, work)
def by_first_attribute():
    box = Lazy()
    def work(): box.set(box.get() + 1)
    two(work, work)
def by_asking_for_an_attribute():
    box = Lazy()
    def work():
        if not hasattr(box, "_n"): box.set(1)
    two(work, work)
def by_target():
    box = Box()
    two(box.get, box)
class Thread(threading.Thread):
    def __init__(self, box): super().__init__(target=box.set, args=(1,))
def by_target_of_a_subclass():
    box = Box()
    thread = Thread(box)
    thread.start(); box.get(); thread.join()
def by_timer():
    box = Box()
    timer = threading.Timer(1, box.set, (1,))
    timer.start(); box.get(); timer.join()
def by_barrier():
    box = Box()
    barrier = threading.Barrier(2, box)
    threads = [threading.Thread(target=barrier.wait) for _ in range(2)]
    for one in threads: one.start()
    box.get()
    for one in threads: one.join()
def by_pool():
    box = Box()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(box.set, 1); box.get()
def by_map_of_a_pool():
    box = Box()
    with ThreadPoolExecutor(1) as pool:
        done = pool.map(box.set, [1]); box.get(); list(done)
def by_thread_of_asyncio():
    box = Box()
    async def other():
        await asyncio.sleep(0); box.get()
    async def main(): await asyncio.gather(asyncio.to_thread(box.set, 1), other())
    asyncio.run(main())
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ModuleType]:
    """A module of the user's own that uses an installed one."""
    with beside_installed(tmp_path, {"installed_box": _INSTALLED}, "own_box", _OWN) as module:
        yield module


@pytest.mark.parametrize("how", [*(line[7:-3] for line in _OWN.splitlines() if "def by_" in line)])
def test_an_object_of_an_installed_package_is_used_in_both_orders(
    own: ModuleType, how: str
) -> None:
    program = getattr(own, f"by_{how}")
    assert explore(program, max_runs=200).classes > 1


_STARTER = """
import threading
from concurrent.futures import ThreadPoolExecutor
class Counting:
    stores = 0
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)
        object.__setattr__(self, "stores", self.stores + 1)
    def __delattr__(self, name):
        object.__delattr__(self, name)
        object.__setattr__(self, "stores", self.stores + 1)
def begin(box):
    def put(): box.n = 1
    return put
def by_timer(box):
    thread = threading.Timer(0, begin(box)); thread.start(); return thread.join
def by_pool(box):
    pool = ThreadPoolExecutor(1); pool.submit(begin(box)); return pool.shutdown
class Worker(threading.Thread):
    def __init__(self, box): super().__init__(); self.box = box
    def run(self): self.box.n = 1
def by_class(box):
    thread = Worker(box); thread.start(); return thread.join
def by_built_in(box):
    thread = threading.Thread(target=setattr, args=(box, "n", 1)); thread.start()
    return thread.join
"""
_STARTED = """
import threading, weakref
from installed_starter import Counting, by_built_in, by_class, by_pool, by_timer
class Own(Counting):
    kept = 0
class Box: n = 0
def counted(look, write, box):
    lock, looked = threading.Lock(), []
    def looks():
        with lock: looked.append(0)
        one = look(box); assert one == look(box)
    def writes():
        with lock: looked.append(1)
        write(box)
    threads = [threading.Thread(target=one) for one in (looks, writes)]
    for one in threads: one.start()
    for one in threads: one.join()
def put(box): box.kept = 1
def drop(box): del box.kept
def program_store(): counted(lambda box: box.stores, put, Own())
def program_removal():
    box = Own(); box.kept = 1
    counted(lambda box: box.stores, drop, box)
def put_n(box): box.n = 1
def program_proxy(): counted(lambda box: weakref.proxy(box).n, put_n, Box())
def started(begin):
    box, lock, looked = Box(), threading.Lock(), []
    def other():
        with lock: looked.append(1)
    thread = threading.Thread(target=other); thread.start()
    end = begin(box)
    with lock: looked.append(0)
    try:
        one = box.n; assert one == box.n
    finally:
        end(); thread.join()
def program_timer(): started(by_timer)
def program_pool(): started(by_pool)
def program_class(): started(by_class)
def program_built_in(): started(by_built_in)
"""


@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize(
    "name", ["built_in", "class", "pool", "proxy", "removal", "store", "timer"]
)
def test_what_code_of_a_package_does_later_or_besides_is_no_pass(
    tmp_path: Path, name: str, accesses: Literal["steps", "races"]
) -> None:
    with beside_installed(
        tmp_path, {"installed_starter": _STARTER}, "own_started", _STARTED
    ) as own:
        exploration = explore(getattr(own, f"program_{name}"), accesses=accesses)
    assert exploration.verdict() is not Verdict.PASS, exploration.summary()
    if accesses == "steps":
        assert exploration.verdict() is Verdict.FAIL, exploration.summary()
