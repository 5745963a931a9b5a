"""Bursts of real threads, recorded and judged like every other history."""

from collections.abc import Callable, Collection, Sequence

import wheelproof
from wheelproof_spec.base.codec.vocabulary import Implementation
from wheelproof_spec.base.component import Config
from wheelproof_spec.base.history.judging import LinearizationSearch, RecordedComponent
from wheelproof_spec.base.history.lines import (
    HISTORY,
    Clock,
    HistoryEnd,
    HistoryHeader,
    KeptHistory,
)
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.recorded_run import resolution_of
from wheelproof_spec.history.run import HistoryChecker

_HISTORY = "burst"


class JudgedBursts:
    """One object under test by bursts, its recorder, and the judge of its history."""

    def __init__(
        self,
        component: RecordedComponent,
        config: Config,
        *,
        clock: Clock = "monotonic_ns",
        profile: str | None = None,
        skip: Collection[str] = (),
        search: LinearizationSearch | None = None,
        process: Callable[[], str] | None = None,
        keep: Callable[[KeptHistory], object] | None = None,
    ) -> None:
        """Begin the history of an object with the configuration `config` and the given `profile`.

        The clauses of `skip` are not judged. `search` searches the history when it ends, if it is
        small. `process` returns the name of the current thread, if it is no OS thread. `keep` gets
        the history, which is filled while it is judged.
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
            clock_resolution_ns=resolution_of(clock),
        )
        self._checker = HistoryChecker(
            header, component, profile or component.definition.profiles[0], skip, search
        )
        self._of = component.definition.title()
        self._ops = 0
        self._history = KeptHistory(header)
        self._keeps = keep is not None
        if keep is not None:
            keep(self._history)

    def run(
        self,
        programs: Sequence[Sequence[Callable[[], object]]],
        settle: Callable[[], None] | None = None,
    ) -> Violation | None:
        """Run a burst, then `settle`, and return the violation of the history so far, if any.

        The calls of `programs`, one program for each thread, and `settle` record themselves.
        """
        return self.judge(lambda: run_burst(programs, self._of), settle)

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
