"""Counting what was checked while a timer is driven."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from wheelproof_spec.conformance.driver_messages import Add, Advance, Cancel, Reset, Size
from wheelproof_spec.conformance.driver_process import DriverFailedError
from wheelproof_spec.conformance.timer_clauses import KnownLimit, Skippable, TimerClause, skips
from wheelproof_spec.conformance.timer_judge import TimerCall, perform
from wheelproof_spec.conformance.timer_port import (
    TaskId,
    TimerConfig,
    TimerObservation,
    TimerPort,
)


class TimerTally:
    """A door to a timer that counts what passes through it, and hides what is not judged.

    Each observation is judged once, so that what was seen tells how often each clause was checked.
    `on_case` is told the number of cases and of steps at the start of each case. Nothing is counted
    after the driver has failed, so that `calls` ends with the call at which it did.
    """

    def __init__(
        self,
        port: TimerPort,
        known_limits: Sequence[KnownLimit],
        on_case: Callable[[int, int], None] | None = None,
    ) -> None:
        self._port = port
        self._on_case = on_case
        self._hide_order = skips(known_limits, TimerClause.RUNS_IN_ORDER)
        self._hide_cancelled = skips(known_limits, TimerClause.CANCEL_TELLS_THE_TRUTH)
        self._hide_size = skips(known_limits, TimerClause.SIZE_COUNTS_WAITING)
        self._failed = False
        self.cases = 0
        self.steps = 0
        self.checked: Counter[TimerClause] = Counter()
        self.skipped: Counter[Skippable] = Counter()
        self.calls: list[TimerCall] = []
        """The calls of the case that is being driven."""

    def reset(self, config: TimerConfig) -> None:
        """Make a new timer; see `TimerPort.reset`."""
        if not self._failed:
            self.calls.clear()
            self.cases += 1
            if self._on_case is not None:
                self._on_case(self.cases, self.steps)
        self._perform(Reset(config=config))

    def add(self, task: TaskId, delay_ms: int) -> TimerObservation:
        """Add a task; see `TimerPort.add`."""
        return self._perform(Add(task=task, delay_ms=delay_ms))

    def cancel(self, task: TaskId) -> TimerObservation:
        """Cancel a task; see `TimerPort.cancel`."""
        seen = self._perform(Cancel(task=task))
        if seen.cancelled is None:
            return seen
        if self._hide_cancelled:
            self.skipped[TimerClause.CANCEL_TELLS_THE_TRUTH] += 1
            return replace(seen, cancelled=None)
        self.checked[TimerClause.CANCEL_TELLS_THE_TRUTH] += 1
        return seen

    def advance(self, to_ms: int) -> TimerObservation:
        """Advance; see `TimerPort.advance`."""
        seen = self._perform(Advance(to_ms=to_ms))
        self.checked[TimerClause.NOTHING_LEFT_BEHIND] += 1
        return seen

    def size(self) -> TimerObservation:
        """Ask for the size; see `TimerPort.size`."""
        seen = self._perform(Size())
        if self._hide_size:
            self.skipped[TimerClause.SIZE_COUNTS_WAITING] += 1
            return replace(seen, size=None)
        self.checked[TimerClause.SIZE_COUNTS_WAITING] += 1
        return seen

    def _perform(self, call: TimerCall) -> TimerObservation:
        if not self._failed:
            self.calls.append(call)
            self.steps += 1
            self.checked[TimerClause.ACCEPTS_ITS_DOMAIN] += 1
        try:
            seen = perform(self._port, call)
        except DriverFailedError:
            self._failed = True
            raise
        ran = len(seen.fired)
        if ran:
            self.checked[TimerClause.RUNS_AT_MOST_ONCE] += ran
            self.checked[TimerClause.NEVER_BEFORE_DUE] += ran
            order = self.skipped if self._hide_order else self.checked
            order[TimerClause.RUNS_IN_ORDER] += ran - 1
        return seen
