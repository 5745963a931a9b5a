"""Records the calls of threads and the answers, without mutual exclusion of the threads.

`recorded_run` records all calls of a block of code, under one lock. Here the threads only share a
counter: each thread has lines of its own, which are put in order at the end.
"""

import threading
import time
from collections.abc import Callable
from itertools import count
from typing import BinaryIO, Generic, Literal, TypeVar

from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.port import Port
from wheelproof_spec.history.recording.recorded_run import refusal_of, thread_name

NOTHING = Nothing()

Answer = TypeVar("Answer")
Asked = TypeVar("Asked", bound=Call)
_Lines = list[HistoryOp[object]]


class _Mine(threading.local):
    lines: _Lines | None = None


class LoadRecorder:
    """The recorder of the calls of one component."""

    def __init__(self, history: str, process: Callable[[], str] | None = None) -> None:
        """Begin; `process` names the current process, if it is not simply a real thread."""
        self._history = history
        self._process = process or thread_name
        self._indices = count()
        self._processes: list[_Lines] = []
        self._mine = _Mine()
        # The processes of the calls that are open on each thread, the innermost one last.
        self._open: dict[str, list[str]] = {}

    def process(self) -> str:
        """Return the name of the current process; the names of threads alone need not be unique."""
        return self._process()

    def call(self, asked: Call, call: Callable[[], object]) -> bool:
        """Make a call, write a line before and a line after it, and return whether it succeeded.

        `call` returns the answer as it is written. Raises the error of the call, unless it is a
        refusal. A call inside another one, as of a callback, has a process of its own.
        """
        thread = self._process()
        open_calls = self._open.setdefault(thread, [])
        process = f"{thread}/{len(open_calls)}" if open_calls else thread
        open_calls.append(process)
        try:
            return self._call(process, asked, call)
        finally:
            open_calls.pop()

    def _call(self, process: str, asked: Call, call: Callable[[], object]) -> bool:
        f = asked.name_on_the_wire()
        self._write("invoke", f, asked, process=process)
        try:
            answer = call()
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                self._write("info", f, NOTHING, process=process)
                raise
            self._write("fail", f, NOTHING, refusal, process=process)
            return False
        self._write("ok", f, answer, process=process)
        return True

    def do(self, asked: Call, call: Callable[[], object]) -> bool:
        """Make a call without an answer, like `call`; its return value is not written."""

        def answer() -> Nothing:
            call()
            return NOTHING

        return self.call(asked, answer)

    def answer(self, asked: Call, call: Callable[[], Answer]) -> Answer:
        """Make a call, like `call`, and return its answer. A refusal is raised, too."""
        answers: list[Answer] = []
        errors: list[Exception] = []

        def make() -> Answer:
            try:
                answers.append(call())
            except Exception as error:
                errors.append(error)
                raise
            return answers[0]

        if not self.call(asked, make):
            raise errors[0]
        return answers[0]

    def begins(self, what: Call, process: str | None = None) -> None:
        """Record that a callback began; by default in the call that this thread is in."""
        self._write("invoke", what.name_on_the_wire(), what, process=process or self._inner())

    def ends(self, what: Call, process: str | None = None) -> None:
        """Record that the callback that began in this process has ended."""
        self._write("ok", what.name_on_the_wire(), NOTHING, process=process or self._inner())

    def inside(self, callback: Callable[[], object]) -> None:
        """Run what a callback does outside any call: its calls have a process of their own."""
        thread = self._process()
        open_calls = self._open.setdefault(thread, [])
        open_calls.append(thread)
        try:
            callback()
        finally:
            open_calls.pop()

    def take(self) -> list[HistoryOp[object]]:
        """Return the lines written since the last `take`, in order; no thread may be in a call."""
        taken = [op for lines in self._processes for op in lines]
        for lines in self._processes:
            lines.clear()
        return sorted(taken, key=lambda op: op.index)

    def write_to(self, stream: BinaryIO, header: HistoryHeader[object]) -> int:
        """Write the history, and return how many events it has; all threads must have ended."""
        stream.write(format_line(header))
        ops = self.take()
        for op in ops:
            stream.write(format_line(op))
        end = HistoryEnd(kind="end", history=self._history, ops=len(ops), quiet=True)
        stream.write(format_line(end))
        return len(ops)

    def _inner(self) -> str:
        thread = self._process()
        open_calls = self._open.get(thread)
        return open_calls[-1] if open_calls else thread

    def _write(
        self,
        kind: Literal["invoke", "ok", "fail", "info"],
        f: str,
        value: object,
        error: str | None = None,
        *,
        process: str,
    ) -> None:
        lines = self._mine.lines
        if lines is None:
            lines = self._mine.lines = []
            self._processes.append(lines)
        # Read the time first: the clock has surely reached it when the index is taken.
        time_ns = time.monotonic_ns()
        lines.append(
            HistoryOp(
                kind="op",
                history=self._history,
                index=next(self._indices),
                process=process,
                type=kind,
                f=f,
                value=value,
                time_ns=time_ns,
                error=ABSENT if error is None else error,
            )
        )


class RecordedPort(Generic[Asked, Answer]):
    """A port whose calls are recorded; any number of threads may call if the port allows that."""

    def __init__(self, port: Port[Asked, Answer], recorder: LoadRecorder) -> None:
        self._port = port
        self._recorder = recorder

    def perform(self, call: Asked) -> Answer | None:
        """Make and record `call`, and return its answer, or None if it was refused."""
        answers: list[Answer] = []

        def make() -> Answer:
            answers.append(self._port.perform(call))
            return answers[0]

        return answers[0] if self._recorder.call(call, make) else None
