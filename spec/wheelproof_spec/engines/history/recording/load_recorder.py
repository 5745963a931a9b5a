"""Writes down what callers ask for and get, without keeping any two of them apart.

`recorded_run` records whatever a block of code does, under one lock. Here threads share a counter
and nothing else: each has lines of its own, which are put in order when all is over.
"""

import threading
import time
from collections.abc import Callable
from itertools import count
from typing import BinaryIO, Literal

from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.engines.history.recording.recorded_run import thread_name
from wheelproof_spec.engines.history.recording.refusals import refusal_of

NOTHING = Nothing()

_Lines = list[HistoryOp[object]]


class _Mine(threading.local):
    lines: _Lines | None = None


class LoadRecorder:
    """Records one component."""

    def __init__(self, history: str, process: Callable[[], str] | None = None) -> None:
        """`process` says what the current thread is called, where that is no thread of its own."""
        self._history = history
        self._process = process or thread_name
        self._indices = count()
        self._processes: list[_Lines] = []
        self._mine = _Mine()

    def process(self) -> str:
        """Return what the current thread is called; names of threads need not differ."""
        return self._process()

    def call(self, asked: Call, call: Callable[[], object]) -> bool:
        """Make a call between its two lines, and tell whether it was served.

        `call` returns the answer as it is written. Raises what the call raised, unless that is a
        refusal.
        """
        f = asked.name_on_the_wire()
        self._write("invoke", f, asked)
        try:
            answer = call()
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                self._write("info", f, NOTHING)
                raise
            self._write("fail", f, NOTHING, refusal)
            return False
        self._write("ok", f, answer)
        return True

    def do(self, asked: Call, call: Callable[[], object]) -> bool:
        """Make a call that has no answer, like `call`; what it returns is not written."""

        def answer() -> Nothing:
            call()
            return NOTHING

        return self.call(asked, answer)

    def begins(self, what: Call, process: str | None = None) -> None:
        """Write down that a callback begins, which nobody called; by default on this thread."""
        self._write("invoke", what.name_on_the_wire(), what, process=process)

    def ends(self, what: Call) -> None:
        """Write down that the callback that began on this thread is over."""
        self._write("ok", what.name_on_the_wire(), NOTHING)

    def take(self) -> list[HistoryOp[object]]:
        """Return what was written since the last time, in order; no thread may be in a call."""
        taken = [op for lines in self._processes for op in lines]
        for lines in self._processes:
            lines.clear()
        return sorted(taken, key=lambda op: op.index)

    def write_to(self, stream: BinaryIO, header: HistoryHeader[object]) -> int:
        """Write the history, and return how many events it has; all threads have ended."""
        stream.write(format_line(header))
        ops = self.take()
        for op in ops:
            stream.write(format_line(op))
        end = HistoryEnd(kind="end", history=self._history, ops=len(ops), quiet=True)
        stream.write(format_line(end))
        return len(ops)

    def _write(
        self,
        kind: Literal["invoke", "ok", "fail", "info"],
        f: str,
        value: object,
        error: str | None = None,
        process: str | None = None,
    ) -> None:
        lines = self._mine.lines
        if lines is None:
            lines = self._mine.lines = []
            self._processes.append(lines)
        # The time first: by the moment of the index the clock has surely reached it.
        time_ns = time.monotonic_ns()
        lines.append(
            HistoryOp(
                kind="op",
                history=self._history,
                index=next(self._indices),
                process=process or self._process(),
                type=kind,
                f=f,
                value=value,
                time_ns=time_ns,
                error=ABSENT if error is None else error,
            )
        )
