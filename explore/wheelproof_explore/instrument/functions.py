"""The functions that rewritten code calls: they log an access or make it a step, then make it.

Outside a run, in its set-up and in its checks, only the access itself is made.
"""

import builtins
import inspect
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import resolve_name
from types import BuiltinMethodType, CellType, FunctionType, MethodType
from typing import TypeAlias, cast

from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.attributes import Attributes
from wheelproof_explore.instrument.calls import Calls, is_python_code
from wheelproof_explore.instrument.items import Container
from wheelproof_explore.instrument.unseen.effects import IN_PLACE, OPERATORS, Effect, receiver_of
from wheelproof_explore.instrument.unseen.foreign import Look, look_at
from wheelproof_explore.instrument.unseen.kinds import CONTAINERS
from wheelproof_explore.instrument.unseen.parts import is_foreign
from wheelproof_explore.instrument.unseen.touching import PLAIN, UNSEEN_CALLS, is_ours
from wheelproof_explore.patched.patching import refuse_missed
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.patched.threads import beginning, thread_init
from wheelproof_explore.runtime.runtime import ControlledRuntime

_SET_BY_RAISING = ("__cause__", "__context__", "__suppress_context__", "__traceback__")
_CONVERSIONS: Mapping[int, Callable[[object], str]] = {
    ord("s"): str,
    ord("r"): repr,
    ord("a"): ascii,
}

_Pattern: TypeAlias = "list[tuple[str, object, dict[str | int, _Pattern]]]"
"""The alternatives of a pattern: the sort of its test, what that needs, and the parts.

A pattern without alternatives matches everything; see `read_by_pattern`.
"""


class _Functions(Attributes):
    """The functions that rewritten code calls, named without the prefix `_wp_`."""

    def __init__(self, seeing: Seeing) -> None:
        super().__init__(seeing, Calls(seeing, self.call))

    def begun(self, value: object) -> object:
        """Return what a thread begins with so that it is seen; rewritten code does not call it."""
        return self._calls.begun(value)

    def method(self, instance: object, name: str) -> object:
        runtime = running()
        if runtime is None:
            return getattr(instance, name)
        if issubclass(type(instance), CONTAINERS) and not isinstance(
            inspect.getattr_static(type(instance), name, None), FunctionType
        ):
            call = partial(self._call, cast("Container", instance), name)
            return call if runtime.interruptible is None else self._interruptible(runtime, call)
        return self.call(self.get(instance, name))

    def call(self, function: object) -> object:
        """Return a function, so that it touches what it may read and write if it is not seen."""
        runtime = running()
        if runtime is None:
            return function
        call = self._call_of(function)
        if runtime.interruptible is None:
            return call
        return self._interruptible(runtime, call, function)

    def _interruptible(
        self, runtime: ControlledRuntime, call: object, function: object = None
    ) -> object:
        """Let Ctrl-C come where a function of Python begins, and where another returns."""
        if runtime.current is not runtime.interruptible or is_ours(function):
            return call

        def interruptible(*given: object, **named: object) -> object:
            if is_python_code(function):
                runtime.may_interrupt()
            result = cast("Callable[..., object]", call)(*given, **named)
            if not self._calls.is_seen(function):
                runtime.may_interrupt()
            return result

        return interruptible

    def _call_of(self, function: object) -> object:
        if type(function) is MethodType and function.__func__ is thread_init:
            # Of a subclass of Thread, which may be given what the thread calls.
            return partial(self._calls.outside, function)
        if self._calls.is_seen(function):
            return function
        instead = self._of_attributes(function)
        if instead is not None:
            return instead
        if id(function) in UNSEEN_CALLS:
            self._seeing.blind[UNSEEN_CALLS[id(function)]] = None
        refuse_missed(function)
        if id(function) in self._seeing.faulty:
            missed = self._seeing.faulty[id(function)]
            self._seeing.blind[f"{missed}, by a name that no search found, cannot fail"] = None
        receiver = receiver_of(function)
        if receiver is not None and getattr(function, "__name__", "") == "__subclasses__":
            self._seeing.blind["__subclasses__(), which each new class changes"] = None
        if type(function) is BuiltinMethodType and issubclass(type(receiver), CONTAINERS):
            return partial(self._call, cast("Container", receiver), function.__name__)
        if type(function) is not BuiltinMethodType:
            method = inspect.getattr_static(type(function), "__call__", None)
            if type(method) is FunctionType:
                # Its receiver is the object itself.
                function = MethodType(method, function)
        return partial(self._calls.outside, cast("Callable[..., object]", function))

    def operate(self, sign: str, *operands: object) -> object:
        """Make an operation, which may go through all that is in its operands."""
        operation = OPERATORS[sign]
        if running() is None or all(type(one) in PLAIN for one in operands):
            return operation(*operands)
        # A text with names asks its right operand for them.
        asks = sign == "Mod"
        look = partial(self._calls.touch, operands, Effect.READS_ALL, asks=asks)
        return self._calls.behind(look, operation, *operands)

    def operate_in_place(self, sign: str, left: object, right: object) -> object:
        """Make an operation that may change its left operand."""
        operation = IN_PLACE[sign]
        if running() is None or (type(left) in PLAIN and type(right) in PLAIN):
            return operation(left, right)
        return self._calls.operate(operation, f"__{operation.__name__}__", left, right)

    def formatted(self, value: object, conversion: int, spec: str) -> str:
        """Return a value as a part of an f-string: all that can be reached from there is read."""
        if running() is None or type(value) in PLAIN:
            return _format(value, conversion, spec)
        look = partial(self._calls.touch, (value,), Effect.READS_ALL)
        return self._calls.behind(look, _format, value, conversion, spec)

    def raised(self, error: object) -> object:
        """Return what is raised: Python keeps there where that was, and what it was raised from."""
        if running() is not None and isinstance(error, BaseException):
            name = f"{type(error).__name__}."
            self._seeing.touch(((error, name, one), True) for one in _SET_BY_RAISING)
        return error

    def noted(self, what: str, value: object) -> object:
        self.blind(what)
        return value

    def entering(self, manager: object) -> object:
        """Return what a `with` enters, so that what is not seen of it is a step at both ends."""
        if running() is None:
            return manager
        refuse_missed(manager)
        return self._calls.managed(manager)

    def entered(self) -> None:
        """Make a step in a function that code calls which is not seen, and goes on behind it."""
        if running() is not None:
            self._seeing.enter()

    def resumed(self, value: object) -> object:
        self.entered()
        return value

    def pause(self, names: dict[str, object], name: str) -> None:
        if running() is not None:
            self._calls.pause(names, name)

    def get_cell(self, reader: Callable[[], object], name: str) -> object:
        cell = _cell_of(reader, name)
        self._access(cell, name, "", write=False)
        if not _is_full(cell):
            raise NameError(f"cannot access free variable {name!r}")
        return cell.cell_contents

    def set_cell(self, value: object, reader: Callable[[], object], name: str) -> object:
        cell = _cell_of(reader, name)
        self._access(cell, name, "", write=True)
        cell.cell_contents = value
        return value

    def write_cell(self, reader: Callable[[], object], name: str) -> None:
        self._access(_cell_of(reader, name), name, "", write=True)

    def write_global(self, names: dict[str, object], name: str) -> None:
        self._access(names, f"{names.get('__name__')}.", name, write=True)

    def last(self, *values: object) -> object:
        return values[-1]

    def imported(self, names: dict[str, object], module: str, looked_up: Sequence[str]) -> None:
        """Look at what a module has, if it is there; else its first import makes it."""
        if running() is None:
            return
        package = str(names.get("__package__") or "")
        there = sys.modules.get(resolve_name(module, package))
        for name in looked_up if there is not None else ():
            self._attribute(there, name, write=False)

    def get_global(self, names: dict[str, object], name: str) -> object:
        self._access(names, f"{names.get('__name__')}.", name, write=False)
        try:
            return names[name] if name in names else getattr(builtins, name)
        except AttributeError:
            raise NameError(f"name {name!r} is not defined") from None

    def set_global(self, value: object, names: dict[str, object], name: str) -> object:
        self._access(names, f"{names.get('__name__')}.", name, write=True)
        names[name] = value
        return value

    def derived(self, base: object) -> object:
        """Return a base, or a metaclass, of a class that is about to be made."""
        if running() is not None and issubclass(type(base), type):
            code = self._calls.code_of_new_classes(cast("type", base))
            if code:
                self.blind(f"a class that a run makes, since {code} is not seen")
        return base

    def matched(self, value: object) -> object:
        """Return what a `match` is about: patterns compare it with values."""
        if is_foreign(value):
            self._calls.touch((value,), Effect.READS_ALL)
        return value

    def match(self, value: object, pattern: _Pattern) -> bool:
        """Read what a pattern reads; the result keeps the case in front of it from matching."""
        if running() is not None:
            self._matches(value, pattern)
        return False

    def _matches(self, value: object, pattern: _Pattern) -> bool:
        return not pattern or any(self._is(value, *alternative) for alternative in pattern)

    def _is(self, value: object, sort: str, test: object, parts: dict[str | int, _Pattern]) -> bool:
        """Tell whether a value matches, as Python does: all parts are read before any is tested."""
        if sort == "equal":
            self.matched(value)
            # It is not compared twice if that may change it: then more may be read than need be.
            return look_at(type(value)) is Look.WRITES or value == test
        if sort == "same":
            return value is test
        read: list[object]
        if sort == "class":
            kind = cast("type", test)
            if not self._is_of(isinstance, value, kind):
                return False
            try:
                read = [self._part(value, kind, name) for name in parts]
            except AttributeError:
                return False
        else:
            self._whole(value, write=False)
            if sort == "whole" or not isinstance(value, tuple | list):
                return True
            items = cast("Sequence[object]", value)
            if len(items) < len(parts) or (len(items) > len(parts) and not test):
                return False
            read = [items[cast(int, place)] for place in parts]
        return all(map(self._matches, read, parts.values()))

    def _part(self, value: object, kind: type, name: str | int) -> object:
        """Read an attribute, perhaps given by its place; that of `int(x)` is the value itself."""
        names: Sequence[str] = getattr(kind, "__match_args__", ())
        if isinstance(name, str):
            return self.get(value, name)
        return self.get(value, names[name]) if names else value


def _format(value: object, conversion: int, spec: str) -> str:
    return format(_CONVERSIONS[conversion](value) if conversion >= 0 else value, spec)


def _is_full(cell: CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _cell_of(reader: Callable[[], object], name: str) -> CellType:
    assert isinstance(reader, FunctionType)
    closure = reader.__closure__ or ()
    return closure[reader.__code__.co_freevars.index(name)]


@contextmanager
def seen(seeing: Seeing) -> Generator[None]:
    """Route the accesses of rewritten functions to `seeing`, inside the block."""
    functions = _Functions(seeing)
    names = [name for name in dir(functions) if not name.startswith("_")]
    given = {f"_wp_{name}": getattr(functions, name) for name in names}
    # Under these names the program has no variables of its own.
    given |= {"_wp_slice": slice, "_wp_globals": globals}
    before = vars(builtins).copy()
    for name, function in given.items():
        setattr(builtins, name, function)
    seeing.active = True
    try:
        with beginning(functions.begun):
            yield
    finally:
        seeing.active = False
        # Functions that the program made inside the block, and kept, still call these.
        for name, function in given.items():
            setattr(builtins, name, before.get(name, function))
