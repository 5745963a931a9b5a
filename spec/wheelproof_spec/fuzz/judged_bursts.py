"""Bursts of real threads, recorded and judged like every other history."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import wheelproof
from wheelproof_spec.base.codec.vocabulary import Implementation
from wheelproof_spec.base.component import Config
from wheelproof_spec.base.history.judging import RecordedComponent
from wheelproof_spec.base.history.lines import HISTORY, Clock, HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.run import HistoryChecker

_HISTORY = "burst"


@dataclass(slots=True)
class KeptHistory:
    """A judged history; `rests` has the numbers of lines after which no call was in progress."""

    header: HistoryHeader[object]
    ops: list[HistoryOp[object]] = field(default_factory=list[HistoryOp[object]])
    rests: list[int] = field(default_factory=list[int])


_kept: ContextVar[list[KeptHistory] | None] = ContextVar("kept", default=None)


@contextmanager
def kept_histories() -> Generator[list[KeptHistory]]:
    """Collect the histories of all bursts that are judged inside the block."""
    found: list[KeptHistory] = []
    token = _kept.set(found)
    try:
        yield found
    finally:
        _kept.reset(token)


class JudgedBursts:
    """One object under test by bursts, its recorder, and the judge of its history."""

    def __init__(
        self,
        component: RecordedComponent,
        config: Config,
        *,
        clock: Clock = "monotonic_ns",
        profile: str | None = None,
        process: Callable[[], str] | None = None,
    ) -> None:
        """Begin the history of an object with the configuration `config` and the given `profile`.

        `process` returns the name of the current thread, if it is no OS thread.
        """
        self.recorder = LoadRecorder(_HISTORY, process)
        header: HistoryHeader[object] = HistoryHeader(
            schema=HISTORY,
            kind="header",
            history=_HISTORY,
            component=component.definition.name,
            impl=Implementation(name=wheelproof.__name__, version="reference"),
            config=config,
            clock=clock,
        )
        self._checker = HistoryChecker(
            header, component, profile or component.definition.profiles[0]
        )
        self._ops = 0
        self._history = KeptHistory(header)
        kept = _kept.get()
        self._keeps = kept is not None
        if kept is not None:
            kept.append(self._history)

    def run(
        self,
        programs: Sequence[Sequence[Callable[[], object]]],
        settle: Callable[[], None] | None = None,
    ) -> Violation | None:
        """Run a burst, then `settle`, and return the violation of the history so far, if any.

        The calls of `programs`, one program for each thread, and `settle` record themselves.
        """
        return self.judge(lambda: run_burst(programs), settle)

    def judge(
        self, burst: Callable[[], object], settle: Callable[[], None] | None = None
    ) -> Violation | None:
        """Do the same as `run`, for a burst that `burst` runs; it may raise BurstError."""
        try:
            burst()
            if settle is not None:
                settle()
        except BurstError as error:
            return self._feed() or self._end(stuck=True) or error.violation
        return self._feed()

    def finish(self) -> Violation | None:
        """End the history, with no call in progress, and return its violation, if any."""
        return self._feed() or self._end(stuck=False)

    def _feed(self) -> Violation | None:
        for op in self.recorder.take():
            self._checker.feed(op)
            self._ops += 1
            if self._keeps:
                self._history.ops.append(op)
        if not self._checker.under_way:
            self._history.rests.append(self._ops)
        return self._checker.violation

    def _end(self, *, stuck: bool) -> Violation | None:
        quiet = not self._checker.under_way
        end = HistoryEnd(
            kind="end", history=_HISTORY, ops=self._ops, quiet=quiet, stuck=stuck and not quiet
        )
        self._checker.feed(end)
        return self._checker.violation
