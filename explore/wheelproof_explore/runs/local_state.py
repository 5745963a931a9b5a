"""The local state of a thread: its frames and all that they refer to, as a value to compare.

The local state alone decides what a thread does next, so a thread whose local state repeats is in
a cycle. An opaque object, such as an iterator, may hide a counter: then there is no local state.
"""

import dis
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from functools import cache, partial
from types import BuiltinMethodType, CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import NewType, cast

from wheelproof_explore.failures.places import is_checkers, is_library
from wheelproof_explore.runtime.locks import ModelMonitor
from wheelproof_explore.runtime.model import ModelThread, SharedObject
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.timing import ControlledClock

LocalState = tuple[object, ...]

_MOST = 20_000
"""The largest number of objects that a local state may have."""
_ATOMS = (int, float, complex, str, bytes, Enum, range, type(None))
_NO_STATE = (ControlledRuntime, ControlledClock, ModuleType, NewType)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_THREADS_OWN = frozenset(vars(threading.Thread()))
"""The attributes of every Thread: they are no part of the local state."""
_LOOPING = frozenset(
    ("map", "filter", "filterfalse", "reduce", "starmap", "accumulate", "takewhile", "dropwhile")
) | {"groupby", "iter", "sorted", "sort"}
_DECLARING = {"abc", "typing", "collections.abc", "queue", "threading"}


def local_state(thread: ModelThread) -> LocalState | None:
    """Return the local state of `thread` before its next step; None if it cannot be determined.

    The time is left out. The first element is the frame of the action under way.
    """
    walk = _Walk()
    frames: list[FrameType] = []
    frame = thread.frame
    while frame is not None:
        if not is_checkers(frame.f_code.co_filename):
            frames.append(frame)
        elif frame.f_code.co_name == "_run":
            break
        frame = frame.f_back
    for here in frames:
        if _hides_iterator(here):
            return None
        walk.known.append((here.f_code, here.f_lasti))
        walk.push(value for _, value in sorted(here.f_locals.items()))
        walk.push_globals(here.f_code, here.f_globals)
    return (frames[-1], *walk.known) if frames and walk.finish() else None


class _Walk:
    def __init__(self) -> None:
        self.known: list[object] = []
        self._left: list[object] = []
        # By address, with the object itself, so that no other object gets the address.
        self._numbers: dict[int, tuple[int, object]] = {}

    def push(self, values: Iterable[object]) -> None:
        """Add values to be visited."""
        before = len(self._left)
        self._left.extend(values)
        self.known.append(len(self._left) - before)

    def _push_items(self, items: dict[object, object]) -> None:
        self.push(part for item in items.items() for part in item)

    def push_globals(self, code: CodeType, names: dict[str, object]) -> None:
        """Push the globals that a function may use, of its module and of the modules it names."""
        used = [names[name] for name in code.co_names if name in names]
        for module in [value for value in used if isinstance(value, ModuleType)]:
            if not is_library(module.__name__):
                members = vars(module)
                used += [members[name] for name in code.co_names if name in members]
        self.push(used)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.push_globals(constant, names)

    def finish(self) -> bool:
        """Visit all pushed values and what they refer to; return False if something is opaque."""
        while self._left:
            value = self._left.pop()
            if isinstance(value, _ATOMS):
                self.known.append((type(value), value))
            elif id(value) in self._numbers:
                self.known.append(self._numbers[id(value)][0])
            else:
                self._numbers[id(value)] = len(self._numbers), value
                self.known.append(type(value))
                if len(self._numbers) > _MOST or not self._look_into(value):
                    return False
        return True

    def _look_into(self, value: object) -> bool:
        match value:
            case SharedObject() if not isinstance(value, ControlledClock):
                self.push((value.number, cast("SharedObject[object]", value).state))
                if isinstance(value, ModelMonitor):
                    self.push((value.again,))
            case ModelThread():
                self.push((value.number,))
            case dict():
                self._push_items(cast("dict[object, object]", value))
            case list() | tuple() | set() | frozenset() | deque():
                self.push(cast("Iterable[object]", value))
            case partial():
                self.push((value.func, value.args, value.keywords))
            case MethodType():
                self.push((value.__self__, value.__func__))
            case threading.Thread():
                own = {name: held for name, held in vars(value).items() if name not in _THREADS_OWN}
                self._push_items(cast("dict[object, object]", own))
            case _ if isinstance(value, _LOCKS):
                self.push((repr(value),))
            case BuiltinMethodType():
                self.push((value.__name__, value.__self__))
            case FunctionType():
                self._look_into_function(value)
            case type():
                if not is_library(value.__module__):
                    self.push(_class_state(value))
                    self.push(value.__mro__[1:])
            case _:
                return isinstance(value, _NO_STATE) or self._look_into_instance(value)
        return True

    def _look_into_function(self, value: FunctionType) -> None:
        # Primitives are models; their states are visited instead.
        ours = value.__module__.startswith("wheelproof.sync")
        if ours or is_library(value.__module__) or is_checkers(value.__code__.co_filename):
            return
        self.push_globals(value.__code__, value.__globals__)
        self.push((value.__defaults__, value.__kwdefaults__))
        self.push(getattr(cell, "cell_contents", None) for cell in value.__closure__ or ())

    def _look_into_instance(self, value: object) -> bool:
        kinds = type(value).__mro__[:-1]
        if any(is_library(kind.__module__) and kind.__module__ not in _DECLARING for kind in kinds):
            return False
        self.push(kinds)
        members: dict[object, object] = getattr(value, "__dict__", {})
        self._push_items(members)
        for kind in kinds:
            slots: str | Iterable[str] = vars(kind).get("__slots__", ())
            names = [slots] if isinstance(slots, str) else slots
            self.push(getattr(value, _unmangled(kind, name), None) for name in names)
        return True


def _class_state(kind: type) -> Iterator[object]:
    """Yield the values and the functions of a class, without mere declarations."""
    for name, member in vars(kind).items():
        part: object = getattr(member, "__func__", getattr(member, "fget", member))
        declares = name.startswith("__") or hasattr(type(part), "__set__")
        if isinstance(part, FunctionType) or (
            not declares
            and (
                isinstance(part, (*_ATOMS, list, dict, set, deque))
                or hasattr(part, "__next__")
                or not is_library(type(part).__module__)
            )
        ):
            yield part


def _unmangled(kind: type, name: str) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{kind.__name__.lstrip('_')}{name}" if private else name


def _hides_iterator(frame: FrameType) -> bool:
    """Tell whether a `for` loop, or a loop inside a built-in function, may be under way."""
    code = frame.f_code
    if not _LOOPING.isdisjoint(code.co_names):
        return True
    return any(begin < frame.f_lasti < end for begin, end in _loops(code))


@cache
def _loops(code: CodeType) -> tuple[tuple[int, int], ...]:
    """Return where the bodies of `for` loops begin and end, each of which hides an iterator."""
    found = dis.get_instructions(code)
    return tuple(
        (step.offset, step.argval) for step in found if step.opname in ("FOR_ITER", "SEND")
    )
