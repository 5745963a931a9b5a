"""Calls of code that is not rewritten: what they may read and write is one step."""

import contextlib
import inspect
import sys
import threading
from abc import ABCMeta
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, ExitStack, closing
from contextvars import Context
from functools import partial
from pathlib import Path
from types import (
    BuiltinMethodType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TypeVar, cast
from weakref import finalize

from wheelproof_explore.failures.places import is_library
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.instrument.unseen.effects import Effect, function_behind, receiver_of
from wheelproof_explore.instrument.unseen.kinds import CONTAINERS, is_quiet
from wheelproof_explore.instrument.unseen.parts import Part
from wheelproof_explore.instrument.unseen.system import (
    FILES,
    attribute_of,
    lasts,
    swapped_by,
    system_parts,
)
from wheelproof_explore.instrument.unseen.touching import PLAIN, Touching, parts_touched
from wheelproof_explore.patched.clocks import of_the_run
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.patched.threads import thread_init
from wheelproof_explore.runtime.accesses import Accesses, joined

_INSTALLED = frozenset(("dist-packages", "site-packages"))
_STARTING = frozenset((
    "call_at", "call_later", "call_soon", "call_soon_threadsafe", "map", "run_in_executor",
    "submit", "to_thread",
))  # fmt: skip
_MADE_BY_GENERATOR = cast("type", vars(contextlib)["_GeneratorContextManager"])
_Named = Mapping[str, object]
_T = TypeVar("_T")


class Calls(Touching):
    """The calls in one exploration; `seen` returns a function of attributes that is seen."""

    def __init__(self, seeing: Seeing, seen: Callable[[object], object]) -> None:
        super().__init__(seeing)
        self._seen_at_once = seen
        self._stdout = sys.stdout
        # Functions of C by their identity, and whether they touch nothing but what they are given.
        self._alone: dict[int, tuple[object, bool]] = {}

    def outside(
        self, function: Callable[..., object], /, *given: object, **named: object
    ) -> object:
        """Call a function that is not seen, as a step in which it touches what it is given."""
        runtime = running()
        thread = None if runtime is None else runtime.current
        if thread is None:
            # It may be a thread of the run that is made while the run is set up.
            given, named = self._given_later(function, given, named)
            return function(*given, **named)
        dated = of_the_run(function)
        if dated is not None:
            return dated(*given, **named)
        before, thread.is_looking = thread.is_looking, True
        try:
            values = (*given, *named.values())
            if self._is_alone(function) and all(type(one) in PLAIN for one in values):
                look, files = None, False
            else:
                given, named = self._given_later(function, given, named)
                look, files = self._look_of(function, given, named)
        finally:
            thread.is_looking = before
        thread.uses_files += files
        try:
            result = (
                function(*given, **named)
                if look is None
                else self.behind(look, function, *given, **named)
            )
        finally:
            thread.uses_files -= files
        if issubclass(type(result), type):
            _set_module(cast("type", result))
        return result

    def _look_of(
        self, function: object, given: tuple[object, ...], named: _Named
    ) -> tuple[Callable[[], Accesses] | None, bool]:
        """Return the step of a call, None if it touches nothing, and whether it uses files."""
        if type(function) is FunctionType and function.__code__.co_filename in self._seeing.files:
            code = function.__code__
            where = f"{Path(code.co_filename).name}, line {code.co_firstlineno}"
            self._seeing.blind[f"{code.co_name} ({where})"] = None
        if type(function) is FunctionType or type(function) is MethodType:
            self._note_registration(function)
        target: object = function
        while issubclass(type(target), partial):
            bound = cast("partial[object]", target)
            given, named = (*bound.args, *given), {**bound.keywords, **named}
            target = bound.func
        parts, sure = self.touched_by(function, target, (*given, *named.values()))
        if function is print:
            parts += self._stream_of(named.get("file"))
        of_system = system_parts(target, given, named)
        parts += of_system
        if lasts(target):
            called = f"{getattr(target, '__module__', '')}.{getattr(target, '__name__', '')}"
            self._seeing.blind[f"{called}(), whose effect stays for the next run"] = None
        look = partial(self._seeing.touch, parts, sure=sure and not of_system)
        return look if parts else None, any(part is FILES for part, _ in of_system)

    def _is_alone(self, function: object) -> bool:
        """Tell whether a function of C touches nothing but what it is given."""
        if type(function) is BuiltinMethodType:
            receiver: object = function.__self__
            if type(receiver) in PLAIN:
                return True
            if not issubclass(type(receiver), ModuleType):
                return False
        elif type(function) is not type or function not in PLAIN:
            return False
        if id(function) not in self._alone:
            acts = lasts(function) or system_parts(function, (), {})
            is_alone = function is not print and not acts
            self._alone[id(function)] = function, is_alone
        return self._alone[id(function)][1]

    def behind(
        self,
        look: Callable[[], Accesses],
        function: Callable[..., _T],
        /,
        *given: object,
        **named: object,
    ) -> _T:
        """Look at what a function that is not seen may touch, as a step, and call it.

        It may call code that makes steps. What it does behind each of them is part of that step.
        """
        accesses = look()
        runtime = running()
        thread = None if runtime is None else runtime.current
        if runtime is None or thread is None:
            return function(*given, **named)
        if self._seeing.steps:
            if not accesses:
                return function(*given, **named)
            before = thread.within
            thread.within = joined(before, accesses)
            try:
                return function(*given, **named)
            finally:
                thread.within = before
        event = runtime.event
        try:
            return function(*given, **named)
        finally:
            if runtime.event != event:
                look()

    def _stream_of(self, file: object) -> list[tuple[Part, bool]]:
        """Return what `print` uses: a stream, which is `sys.stdout` unless it is given."""
        if file is not None:
            return parts_touched((file,), Effect.WRITES)
        parts: list[tuple[Part, bool]] = [(attribute_of(sys, "stdout"), False)]
        if sys.stdout is not self._stdout:
            parts += parts_touched((sys.stdout,), Effect.WRITES)
        return parts

    def managed(self, manager: object) -> object:
        """Return a context manager whose two ends are steps, if its code is not seen."""
        kind = type(manager)
        if swapped_by(manager):
            return _Managed(manager, self.outside)
        if kind is closing:
            thing: object = vars(manager)["thing"]
            if self.is_seen(getattr(thing, "close", None)):
                return manager
            return self._managed_as(manager, parts_touched((thing,), Effect.WRITES))
        ends = [inspect.getattr_static(kind, name, None) for name in ("__enter__", "__exit__")]
        if kind is _MADE_BY_GENERATOR:
            made = cast("Mapping[str, object]", vars(manager))
            if self.is_seen(made["func"]):
                return manager
            given = (
                *cast("tuple[object, ...]", made["args"]),
                *cast("_Named", made["kwds"]).values(),
            )
            parts = [
                *parts_touched(given, Effect.WRITES),
                *self._module_state.written_by(made["func"]),
            ]
            return self._managed_as(manager, parts)
        if None in ends or is_quiet(kind) or all(map(self.is_seen, ends)):
            return manager
        return _Managed(manager, self.outside)

    def _managed_as(self, manager: object, parts: list[tuple[Part, bool]]) -> object:
        return _Managed(manager, partial(self.behind, partial(self._seeing.touch, parts)))

    def _note_registration(self, function: FunctionType | MethodType) -> None:
        """Note what changes the answers of isinstance(), or which function a call finds."""
        is_abstract = issubclass(type(receiver_of(function)), ABCMeta)
        if function.__name__ == "register" and (is_abstract or function.__module__ == "functools"):
            self._seeing.blind["register() of an abstract class or of a dispatch"] = None

    def _given_later(
        self, function: object, given: tuple[object, ...], named: dict[str, object]
    ) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return what a function is given, so that what it calls later on is seen then."""
        while issubclass(type(function), partial):
            function = cast("partial[object]", function).func
        later = self._called_later if _starts(function) else self._seen_later
        first, *more = map(later, given or (None,))
        if given and issubclass(type(receiver_of(function)), ExitStack | AsyncExitStack):
            name = getattr(function, "__name__", "")
            if name == "enter_context":
                first = self.managed(first)
            elif name == "callback":
                first = self._called_later(first)
        changed = {name: later(value) for name, value in named.items()}
        return (first, *more) if given else (), changed

    def begun(self, value: object) -> object:
        """Return what a thread or a pool calls so that the call is seen, whoever has started it.

        Code that is not seen may have: it is then touched what that can reach.
        """
        function = function_behind(value)
        if type(function) is BuiltinMethodType:
            return value if type(receiver_of(function)) is Context else self._called_later(value)
        if not is_python_code(value) or is_library(str(getattr(function, "__module__", None))):
            return value
        code = getattr(function, "__code__", None)
        if code is None or _INSTALLED.isdisjoint(Path(code.co_filename).parts):
            # Of the user's own that is not to be looked at, as with --instrument PACKAGE.
            return value
        return value if self.is_seen(value) else self._called_later(value)

    def _called_later(self, value: object) -> object:
        """Return a function so that a call of it by a thread, a pool or a stack is seen."""
        if type(function_behind(value)) is BuiltinMethodType:
            return self._seen_at_once(value)
        is_code = is_python_code(value) and not issubclass(type(value), type)
        if not is_code or self.is_seen(value) or inspect.iscoroutinefunction(value):
            return self._seen_later(value)
        method = inspect.getattr_static(type(value), "__call__", None)
        # The receiver of a call of an object is the object itself.
        called = MethodType(method, value) if type(method) is FunctionType else value
        return partial(self.outside, cast("Callable[..., object]", called))

    def _seen_later(self, value: object) -> object:
        """Return a function of C that reads or writes so that a call of it later on is seen."""
        if value is setattr or value is delattr or value is getattr:
            return self._seen_at_once(value)
        function = value
        while issubclass(type(function), partial):
            function = cast("partial[object]", function).func
        if type(function) in (MethodDescriptorType, WrapperDescriptorType):
            holder: type = cast("MethodDescriptorType", function).__objclass__
            touches = issubclass(holder, CONTAINERS)
        elif type(function) in (BuiltinMethodType, MethodWrapperType):
            touches = issubclass(type(receiver_of(function)), CONTAINERS)
        else:
            touches = False
        return partial(self.outside, cast("Callable[..., object]", value)) if touches else value

    def operate(
        self, function: Callable[..., object], method: str, left: object, right: object
    ) -> object:
        """Make an operation in place, which changes its left operand if that has the method."""
        kind = type(left)
        found = inspect.getattr_static(kind, method, None)
        is_function = isinstance(found, FunctionType)
        if is_function and id(found.__code__) in self._seeing.known:
            return function(left, right)
        if issubclass(kind, CONTAINERS) and not is_function:
            parts: list[tuple[Part, bool]] = [((left, kind.__name__, ""), True)]
            parts += self._not_seen(parts_touched((right,), Effect.READS))
        else:
            effect = Effect.READS_ALL if found is None else Effect.WRITES
            parts = parts_touched((left,), effect) + parts_touched((right,), Effect.READS_ALL)
            parts = self._not_seen(parts)
        return self.behind(partial(self._seeing.touch, parts), function, left, right)


def _starts(function: object) -> bool:
    """Tell whether a function makes a thread, a pool or a loop call what it is given."""
    if issubclass(type(function), type):
        return issubclass(cast("type", function), threading.Thread | threading.Barrier | finalize)
    if type(function) is MethodType and function.__func__ is thread_init:
        return True
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    return getattr(function, "__name__", "") in _STARTING and module in (
        "asyncio",
        "concurrent",
        "threading",
    )


class _Managed:
    """What a `with` enters and leaves in the place of a context manager that is not seen."""

    __slots__ = ("_call", "_manager")

    def __init__(self, manager: object, call: Callable[..., object]) -> None:
        self._manager = cast("AbstractContextManager[object]", manager)
        self._call = call

    def __enter__(self) -> object:
        return self._call(self._manager.__enter__)

    def __exit__(self, *error: object) -> bool:
        return bool(self._call(self._manager.__exit__, *error))


def is_python_code(function: object) -> bool:
    """Tell whether a call begins with a function that is written in Python."""
    function = function_behind(function)
    kind = type(function)
    if issubclass(kind, type):
        made = (inspect.getattr_static(function, name) for name in ("__init__", "__new__"))
        return any(type(getattr(one, "__func__", one)) is FunctionType for one in made)
    called = inspect.getattr_static(kind, "__call__", None)
    return kind is FunctionType or type(called) is FunctionType


def _set_module(kind: type) -> None:
    """Have a class that `type()` or `namedtuple()` has made be of the module that called them."""
    if kind.__module__ == __name__:
        frame, home = inspect.currentframe(), __name__
        while frame is not None and home.startswith("wheelproof_explore."):
            home = str(frame.f_globals["__name__"])
            frame = frame.f_back
        kind.__module__ = home
