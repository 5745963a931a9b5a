"""What was made before a run, such as at the import of a module, is modelled wherever it is held.

Each run begins with it as it was, and afterwards it is as it was.
"""

import os
import queue
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import NamedTuple

import pytest

from support.explore.exploring import beside_installed
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.library import InterleavingError, check, explore
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.usefixtures("unshrunk")


class _Slotted:
    __slots__ = ("lock",)

    def __init__(self) -> None:
        self.lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class _Frozen:
    lock: threading.Lock = field(default_factory=threading.Lock)


class _Below(_Slotted):
    __slots__ = ("other",)


class _Named(NamedTuple):
    lock: threading.Lock


class _Items(list[threading.Lock]):
    pass


class _Described:
    def __init__(self, lock: threading.Lock) -> None:
        self._lock = lock

    @property
    def lock(self) -> threading.Lock:
        return self._lock

    def get(self) -> threading.Lock:
        return self._lock


def _of_function() -> threading.Lock:
    lock: threading.Lock = vars(_of_function)["lock"]
    return lock


def _for_ever() -> Iterator[threading.Lock]:
    lock = threading.Lock()
    while True:
        yield lock


vars(_of_function)["lock"] = threading.Lock()
_SLOTTED, _FROZEN, _BELOW = _Slotted(), _Frozen(), _Below()
_TUPLE, _NESTED = (threading.Lock(),), (1, (2, (threading.Lock(),)))
_NAMED, _IN_DICT = _Named(threading.Lock()), {"key": (threading.Lock(),)}
_FROZEN_SET, _SET = frozenset([threading.Lock()]), {threading.Lock()}
_DEQUE, _LIST = deque([threading.Lock()]), _Items([threading.Lock()])
_ORDERED = OrderedDict[str, threading.Lock](key=threading.Lock())
_DEFAULT = defaultdict[str, threading.Lock](threading.Lock, key=threading.Lock())
_PROXY = MappingProxyType({"key": threading.Lock()})
_SPACE = SimpleNamespace(lock=threading.Lock())
_GET = _Described(threading.Lock()).get
_PARTIAL = partial(_Described.get, _Described(threading.Lock()))
_OF_PARTIAL = partial(list[threading.Lock], [threading.Lock()])

_HOLDERS: dict[str, Callable[[], threading.Lock]] = {
    "a slot": lambda: _SLOTTED.lock,
    "a slot of a frozen dataclass": lambda: _FROZEN.lock,
    "a slot of the class above": lambda: _BELOW.lock,
    "a tuple": lambda: _TUPLE[0],
    "a tuple in tuples": lambda: _NESTED[1][1][0],
    "a named tuple": lambda: _NAMED.lock,
    "a tuple in a dict": lambda: _IN_DICT["key"][0],
    "a frozen set": lambda: next(iter(_FROZEN_SET)),
    "a set": lambda: next(iter(_SET)),
    "a deque": lambda: _DEQUE[0],
    "a subclass of list": lambda: _LIST[0],
    "an ordered dict": lambda: _ORDERED["key"],
    "a dict with a default": lambda: _DEFAULT["key"],
    "a view of a dict": lambda: _PROXY["key"],
    "a namespace": lambda: _SPACE.lock,
    "the object of a bound method": _GET,
    "what a partial is given": _PARTIAL,
    "a list that a partial is given": lambda: _OF_PARTIAL()[0],
    "an attribute of a function": _of_function,
}
_WAYS: list[list[str] | None] = [None, ["none"]]


def _counts(lock: Callable[[], threading.Lock], *, mended: bool) -> None:
    counter = [0]

    def add() -> None:
        if mended:
            with lock():
                counter[0] += 1
        else:
            with lock():
                before = counter[0]
            with lock():
                counter[0] = before + 1

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter == [2]
    assert not lock().locked()


@pytest.mark.parametrize("instrument", _WAYS)
@pytest.mark.parametrize("holder", _HOLDERS)
def test_a_lock_is_found_wherever_it_is_held(holder: str, instrument: list[str] | None) -> None:
    lock = _HOLDERS[holder]
    before = lock()
    check(partial(_counts, lock, mended=True), instrument=instrument)
    with pytest.raises(InterleavingError, match="counter == "):
        check(partial(_counts, lock, mended=False), instrument=instrument)
    assert lock() is before
    assert type(before) is type(threading.Lock())


_HIDDEN, _KEYS = _for_ever(), {threading.Lock(): 1}
next(_HIDDEN)


@pytest.mark.parametrize("lock", [lambda: next(_HIDDEN), lambda: next(iter(_KEYS))])
def test_a_lock_that_is_not_found_is_refused(lock: Callable[[], threading.Lock]) -> None:
    """In a generator that waits, or as a key."""
    with pytest.raises(ProgramRejectedError, match=r"uses a lock that was made before the run"):
        explore(partial(_counts, lock, mended=True))

    def locked() -> None:
        with _TUPLE[0]:
            assert not lock().locked()

    with pytest.raises(ProgramRejectedError, match=r"uses a lock that was made before the run"):
        explore(locked)


_REMOVES = (os.remove,)
_REMOVE_OF = SimpleNamespace(call=(partial(os.remove, "no such file"),))


def _for_ever_remove() -> Iterator[Callable[[str], None]]:
    remove = os.remove
    while True:
        yield remove


_REMOVE = _for_ever_remove()
next(_REMOVE)


def _removes(remove: Callable[[], object]) -> None:
    lock = threading.Lock()

    def work() -> None:
        with lock:
            pass
        try:
            remove()
        except FileNotFoundError:
            return

    thread = threading.Thread(target=work)
    thread.start()
    with suppress(FileNotFoundError, ZeroDivisionError):
        # What is tested is this function of C, not the one of pathlib.
        os.remove("no such file")  # noqa: PTH107
    with lock:
        pass
    thread.join()


@pytest.mark.parametrize(
    "remove", [lambda: _REMOVES[0]("no such file"), lambda: _REMOVE_OF.call[0]()]
)
def test_a_function_of_c_fails_wherever_it_is_held(remove: Callable[[], object]) -> None:
    with pytest.raises(InterleavingError, match="os:remove raises ZeroDivisionError"):
        check(partial(_removes, remove), faults=["os:remove=ZeroDivisionError"])


def test_a_function_of_c_that_is_not_found_is_no_pass() -> None:
    found = explore(
        partial(_removes, lambda: next(_REMOVE)("no such file")),
        faults=["os:remove=ZeroDivisionError"],
    )
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert "os:remove, by a name that no search found, cannot fail" in found.summary()


_LOCK = threading.Lock()
_QUEUE: "queue.SimpleQueue[int]" = queue.SimpleQueue()
_QUEUE.put(7)
_LOCAL = threading.local()
_LOCAL.name = "of main"


class _Context(threading.local):
    kind = "context"

    def __init__(self, depth: int = 3) -> None:
        super().__init__()
        self.depth = depth
        self.names = list[str]()


class _Deep(_Context):
    __slots__ = ("shared",)
    shared: int

    def above(self) -> object:
        return super().__getattribute__("depth")


_CONTEXT = _Context(5)
_CONTEXT.names.append("import")


def _two(work: Callable[[], object]) -> None:
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _has_own_state() -> None:
    others = list[bool]()

    def work() -> None:
        others.append(hasattr(_LOCAL, "name"))
        name = threading.current_thread().name
        _LOCAL.name = name
        with _LOCK:
            pass
        assert _LOCAL.name == name

    _two(work)
    assert others == [False, False]
    assert _LOCAL.name == "of main"
    _LOCAL.name = "changed"


def _has_own_state_of_a_class() -> None:
    assert (_CONTEXT.names, _CONTEXT.depth) == (["import"], 5)
    assert isinstance(_CONTEXT, _Context)
    _CONTEXT.names.append("main")
    new, deep = _Context(), _Deep(7)
    deep.shared = 1
    found = list[object]()

    def work() -> None:
        with _LOCK:
            found.append((_CONTEXT.names, _CONTEXT.depth, new.depth, deep.depth, deep.above()))
            found.append((deep.shared, _CONTEXT.kind))
        _CONTEXT.depth = 9

    _two(work)
    assert found == [([], 5, 3, 7, 7), (1, "context")] * 2
    assert (_CONTEXT.names, _CONTEXT.depth) == (["import", "main"], 5)


def test_a_class_of_local_state_that_the_program_does_not_name_serves_each_exploration() -> None:
    class Counted(threading.local):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

    kept = Counted()

    def program() -> None:
        def work() -> None:
            kept.count += 1
            assert kept.count == 1

        _two(work)

    for _ in range(2):
        assert explore(program).verdict() is Verdict.PASS


def _has_its_items() -> None:
    thread = threading.Thread(target=lambda: _QUEUE.put(8))
    thread.start()
    assert [_QUEUE.get(), _QUEUE.get()] == [7, 8]
    thread.join()
    _QUEUE.put(9)


_EVENT, _SEMAPHORE, _BARRIER = threading.Event(), threading.Semaphore(1), threading.Barrier(2)
_FULL_QUEUE, _CONDITION = queue.Queue[int](), threading.Condition()


def _takes_the_lock() -> None:
    with _LOCK:
        pass


_THREAD = threading.Thread(target=_takes_the_lock)


def _sets_an_event() -> None:
    assert not _EVENT.is_set()
    thread = threading.Thread(target=_EVENT.set)
    thread.start()
    assert _EVENT.wait()
    thread.join()


def _takes_a_permit() -> None:
    taken = list[bool]()
    _two(lambda: taken.append(_SEMAPHORE.acquire(blocking=False)))
    assert sorted(taken) == [False, True]


def _breaks_a_barrier() -> None:
    assert not _BARRIER.broken
    _two(_BARRIER.wait)
    _BARRIER.abort()


def _fills_a_queue() -> None:
    assert _FULL_QUEUE.empty()
    _two(lambda: _FULL_QUEUE.put(1))
    assert _FULL_QUEUE.qsize() == 2


def _waits_for_ever() -> None:
    def wait() -> None:
        with _CONDITION:
            _CONDITION.wait()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    with _CONDITION:
        waiters = "_waiters"
        assert len(getattr(_CONDITION, waiters)) < 2


def _starts_a_thread() -> None:
    _THREAD.start()
    with _LOCK:
        pass
    _THREAD.join()


@pytest.mark.parametrize("instrument", _WAYS)
@pytest.mark.parametrize(
    "program",
    [
        _has_own_state,
        _has_own_state_of_a_class,
        _has_its_items,
        _sets_an_event,
        _takes_a_permit,
        _breaks_a_barrier,
        _fills_a_queue,
        _waits_for_ever,
        _starts_a_thread,
    ],
)
def test_each_run_begins_with_it_as_it_was(
    program: Callable[[], None], instrument: list[str] | None
) -> None:
    for _ in range(2):
        assert check(program, instrument=instrument).classes > 1
    assert (_LOCAL.name, _CONTEXT.names, type(_CONTEXT)) == ("of main", ["import"], _Context)
    assert _QUEUE.qsize() == 1


def test_what_another_thread_has_is_not_taken_for_ones_own() -> None:
    def main() -> None:
        def work() -> None:
            with _LOCK:
                _LOCAL.name = "of the thread"

        thread = threading.Thread(target=work)
        thread.start()
        with _LOCK:
            pass
        thread.join()
        assert _LOCAL.name == "of the thread"

    with pytest.raises(InterleavingError, match="of the thread"):
        check(main)


def test_a_queue_may_be_empty_too_early() -> None:
    def main() -> None:
        thread = threading.Thread(target=lambda: _QUEUE.put(8))
        thread.start()
        _QUEUE.get()
        assert _QUEUE.get_nowait() == 8
        thread.join()

    with pytest.raises(InterleavingError, match="Empty"):
        check(main)


_INSTALLED = """
from contextlib import contextmanager
class Cache:
    limit = 0
    def __init__(self): self.data = {}
    def get(self, key): return self.data.get(key)
    def put(self, key, value): self.data[key] = value
class Counter:
    __slots__ = ("n",)
    def __init__(self): self.n = 0
    def up(self): self.n += 1
class Hits(dict):
    def __init__(self): self.hits = 0
class Guard:
    def __init__(self): self.inside = 0
    def __enter__(self): self.inside += 1
    def __exit__(self, *error): self.inside -= 1
_store, _count, _cache = {}, 0, Cache()
def get(key): return _store.get(key)
def put(key, value): _store[key] = value
def count(): return _count
def set_count(value):
    global _count
    _count = value
def get_by_object(key): return _cache.get(key)
def put_by_object(key, value): return _keep(key, value)
def _keep(key, value): _cache.put(key, value)
class Handle:
    def __init__(self, key): self.key = key
    def get(self): return get(self.key)
    def put(self, value): put(self.key, value)
class Box:
    def __init__(self): self.content = 0
    def __call__(self, *content):
        if content: self.content = content[0]
        return self.content
class Mark:
    def __init__(self, marked): marked.append(1)
class Both:
    def __enter__(self): raise TypeError("use async with")
    def __exit__(self, *error): raise TypeError("use async with")
    async def __aenter__(self): return self
    async def __aexit__(self, *error): return None
@contextmanager
def guard():
    set_count(1)
    yield
    set_count(0)
"""
_OWN = """
from dataclasses import dataclass
import asyncio
import sys
import mimetypes
import threading
import installed_before
from installed_before import Both, Box, Cache, Counter, Guard, Handle, Hits, Mark
BOX = Box()
GUARD = Guard()
CACHE, COUNTER, HITS = Cache(), Counter(), Hits()
LOCK, QUEUE, EVENT = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
CONDITION, SEMAPHORE = asyncio.Condition(), asyncio.Semaphore(1)
BOTH = Both()
class One: pass
@dataclass
class Pair:
    items: list
    number: int
def two(work):
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
def cached():
    got = []
    def work():
        one = CACHE.get("one")
        if one is None:
            one = One()
            CACHE.put("one", one)
        got.append(one)
    two(work)
    assert got[0] is got[1]
def once(get, put):
    got = []
    def work():
        one = get("one")
        if one is None:
            one = One()
            put("one", one)
        got.append(one)
    two(work)
    assert got[0] is got[1]
def by_functions(): once(installed_before.get, installed_before.put)
def by_object(): once(installed_before.get_by_object, installed_before.put_by_object)
def by_handles(): once(lambda key: Handle(key).get(), lambda key, one: Handle(key).put(one))
def by_python():
    def get(key): return mimetypes.guess_type("a.wheelproof")[0]
    def put(key, one): mimetypes.add_type(f"x/{id(one)}", ".wheelproof")
    got = []
    def work():
        if get("one") is None: put("one", One())
        got.append(get("one"))
    two(work)
    assert got[0] == got[1]
def by_variable():
    def work(): installed_before.set_count(installed_before.count() + 1)
    two(work)
    assert installed_before.count() == 2
def inside(manager, look):
    lock = threading.Lock()
    def work():
        with lock: pass
        with manager(): pass
        with lock: pass
    thread = threading.Thread(target=work)
    thread.start()
    with lock: pass
    assert look() == 0
    thread.join()
def by_manager(): inside(lambda: GUARD, lambda: GUARD.inside)
def by_generator(): inside(installed_before.guard, installed_before.count)
def by_call_of_object():
    two(lambda: BOX(BOX() + 1))
    assert BOX() == 2
def by_class():
    marked = []
    def work():
        if not marked: Mark(marked)
    two(work)
    assert len(marked) == 1
def generated_class():
    pair = Pair([], 1)
    def work(): assert Pair(pair.items, 1) == pair
    two(work)
async def both():
    async def work():
        async with BOTH: await asyncio.sleep(0)
    await asyncio.gather(work(), work())
def right_manager():
    def work():
        try:
            with GUARD, open("/dev/null"): raise KeyError
        except KeyError: return
    two(work)
    assert GUARD.inside == 0
def right_functions():
    lock = threading.Lock()
    def get(key):
        with lock:
            one = installed_before.get(key)
            if one is None:
                one = One()
                installed_before.put(key, one)
            return one
    once(get, None)
def slot():
    def work(): COUNTER.up()
    two(work)
    assert COUNTER.n == 2
def of_class():
    assert Cache.limit == 0
    def work(): Cache.limit = 1
    two(work)
    assert Cache.limit == 1
def of_container():
    assert HITS.hits == 0
    def work(): HITS.hits = 1
    two(work)
    assert HITS.hits == 1
async def take():
    async with LOCK: await asyncio.sleep(0)
    async with SEMAPHORE: await asyncio.sleep(0)
async def lock():
    await asyncio.gather(take(), take())
async def queue():
    assert QUEUE.empty()
    await asyncio.gather(QUEUE.put(1), QUEUE.put(2))
    assert QUEUE.qsize() == 2
async def event():
    assert not EVENT.is_set()
    async def sets(): EVENT.set()
    await asyncio.gather(EVENT.wait(), sets())
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[ModuleType]:
    """A module of the user's own that uses an installed one."""
    with beside_installed(tmp_path, {"installed_before": _INSTALLED}, "own_before", _OWN) as module:
        yield module


def test_the_race_to_fill_a_cache_of_an_installed_package_is_in_each_run(own: ModuleType) -> None:
    """The second run would find it filled by the first."""
    with pytest.raises(InterleavingError, match=r"got\[0\] is got\[1\]"):
        check(own.cached)


@pytest.mark.parametrize("name", ["slot", "of_class", "of_container", "lock", "queue", "event"])
def test_objects_and_classes_of_installed_packages_are_brought_back(
    own: ModuleType, name: str
) -> None:
    for _ in range(2):
        assert check(getattr(own, name)).classes > 1


@pytest.mark.parametrize("name", ["lock", "queue", "event"])
def test_locks_of_asyncio_are_brought_back_when_nothing_is_seen(own: ModuleType, name: str) -> None:
    assert check(getattr(own, name), instrument=["none"]).classes > 1


@pytest.mark.parametrize(
    ("name", "failure"),
    [
        ("by_functions", r"got\[0\] is got\[1\]"),
        ("by_object", r"got\[0\] is got\[1\]"),
        ("by_handles", r"got\[0\] is got\[1\]"),
        ("by_python", r"got\[0\] == got\[1\]"),
        ("by_variable", "count"),
        ("by_call_of_object", r"BOX\(\) == 2"),
        ("by_class", r"len\(marked\) == 1"),
        ("by_manager", r"look\(\) == 0"),
        ("by_generator", r"look\(\) == 0"),
    ],
)
def test_state_of_a_module_whose_code_is_not_seen_is_shared(
    own: ModuleType, name: str, failure: str
) -> None:
    """What its functions are given does not say so."""
    with pytest.raises(InterleavingError, match=failure):
        check(getattr(own, name))
    # Whether the package itself keeps threads apart is not known.
    assert explore(getattr(own, name), accesses="races").verdict() is not Verdict.PASS


@pytest.mark.parametrize("name", ["right_manager", "right_functions", "both"])
def test_what_is_right_with_state_of_a_module_passes(own: ModuleType, name: str) -> None:
    assert check(getattr(own, name)).classes > 1
