"""Writes histories of several objects into one stream; callers choose the calls to record.

Every line is written under one lock, so the index of a line is its order in real time.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial, wraps
from inspect import signature
from itertools import count
from typing import BinaryIO, Concatenate, Literal, ParamSpec, TypeVar

import wheelproof
from wheelproof.errors import IllegalArgumentError, ThreadInterruptedError, WheelproofError
from wheelproof.producer import BufferExhaustedError, ProducerClosedError
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent, Implementation, Nothing
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.base.history.judging import CLOSED, EXHAUSTED, ILLEGAL, INTERRUPTED
from wheelproof_spec.base.history.lines import Clock, HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.history.run import CRASHED

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S")
Replacements = dict[tuple[type[object], str], Callable[..., object]]
"""Methods that record, by the class and the name of the method that they replace."""
LineType = Literal["invoke", "ok", "fail", "info"]
_FINEST_NS = 1_000


def thread_name() -> str:
    """Return a unique name of the calling thread."""
    return f"{threading.current_thread().name}-{threading.get_ident()}"


def resolution_of(clock: Clock) -> int | Absent:
    """Return what a header says of the times in ns of a recorder that reads `time.monotonic_ns`."""
    if clock != "monotonic_ns":
        return ABSENT
    told_ns = round(time.get_clock_info("monotonic").resolution * 1_000_000_000)
    # Systems claim a nanosecond; two cores may disagree by more.
    return max(told_ns, _FINEST_NS)


@dataclass(slots=True)
class Run:
    """The history of one object, and its names for tasks, operations and buffers."""

    name: str
    clock: Clock
    ops: int = 0
    under_way: int = 0
    names: dict[int, str] = field(default_factory=dict[int, str])
    numbers: "count[int]" = field(default_factory=count)


class HistoryWriter:
    """The stream, the recorded objects, and the open calls of each thread."""

    def __init__(
        self, stream: BinaryIO, *, real_clock: bool, process: Callable[[], str] = thread_name
    ) -> None:
        """Begin; `process` returns the name of the calling thread, the same in every run."""
        self._stream = stream
        self._real_clock = real_clock
        self._process = process
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}
        # An object that is named by its id has to live as long as the name.
        self._kept: list[object] = []
        self._open: dict[str, list[str]] = {}
        self._ended = False

    def end(self, *, stuck: bool = False) -> None:
        """Write the end of each history, and nothing after it.

        A history is quiet if no call is under way. If it is `stuck`, these calls never end.
        """
        with self._lock:
            if self._ended:
                return
            self._ended = True
            for run in self._runs.values():
                quiet = not run.under_way
                end = HistoryEnd(
                    kind="end",
                    history=run.name,
                    ops=run.ops,
                    quiet=quiet,
                    stuck=True if stuck and not quiet else ABSENT,
                )
                self._stream.write(format_line(end))

    def run_of(self, subject: object) -> Run | None:
        """Return the history of an object, if it is recorded."""
        return self._runs.get(id(subject))

    def made(self, subject: object, config: Config, *, virtual: bool = False) -> Run:
        """Begin the history of an object."""
        real: Clock = "monotonic_ns" if self._real_clock else "none"
        with self._lock:
            self._kept.append(subject)
            run = Run(f"{config.component}-{len(self._runs)}", "virtual" if virtual else real)
            self._runs[id(subject)] = run
            header = HistoryHeader(
                schema="wheelproof.history/1",
                kind="header",
                history=run.name,
                component=config.component,
                impl=Implementation(name=wheelproof.__name__, version="reference"),
                config=config,
                clock=run.clock,
                clock_resolution_ns=resolution_of(run.clock),
            )
            self._stream.write(format_line(header))
        return run

    def name(self, run: Run, subject: object, kind: str) -> str:
        """Return the name of a value that is passed to the object."""
        with self._lock:
            name = run.names.get(id(subject))
            if name is None:
                self._kept.append(subject)
                name = run.names[id(subject)] = f"{kind}-{next(run.numbers)}"
            return name

    def rename(self, run: Run, subject: object, kind: str) -> str:
        """Return a new name of a value that the object hands out again."""
        with self._lock:
            self._kept.append(subject)
            name = run.names[id(subject)] = f"{kind}-{next(run.numbers)}"
            return name

    def happens(
        self, run: Run, asked: Call, kind: LineType = "invoke", process: str | None = None
    ) -> str:
        """Write a line of an event that is not a call, and return its process."""
        process = process or self._inner(self._process())
        value = asked if kind == "invoke" else Nothing()
        self.write(run, kind, asked.name_on_the_wire(), value, process=process)
        return process

    def call(
        self,
        run: Run,
        asked: Call,
        answer: Callable[[_R], object],
        call: Callable[[], _R],
        refusal: Callable[[Exception], tuple[LineType, str | None]] | None = None,
    ) -> _R:
        """Make a call, and write its beginning and its end.

        A nested call has a process of its own. `refusal` says how an error is written.
        """
        thread = self._process()
        stack = self._open.setdefault(thread, [])
        process = f"{thread}/{len(stack)}" if stack else thread
        stack.append(process)
        try:
            return self._call(run, process, asked, answer, call, refusal or end_of)
        finally:
            stack.remove(process)

    def recorded(
        self,
        original: Callable[Concatenate[_S, _P], _R],
        asked: type[Call] | Callable[Concatenate[Run, _S, _P], Call | None],
        answer: Callable[[Run, _R], object],
        run_of: Callable[[_S], Run | None] | None = None,
    ) -> Callable[..., object]:
        """Return a method that does the same, and records its call if the object is recorded.

        `asked` returns the call, or None if it is not written; a class of calls gets the method's
        arguments by their names. `run_of` returns the history of an object that has none of its
        own.
        """
        asks = _asking(original, asked) if isinstance(asked, type) else asked

        @wraps(original)
        def method(subject: _S, *args: _P.args, **kwargs: _P.kwargs) -> _R:
            run = self.run_of(subject) if run_of is None else run_of(subject)
            call = None if run is None else asks(run, subject, *args, **kwargs)
            if run is None or call is None:
                return original(subject, *args, **kwargs)
            told: Callable[[_R], object] = partial(answer, run)
            return self.call(run, call, told, lambda: original(subject, *args, **kwargs))

        return method

    def making(
        self,
        original: Callable[Concatenate[_S, _P], None],
        begins: Callable[Concatenate[_S, _P], None],
    ) -> Callable[..., None]:
        """Return an `__init__` that does the same, and then calls `begins` as it was called."""

        @wraps(original)
        def made(subject: _S, *args: _P.args, **kwargs: _P.kwargs) -> None:
            original(subject, *args, **kwargs)
            begins(subject, *args, **kwargs)

        return made

    def open_calls(self) -> int:
        """Return how many calls of the calling thread are open."""
        return len(self._open.get(self._process(), ()))

    def thread(self) -> str:
        """Return the name of the calling thread."""
        return self._process()

    def write(
        self,
        run: Run,
        kind: LineType,
        f: str,
        value: object,
        *,
        process: str,
        error: str | None = None,
    ) -> None:
        """Write one line of a history."""
        with self._lock:
            if self._ended:
                return
            op = HistoryOp(
                kind="op",
                history=run.name,
                index=run.ops,
                process=process,
                type=kind,
                f=f,
                value=value,
                time_ns=time.monotonic_ns() if run.clock == "monotonic_ns" else ABSENT,
                error=ABSENT if error is None else error,
            )
            run.ops += 1
            self._stream.write(format_line(op))

    def _inner(self, thread: str) -> str:
        stack = self._open.get(thread)
        return stack[-1] if stack else thread

    def _call(
        self,
        run: Run,
        process: str,
        asked: Call,
        answer: Callable[[_R], object],
        call: Callable[[], _R],
        refusal: Callable[[Exception], tuple[LineType, str | None]],
    ) -> _R:
        f = asked.name_on_the_wire()
        self._begin(run, 1)
        self.write(run, "invoke", f, asked, process=process)
        try:
            result = call()
        except Exception as problem:
            kind, error = refusal(problem)
            self.write(run, kind, f, Nothing(), process=process, error=error)
            self._begin(run, -1)
            raise
        except BaseException:
            self.write(run, "info", f, Nothing(), process=process)
            self._begin(run, -1)
            raise
        self.write(run, "ok", f, answer(result), process=process)
        self._begin(run, -1)
        return result

    def _begin(self, run: Run, change: int) -> None:
        with self._lock:
            run.under_way += change


def end_of(problem: Exception) -> tuple[LineType, str | None]:
    """Return how an error is written: a known one by its name, another one as a lost call."""
    refusal = refusal_of(problem)
    return ("info", None) if refusal is None else ("fail", refusal)


def _asking(method: Callable[..., object], call: Callable[..., Call]) -> Callable[..., Call]:
    _, *names = signature(method).parameters

    def asked(_run: Run, _subject: object, *args: object, **kwargs: object) -> Call:
        return call(**dict(zip(names, args, strict=False)), **kwargs)

    return asked


def telling(answer: type[object]) -> Callable[[Run, object], object]:
    """Return a function that makes an answer, whose only field is the result."""
    assert is_dataclass(answer)
    (told,) = fields(answer)
    make: Callable[..., object] = answer
    return lambda _run, result: make(**{told.name: result})


def nothing(*results: object) -> Nothing:
    """Return the value of a call that has no answer."""
    del results
    return Nothing()


_REFUSALS: Mapping[type[Exception], str] = {
    IllegalArgumentError: ILLEGAL,
    BufferExhaustedError: EXHAUSTED,
    ProducerClosedError: CLOSED,
    ThreadInterruptedError: INTERRUPTED,
    MemoryError: "OutOfMemory",
    RuntimeError: CLOSED,
}
_DEFECTS = (AssertionError, AttributeError, LookupError, RecursionError, TypeError)
"""The errors of a call that has met a defect; a caller cannot cause any of them."""


def refusal_of(error: Exception) -> str | None:
    """Return the name of a refusal, CRASHED for a defect, or None for an unknown error."""
    if isinstance(error, WheelproofError | MemoryError):
        names = (name for cls, name in _REFUSALS.items() if isinstance(error, cls))
        return next(names, type(error).__name__)
    return CRASHED if isinstance(error, _DEFECTS) else None
