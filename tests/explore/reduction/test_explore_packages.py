"""State that a package keeps outside of its objects: no reader passes beside a writer."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType
from typing import Literal

import attrs
import pytest

from support.explore.exploring import beside_installed
from wheelproof_explore import explore
from wheelproof_explore.instrument.unseen import foreign
from wheelproof_explore.verdicts import Verdict

_PACKAGE = """
import contextlib, contextvars, enum, functools, itertools
made, noted = [], []
class Plugin:
    def __init_subclass__(cls): made.append(1)
class Meta(type):
    def __init__(cls, *given): made.append(1)
class Counted:
    classes = 0
    def __init_subclass__(cls): Counted.classes += 1
class Generic:
    def __class_getitem__(cls, key): noted.append(key); return cls
def register(function): noted.append(1); return function
put_noted = functools.partial(noted.append, 1)
settings = {"a": 0, "b": {"c": 0}}
def setting(*keys): return functools.reduce(lambda here, key: here[key], keys, settings)
def set_deep(value): settings["b"]["c"] = value
class Config:
    def __init__(self): self.__dict__["kept"] = {"a": 0}
    def __getattr__(self, name): return self.__dict__["kept"][name]
    def set(self, name, value): self.kept[name] = value
config = Config()
error = ValueError(0)
def set_note(): error.note = 1
total = 0
def get_total(): return total
def set_total(value):
    global total
    total = value
def with_default(value=None, kept=[]):
    if value is not None: kept.append(value)
    return len(kept)
def calls(): calls.count += 1
calls.count = 0
class One:
    n = 0
    def add(self): self.n += 1
pair = One(), 0
def set_in_pair(): pair[0].n = 3
numbers = itertools.count()
def take(): return next(numbers)
class Shared:
    n = 0
    def __get__(self, one, kind): return Shared.n
class Owner:
    shared = Shared()
def add_shared(): Shared.n += 1
class Color(enum.Enum):
    RED = 1
    @property
    def hits(self): return hits[0]
hits = [0]
def hit(color): hits[0] += 1
one = None
def get_one():
    global one
    if one is None: one = One()
    return one
class Behind:
    def __getattr__(self, name): return getattr(get_one(), name)
behind = Behind()
class Area:
    def __init__(self): self.side = 1
    @functools.cached_property
    def size(self): return self.side * 2
    def grow(self): self.side += 1; self.__dict__.pop("size", None)
area = Area()
"""
_OWN = """
import threading
import package_state as kit
def derive():
    class Own(kit.Plugin): pass
def derive_of_metaclass():
    class Own(metaclass=kit.Meta): pass
def derive_counted():
    class Own(kit.Counted): pass
def decorate():
    @kit.register
    def own(): pass
def program(look, write):
    lock, counts = threading.Lock(), [0]
    def reads():
        with lock: counts[0] += 1
        look()
    def writes():
        with lock: counts[0] += 1
        write()
    threads = [threading.Thread(target=one) for one in (reads, writes)]
    for one in threads: one.start()
    for one in threads: one.join()
"""
_PAIRS = {
    "subclass": ("len(kit.made)", "derive()"),
    "metaclass": ("len(kit.made)", "derive_of_metaclass()"),
    "counted subclass": ("kit.Counted.classes", "derive_counted()"),
    "generic": ("len(kit.noted)", "kit.Generic[int]"),
    "decorator": ("len(kit.noted)", "decorate()"),
    "partial": ("len(kit.noted)", "kit.put_noted()"),
    "settings": ("kit.setting('a')", "kit.settings.update(a=1)"),
    "deep settings": ("kit.setting('b', 'c')", "kit.set_deep(1)"),
    "config": ("kit.config.a", "kit.config.set('a', 1)"),
    "error": ("getattr(kit.error, 'note', 0)", "kit.set_note()"),
    "global": ("kit.get_total()", "kit.set_total(1)"),
    "default": ("kit.with_default()", "kit.with_default(1)"),
    "attribute of a function": ("kit.calls.count", "kit.calls()"),
    "object in a tuple": ("kit.pair[0].n", "kit.set_in_pair()"),
    "iterator": ("next(kit.numbers)", "kit.take()"),
    "descriptor": ("kit.Owner.shared", "kit.add_shared()"),
    "enumeration": ("kit.Color.RED.hits", "kit.hit(kit.Color.RED)"),
    "singleton": ("kit.get_one().n", "kit.get_one().add()"),
    "object behind another one": ("kit.behind.n", "kit.behind.add()"),
    "cached property": ("kit.area.size", "kit.area.grow()"),
}
_PROGRAMS = "".join(
    f"def program_{number}(): program(lambda: {look}, lambda: {write})\n"
    for number, (look, write) in enumerate(_PAIRS.values())
)


@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("name", _PAIRS)
def test_a_reader_and_a_writer_are_in_conflict(
    tmp_path: Path, name: str, accesses: Literal["steps", "races"]
) -> None:
    own_text = _OWN + _PROGRAMS
    with beside_installed(tmp_path, {"package_state": _PACKAGE}, "own_state", own_text) as own:
        program = getattr(own, f"program_{list(_PAIRS).index(name)}")
        exploration = explore(program, accesses=accesses, max_runs=300)
    if accesses == "races":
        assert exploration.verdict() is not Verdict.PASS, exploration.summary()
    else:
        # The lock alone makes two.
        assert exploration.gap or exploration.classes > 3, exploration.summary()


@attrs.define(order=True, hash=True)
class _Point:
    x: int = 0


_LOOKS: Mapping[str, Callable[[_Point], object]] = {
    "equal": lambda point: point == _Point(1),
    "less": lambda point: point < _Point(1),
    "hash": lambda point: {point: 1},
    "text": lambda point: f"{point}",
    "shown": repr,
    "sorted": lambda point: sorted([point, _Point(1)]),
}


@pytest.mark.parametrize("look", _LOOKS)
def test_two_looks_at_an_object_of_attrs_are_no_conflict(look: str) -> None:
    def program() -> None:
        point, lock, counts = _Point(), threading.Lock(), [0]

        def looks() -> None:
            with lock:
                counts[0] += 1
            _LOOKS[look](point)

        threads = [threading.Thread(target=looks) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    exploration = explore(program, accesses="races")
    assert exploration.verdict() is Verdict.PASS, exploration.summary()


def _first(box: list[int], *, again: bool) -> None:
    if again:
        _second(box)
    box.append(1)


def _second(box: list[int]) -> None:
    _first(box, again=False)


@pytest.mark.parametrize("order", [(_first, _second), (_second, _first)], ids=["first", "second"])
def test_of_functions_that_call_each_other_each_may_write(order: tuple[FunctionType, ...]) -> None:
    foreign.forget()
    assert [foreign.may_write(one) for one in order] == [True, True]
