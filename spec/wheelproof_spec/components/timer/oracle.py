"""The oracle's timer: a heap of due times, and a judge that compares an implementation with it.

After each call `HeapTimer` gets the tasks that ran, in order, and returns whether the contract
allows that in this state. Where the contract leaves a choice, the observation decides.
`judge_step` does the same with one call and its answer, `TimerOracle` with those of a driven case.
TLA+: Timer (Add, Cancel, Fire, Tick).
"""

import heapq
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.contract import CONTRACTS, FiringOrder, TimerContract
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerClause,
    TimerConfig,
    TimerObservation,
)

TaskKey = TypeVar("TaskKey", bound=Hashable)


@dataclass(frozen=True, slots=True)
class _Waiting:
    due_ms: int
    add_number: int


class HeapTimer(Generic[TaskKey]):
    """A timer on which every operation is instantaneous.

    Tasks are named by any hashable value. The clock moves only by `advance_to`.
    """

    def __init__(
        self, *, tick_ms: int, start_ms: int, contract: TimerContract, tally: Tally | None = None
    ) -> None:
        """Make an empty timer whose clock shows `start_ms` milliseconds.

        `tally` counts the tested clauses; its known limits are not judged.
        """
        self._tick_ms = tick_ms
        self._now_ms = start_ms
        self._contract = contract
        self._tally = tally or Tally()
        self._waiting: dict[TaskKey, _Waiting] = {}
        # Entries of tasks that were cancelled or added again stay until they reach the top.
        self._heap: list[tuple[int, int, TaskKey]] = []
        self._adds = 0

    def copy(self) -> "HeapTimer[TaskKey]":
        """Return a timer in the same state, which then goes its own way; both share the tally."""
        other: HeapTimer[TaskKey] = HeapTimer(
            tick_ms=self._tick_ms, start_ms=self._now_ms, contract=self._contract, tally=self._tally
        )
        other._waiting = dict(self._waiting)
        other._heap = list(self._heap)
        other._adds = self._adds
        return other

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    def waiting(self) -> frozenset[TaskKey]:
        """Return the tasks that have neither run nor been cancelled."""
        return frozenset(self._waiting)

    def due_times(self) -> dict[TaskKey, int]:
        """Return when each of the waiting tasks is due, in milliseconds."""
        return {task: waiting.due_ms for task, waiting in self._waiting.items()}

    def latest_due_ms(self) -> int | None:
        """Return when the last of the waiting tasks is due, in milliseconds; None if none waits."""
        return max(self.due_times().values(), default=None)

    def add(self, task: TaskKey, delay_ms: int) -> None:
        """Add `task`, due after `delay_ms` milliseconds; an earlier add of it is void (1.12)."""
        self._adds += 1
        due_ms = self._contract.due_ms(self._now_ms + delay_ms, self._tick_ms)
        self._waiting[task] = _Waiting(due_ms, self._adds)
        heapq.heappush(self._heap, (due_ms, self._adds, task))

    def cancel(self, task: TaskKey) -> bool:
        """Cancel `task` and tell whether it was waiting (standard 1.10)."""
        return self._waiting.pop(task, None) is not None

    def advance_to(self, time_ms: int) -> None:
        """Move the clock to `time_ms` milliseconds; a task has run only once `observe` gets it."""
        self._now_ms = max(self._now_ms, time_ms)

    def size(self) -> int:
        """Return the number of waiting tasks (standard 1.14)."""
        return len(self._waiting)

    def observe(self, fired: Sequence[TaskKey], *, advanced: bool) -> Violation | None:
        """Record and judge the tasks that ran during the last call, in the order in which they ran.

        `advanced` says that the call was an advance that has returned: then no task that is due may
        be left (standard 1.18). Returns the first violation, or None.
        """
        last_due_ms: int | None = None
        for task in fired:
            violation = self._observe_run(task, last_due_ms)
            if violation is not None:
                return violation
            last_due_ms = self._waiting.pop(task).due_ms
        return self._find_overdue(fired) if advanced else None

    def _observe_run(self, task: TaskKey, last_due_ms: int | None) -> Violation | None:
        tests = self._tally.tests
        waiting = self._waiting.get(task)
        tests(TimerClause.RUNS_AT_MOST_ONCE)
        if waiting is None:
            return TimerClause.RUNS_AT_MOST_ONCE.broken(
                f"only waiting tasks run: {_some(self._waiting)}",
                f"{task!r} ran",
                f"{task!r} has run already, was cancelled, or was never added",
            )
        tests(TimerClause.NEVER_BEFORE_DUE)
        if waiting.due_ms > self._now_ms:
            return TimerClause.NEVER_BEFORE_DUE.broken(
                f"{task!r} runs at {waiting.due_ms} ms or later",
                f"{task!r} ran at {self._now_ms} ms",
                f"{task!r} ran {waiting.due_ms - self._now_ms} ms before it was due",
            )
        if last_due_ms is None or self._contract.order is FiringOrder.ANY:
            return None
        if tests(TimerClause.RUNS_IN_ORDER) and waiting.due_ms < last_due_ms:
            return TimerClause.RUNS_IN_ORDER.broken(
                f"{task!r}, due at {waiting.due_ms} ms, runs before what is due later",
                f"it ran after a task that was due at {last_due_ms} ms",
                "one advance submits by due time",
            )
        return None

    def _find_overdue(self, fired: Sequence[TaskKey]) -> Violation | None:
        self._tally.tests(TimerClause.NOTHING_LEFT_BEHIND)
        while self._heap:
            due_ms, add_number, task = self._heap[0]
            if self._waiting.get(task) == _Waiting(due_ms, add_number):
                break
            heapq.heappop(self._heap)
        owed_ms = self._contract.owes_ms(self._now_ms, self._tick_ms)
        if not self._heap or self._heap[0][0] > owed_ms:
            return None
        due_ms, _, task = self._heap[0]
        return TimerClause.NOTHING_LEFT_BEHIND.broken(
            f"{task!r}, due at {due_ms} ms, has run when the advance to {self._now_ms} ms returns",
            f"ran: {_some(fired)}",
            f"{task!r} has been due for {self._now_ms - due_ms} ms and still waits",
        )


def judge_step(
    timer: HeapTimer[TaskId],
    call: Add | Cancel | Advance | Size,
    seen: TimerObservation,
    tally: Tally,
) -> Violation | None:
    """Make `call` on `timer` and return the clause that `seen`, its outcome elsewhere, breaks.

    `tally` counts the tested clauses. An answer of None is not judged.
    """
    expected: bool | int
    observed: bool | int | None
    match call:
        case Add(task=task, delay_ms=delay_ms):
            timer.add(task, delay_ms)
            return timer.observe(seen.fired, advanced=False)
        case Cancel(task=task):
            clause, what = TimerClause.CANCEL_TELLS_THE_TRUTH, "cancelled"
            expected, observed = timer.cancel(task), seen.cancelled
        case Advance(to_ms=to_ms):
            timer.advance_to(to_ms)
            return timer.observe(seen.fired, advanced=True)
        case Size():
            clause, what = TimerClause.SIZE_COUNTS_WAITING, "size"
            expected, observed = timer.size(), seen.size
    violation = timer.observe(seen.fired, advanced=False)
    if violation or observed is None or not tally.tests(clause) or observed == expected:
        return violation
    return clause.broken(
        f"{what} {expected}",
        f"{what} {observed}",
        f"the answer differs from the state: {timer.size()} waiting",
    )


class TimerOracle:
    """The judge of a driven case: after each call it judges the outcome by the contract."""

    def __init__(self, profile: str, tally: Tally) -> None:
        """Judge by the contract `profile`, and count the tested clauses in `tally`."""
        self._contract = CONTRACTS[profile]
        self._tally = tally
        self._timer = self._fresh(TimerConfig())

    @property
    def now_ms(self) -> int:
        """The time that the timer's clock shows, in milliseconds."""
        return self._timer.now_ms

    def drain(self) -> Advance:
        """Return the advance after which no task waits."""
        return Advance(to_ms=max(self._timer.latest_due_ms() or 0, self.now_ms))

    def as_possible(self, call: TimerCall) -> TimerCall:
        """Return `call`: every call is possible at any time."""
        return call

    def judge(self, call: TimerCall, seen: TimerObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        self._tally.tests(TimerClause.ACCEPTS_ITS_DOMAIN)
        if isinstance(call, Reset):
            self._timer = self._fresh(call.config)
            return None
        return judge_step(self._timer, call, seen, self._tally)

    def judge_refusal(self, call: TimerCall, refusal: RefusedError) -> Violation:
        """Return the violation by the refusal of a call of the domain (standard 1.17)."""
        self._tally.tests(TimerClause.ACCEPTS_ITS_DOMAIN)
        return unexpected_refusal(TimerClause.ACCEPTS_ITS_DOMAIN, call, refusal)

    def _fresh(self, config: TimerConfig) -> HeapTimer[TaskId]:
        return HeapTimer(
            tick_ms=config.tick_ms,
            start_ms=config.start_ms,
            contract=self._contract,
            tally=self._tally,
        )


def _some(tasks: Collection[TaskKey], limit: int = 8) -> str:
    names = [repr(task) for task in list(tasks)[:limit]]
    if len(tasks) > limit:
        names.append(f"and {len(tasks) - limit} more")
    return ", ".join(names) or "none"
