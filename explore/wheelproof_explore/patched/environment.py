"""The environment that a program declares: calls that raise in some runs, wherever they are made.

`shop:tell` is the function `tell` of the module `shop`, `shop:Mail.send` a method. The code of a
function that is written in Python is replaced, so each way to call it may fail. Any other callable
is replaced under each name that modules, closures and objects of modules have for it.
"""

import builtins
import importlib
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial, update_wrapper
from inspect import CO_ITERABLE_COROUTINE, isasyncgenfunction, iscoroutinefunction
from inspect import isgeneratorfunction as is_generator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import cast
from unittest.mock import patch

from wheelproof_explore.failures.problems import OptionRejectedError
from wheelproof_explore.instrument.accesses import Seeing
from wheelproof_explore.patched.patching import replaced
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.patched.search import is_modelled
from wheelproof_explore.program.faults import INTERRUPT

_ANY = (Exception, BaseException)
"""What a call raises of which nothing else is said: who catches the first may miss the second."""
_REMEDY = "name a function as module:function or module:Class.method"
_CODE = """\
{begin} called(*given, **named):
    fail = "fail"
    fail()
    call = "call"
    return ({call}(*given, **named))
"""
_CALL = ("def", "call")
_AWAIT = ("async def", "await call")
_YIELD = ("def", "yield from call")


def whole_names(faults: Iterable[str], home: str) -> tuple[str, ...]:
    """Return the faults, each with the module of its call: that of the program by default."""
    return tuple(
        text if text == INTERRUPT or ":" in text.partition("=")[0] else f"{home}:{text}"
        for text in faults
    )


def call_of(fault: str) -> str:
    """Return the call that a fault names."""
    return fault.partition("=")[0].strip()


@dataclass(frozen=True, slots=True)
class _FaultyCall:
    """A call that may fail: where it was found, and what it raises."""

    call: str
    owner: object
    name: str
    value: Callable[..., object]
    errors: Sequence[type[BaseException]]

    def fail(self) -> None:
        """Return, or raise an error, inside a thread of the run."""
        runtime = running()
        if runtime is not None and runtime.environment is not None:
            runtime.environment.may_fail(self.call, *self.errors)


class _Replacement:
    """What is called in the place of a callable that is not written in Python."""

    def __init__(self, faulty: _FaultyCall) -> None:
        self._faulty = faulty
        update_wrapper(self, faulty.value, updated=())

    def __call__(self, *given: object, **named: object) -> object:
        """Call it, or raise one of its errors; what it reads and writes is seen as without us."""
        self._faulty.fail()
        # As a call of its own: the function itself would be one that was not replaced.
        value = partial(self._faulty.value)
        seen = vars(builtins).get("_wp_call")
        call = value if seen is None else cast("Callable[..., object]", seen(value))
        return call(*given, **named)


class Environment:
    """The calls that may fail in one exploration; raises OptionRejectedError for what is none."""

    def __init__(self, faults: Sequence[str]) -> None:
        self._calls = [_parsed(text) for text in faults if text != INTERRUPT]

    @contextmanager
    def named(self) -> Generator[None]:
        """Have the search for Python's primitives replace callables under all their names."""
        others = [one for one in self._calls if type(one.value) is not FunctionType]
        with ExitStack() as stack:
            stack.enter_context(replaced([(one.value, _Replacement(one)) for one in others]))
            for one in others:
                if not isinstance(one.owner, ModuleType):
                    _put(one, stack)
            yield

    @contextmanager
    def failing(self, seeing: Seeing) -> Generator[None]:
        """Let the functions that are written in Python fail, inside the block."""
        with ExitStack() as stack:
            for one in self._calls:
                if type(one.value) is FunctionType:
                    code = one.value.__code__
                    stack.callback(setattr, one.value, "__code__", code)
                    one.value.__code__ = _code_of(one, one.value)
                    if id(code) in seeing.known:
                        seeing.known.add(id(one.value.__code__))
                else:
                    seeing.faulty[id(one.value)] = one.call
            yield


def _put(one: _FaultyCall, stack: ExitStack) -> None:
    bound = hasattr(type(one.value), "__get__") and isinstance(one.owner, type)
    replacement = _Replacement(one)

    def method(*given: object, **named: object) -> object:
        return replacement(*given, **named)

    try:
        stack.enter_context(patch.object(one.owner, one.name, method if bound else replacement))
    except (AttributeError, TypeError) as error:
        problem = f"{error}; name the function of your own that calls it"
        raise OptionRejectedError(f"--faults {one.call}: {problem}") from error


def _code_of(one: _FaultyCall, function: FunctionType) -> CodeType:
    """Return the code that fails, or calls a function with the code of before."""
    before = function.__code__
    call = FunctionType(
        before, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    call.__kwdefaults__ = function.__kwdefaults__
    kind = _CALL
    if iscoroutinefunction(function):
        kind = _AWAIT
    elif is_generator(function):
        kind = _YIELD
    begin, called = kind
    # In this file's name: the steps of this code are no lines of the program.
    module = compile(_CODE.format(begin=begin, call=called), __file__, "exec")
    code = next(inner for inner in module.co_consts if isinstance(inner, CodeType))
    given = {"fail": one.fail, "call": call}
    return code.replace(
        co_consts=tuple(given.get(value, value) for value in code.co_consts),
        co_freevars=before.co_freevars,
        co_flags=code.co_flags | before.co_flags & CO_ITERABLE_COROUTINE,
    )


def _parsed(text: str) -> _FaultyCall:
    call, _, errors = text.partition("=")
    call = call.strip()
    home, _, path = call.partition(":")
    try:
        owner: object = importlib.import_module(home)
        *before, name = path.split(".")
        for part in before:
            owner = getattr(owner, part)
        value: object = getattr(owner, name)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise OptionRejectedError(f"--faults {call}: {said}; {_REMEDY}") from error
    if isinstance(value, MethodType):
        value = value.__func__
    problem = _problem(value)
    if problem:
        raise OptionRejectedError(f"--faults {call}: {problem}")
    names = [name.strip() for name in errors.split(",") if name.strip()]
    kinds = [_error(call, home, name) for name in names] or _ANY
    return _FaultyCall(call, owner, name, cast("Callable[..., object]", value), kinds)


def _problem(value: object) -> str:
    if isinstance(value, type):
        return "it is a class; name a method, as module:Class.__init__"
    if not callable(value):
        return f"it is no function; {_REMEDY}"
    if isasyncgenfunction(value):
        return "it is an asynchronous generator; name what it calls"
    if is_modelled(value):
        return "a run has a model in its place; name the function of your own that calls it"
    return ""


def _error(call: str, home: str, name: str) -> type[BaseException]:
    module, _, attribute = name.rpartition(":")
    try:
        found = getattr(builtins, name, None) if not module else None
        if found is None:
            found = importlib.import_module(module or home)
            for part in attribute.split("."):
                found = getattr(found, part)
        error = found(f"{call} fails") if isinstance(found, type) else found
    except Exception as problem:
        said = f"{type(problem).__name__}: {problem}"
        raise OptionRejectedError(f"--faults {call}={name}: {said}; {_ERRORS}") from problem
    if not isinstance(error, BaseException):
        raise OptionRejectedError(f"--faults {call}={name}: it is no exception; {_ERRORS}")
    return type(error)


_ERRORS = "name an exception that can be made with a message alone, as OSError or module:Error"
