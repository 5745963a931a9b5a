"""Histories of overlapping calls on a timer with their verdicts, one named test each.

Positions are the common order of invocations and returns: a call `[2, 5]` overlaps one `[3, 4]`.
What ran in a burst ran right before its first advance returned, or else its first add. The tick is
1 ms, the clock starts at 0 ms, the contract is Kafka's unless a history says otherwise.
"""

from dataclasses import dataclass, replace
from itertools import count
from typing import Literal

from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.codec.vocabulary import Implementation, Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.contract import KAFKA, FiringOrder, Rounding, TimerContract
from wheelproof_spec.base.history.clock import clock_of
from wheelproof_spec.base.history.judging import HistoryJudge
from wheelproof_spec.base.history.lines import HISTORY, HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    Size,
    TimerConfig,
    WaitingTasks,
)
from wheelproof_spec.components.timer.history import RECORDED
from wheelproof_spec.components.timer.history.judge import TimerHistoryJudge
from wheelproof_spec.history.run import HistoryChecker

_ANY_ORDER = TimerContract(
    name="any-order", rounding=Rounding.DOWN, lateness_ms=0, order=FiringOrder.ANY
)
_LATE = TimerContract(
    name="late", rounding=Rounding.DOWN, lateness_ms=3, order=FiringOrder.BY_DUE_TIME
)


@dataclass(frozen=True, slots=True)
class Made:
    """A call of a burst with its answer, from one position to another."""

    invoked: int
    returned: int
    call: Call
    answer: object


@dataclass(frozen=True, slots=True)
class Burst:
    """Calls that were made at once, what ran during them, and the size after them."""

    calls: tuple[Made, ...]
    fired: tuple[str, ...] = ()
    size: int = 0


@dataclass(frozen=True, slots=True)
class History:
    """Bursts, all of them good but for the last one, which breaks `broken_rule`, if any."""

    name: str
    bursts: tuple[Burst, ...]
    broken_rule: str | None = None
    contract: TimerContract = KAFKA


def add(invoked: int, returned: int, task: str, delay_ms: int) -> Made:
    """Return a call of add."""
    return Made(invoked, returned, Add(task=task, delay_ms=delay_ms), Nothing())


def cancel(invoked: int, returned: int, task: str, answer: bool) -> Made:
    """Return a call of cancel with its answer."""
    return Made(invoked, returned, Cancel(task=task), Cancelled(cancelled=answer))


def tick(invoked: int, returned: int, to_ms: int) -> Made:
    """Return a move of the clock."""
    return Made(invoked, returned, Tick(to_ms=to_ms), Nothing())


def advance(invoked: int, returned: int) -> Made:
    """Return a call of advance."""
    return Made(invoked, returned, AdvanceClock(), Advanced())


class Bursts:
    """The history judge, told of one burst after the other."""

    def __init__(self, contract: TimerContract, tick_ms: int = 1, start_ms: int = 0) -> None:
        config = TimerConfig(
            tick_ms=tick_ms, start_ms=start_ms, runs="inline", run_order="promised"
        )
        header: HistoryHeader[object] = HistoryHeader(
            schema=HISTORY,
            kind="header",
            history="h",
            component="timer",
            impl=Implementation(name="a script", version="1"),
            config=config,
            clock="virtual",
        )

        def judge(header: HistoryHeader[object], profile: str, tally: Tally) -> HistoryJudge:
            del profile
            return TimerHistoryJudge(config, clock_of(header, contract, tick_ms, start_ms), tally)

        self._checker = HistoryChecker(header, replace(RECORDED, judge=judge))
        self._indices = count()

    def judge(self, burst: Burst) -> Violation | None:
        """Tell of a burst, and return what the history breaks."""
        events = sorted(
            [(made.invoked, number, "invoke") for number, made in enumerate(burst.calls)]
            + [(made.returned, number, "ok") for number, made in enumerate(burst.calls)]
        )
        runs_before = _first_return(burst, AdvanceClock) or _first_return(burst, Add)
        for position, number, kind in events:
            made = burst.calls[number]
            if kind == "invoke":
                self._feed(f"p{number}", "invoke", made.call, made.call)
                continue
            if position == runs_before:
                for task in burst.fired:
                    self._feed("executor", "invoke", Run(task=task), Run(task=task))
            self._feed(f"p{number}", "ok", made.call, made.answer)
        self._feed("main", "invoke", Size(), Size())
        self._feed("main", "ok", Size(), WaitingTasks(size=burst.size))
        return self._checker.violation

    def rules(self) -> list[str]:
        """Return all rules that the history breaks."""
        verdict = self._checker.finish()
        found = [] if verdict.violation is None else [verdict.violation.rule]
        return [*found, *(also.violation.rule for also in verdict.also_broken)]

    def finish(self) -> Violation | None:
        """End the history, and return what it breaks."""
        end = HistoryEnd(kind="end", history="h", ops=next(self._indices), quiet=True)
        self._checker.feed(end)
        return self._checker.violation

    def _feed(self, process: str, kind: Literal["invoke", "ok"], call: Call, value: object) -> None:
        self._checker.feed(
            HistoryOp(
                kind="op",
                history="h",
                index=next(self._indices),
                process=process,
                type=kind,
                f=call.name_on_the_wire(),
                value=value,
            )
        )


def _first_return(burst: Burst, kind: type[Call]) -> int | None:
    returns = (made.returned for made in burst.calls if isinstance(made.call, kind))
    return min(returns, default=None)


def _alone(task: str, delay_ms: int, size: int) -> Burst:
    return Burst((add(0, 1, task, delay_ms),), size=size)


_A_AT_5 = _alone("a", 5, size=1)
_B_AT_6 = _alone("b", 6, size=2)
_TO_5 = (tick(0, 1, 5), advance(2, 3))
_TO_6 = (tick(0, 1, 6), advance(2, 3))
_ADD_DURING_TICK = (add(0, 3, "a", 5), tick(1, 2, 10))

LEFT_BEHIND = "Timer.NothingDueIsLeftBehind"
EARLY = "Timer.NeverBeforeItIsDue"
LYING_CANCEL = "Timer.CancelTellsTheTruth"
TOO_OFTEN = "Timer.RunsAtMostOncePerAdd"
OUT_OF_ORDER = "Timer.RunsInOrderOfDueTime"
WRONG_SIZE = "Timer.SizeCountsWaitingTasks"

HISTORIES = (
    History("nothing happens", (Burst(()),)),
    History("a task runs when it is due", (_A_AT_5, Burst(_TO_5, ("a",)))),
    History(
        "a task waits while it is not due", (_A_AT_5, Burst((tick(0, 1, 4), advance(2, 3)), size=1))
    ),
    History("a task due at once runs within its add", (Burst((add(0, 1, "a", 0),), ("a",)),)),
    History(
        "a task due at once waits for an advance",
        (_alone("a", 0, size=1), Burst((advance(0, 1),), ("a",))),
    ),
    History(
        "nothing is owed while no advance was made", (_A_AT_5, Burst((tick(0, 1, 9),), size=1))
    ),
    History(
        "an advance owes nothing to an add that overlaps it",
        (Burst((add(0, 3, "a", 0), advance(1, 2)), size=1),),
    ),
    History(
        "an advance may run what an overlapping add brings",
        (Burst((add(0, 3, "a", 0), advance(1, 2)), ("a",)),),
    ),
    History(
        "an add during a tick has read the clock before it",
        (Burst((*_ADD_DURING_TICK, advance(4, 5)), ("a",)),),
    ),
    History(
        "an add during a tick has read the clock after it",
        (
            Burst((*_ADD_DURING_TICK, advance(4, 5)), size=1),
            Burst((tick(0, 1, 15), advance(2, 3)), ("a",)),
        ),
    ),
    History(
        "a cancel wins against an overlapping advance",
        (_A_AT_5, Burst((tick(0, 1, 5), cancel(2, 5, "a", True), advance(3, 4)))),
    ),
    History(
        "a cancel loses against an overlapping advance",
        (_A_AT_5, Burst((tick(0, 1, 5), cancel(2, 5, "a", False), advance(3, 4)), ("a",))),
    ),
    History(
        "a cancel before an overlapping add misses it",
        (Burst((cancel(0, 3, "a", False), add(1, 2, "a", 5)), size=1),),
    ),
    History(
        "a cancel after an overlapping add finds it",
        (Burst((cancel(0, 3, "a", True), add(1, 2, "a", 5))),),
    ),
    History(
        "a cancel meets the entry between two lists",
        (Burst((cancel(0, 3, "a", True), add(1, 2, "a", 5)), size=1),),
    ),
    History(
        "a leftover is gone once its bucket has expired",
        (Burst((cancel(0, 3, "a", True), add(1, 2, "a", 5)), size=1), Burst(_TO_5)),
    ),
    History(
        "of two overlapping cancels one succeeds",
        (_A_AT_5, Burst((cancel(0, 2, "a", True), cancel(1, 3, "a", False)))),
    ),
    History(
        "two overlapping adds run once", (Burst((add(0, 2, "a", 0), add(1, 3, "a", 0)), ("a",)),)
    ),
    History(
        "two overlapping adds run twice",
        (Burst((add(0, 2, "a", 0), add(1, 3, "a", 0)), ("a", "a")),),
    ),
    History(
        "an add again puts the run off",
        (_A_AT_5, Burst((tick(0, 1, 4), add(2, 3, "a", 5)), size=1), Burst(_TO_5, size=1)),
    ),
    History(
        "two tasks run in the order of their due times",
        (_A_AT_5, _B_AT_6, Burst(_TO_6, ("a", "b"))),
    ),
    History(
        "two tasks of one tick run in any order",
        (_A_AT_5, _alone("b", 5, size=2), Burst(_TO_5, ("b", "a"))),
    ),
    History(
        "order is not judged where the contract leaves it open",
        (_A_AT_5, _B_AT_6, Burst(_TO_6, ("b", "a"))),
        contract=_ANY_ORDER,
    ),
    History(
        "order is not judged for a task that is added meanwhile",
        (_A_AT_5, Burst((add(0, 5, "b", 0), tick(1, 2, 5), advance(3, 4)), ("b", "a"))),
    ),
    History(
        "two advances at once share the work",
        (_A_AT_5, _B_AT_6, Burst((tick(0, 1, 6), advance(2, 4), advance(3, 5)), ("a", "b"))),
    ),
    History(
        "a task is as late as the contract allows",
        (_A_AT_5, Burst((tick(0, 1, 7), advance(2, 3)), size=1)),
        contract=_LATE,
    ),
    History("a due task is left behind", (_A_AT_5, Burst(_TO_5, size=1)), LEFT_BEHIND),
    History(
        "a task due at once is left behind by the next advance",
        (_alone("a", 0, size=1), Burst((advance(0, 1),), size=1)),
        LEFT_BEHIND,
    ),
    History(
        "a task is left behind by the second of two advances",
        (Burst((add(0, 2, "a", 0), advance(1, 3), advance(4, 5)), size=1),),
        LEFT_BEHIND,
    ),
    History(
        "a task is later than the contract allows",
        (_A_AT_5, Burst((tick(0, 1, 8), advance(2, 3)), size=1)),
        LEFT_BEHIND,
        _LATE,
    ),
    History(
        "a task runs before it is due",
        (_A_AT_5, Burst((tick(0, 1, 4), advance(2, 3)), ("a",))),
        EARLY,
    ),
    History(
        "a task runs at the due time of its older add",
        (_A_AT_5, Burst((tick(0, 1, 4), add(2, 3, "a", 5)), size=1), Burst(_TO_5, ("a",))),
        EARLY,
    ),
    History(
        "a cancelled task runs all the same",
        (_A_AT_5, Burst((cancel(0, 1, "a", True),)), Burst(_TO_5, ("a",))),
        TOO_OFTEN,
    ),
    History("a task runs twice", (_A_AT_5, Burst(_TO_5, ("a", "a"))), TOO_OFTEN),
    History("a task runs again", (_A_AT_5, Burst(_TO_5, ("a",)), Burst(_TO_6, ("a",))), TOO_OFTEN),
    History(
        "two overlapping adds run three times",
        (Burst((add(0, 2, "a", 0), add(1, 3, "a", 0)), ("a", "a", "a")),),
        TOO_OFTEN,
    ),
    History("a task that was never added runs", (Burst((advance(0, 1),), ("ghost",)),), TOO_OFTEN),
    History(
        "a cancel of nothing claims success", (Burst((cancel(0, 1, "a", True),)),), LYING_CANCEL
    ),
    History(
        "a cancel of a waiting task denies it",
        (_A_AT_5, Burst((cancel(0, 1, "a", False),), size=0)),
        LYING_CANCEL,
    ),
    History(
        "a cancel claims success and the task runs",
        (_A_AT_5, Burst((tick(0, 1, 5), cancel(2, 5, "a", True), advance(3, 4)), ("a",))),
        LYING_CANCEL,
    ),
    History(
        "both of two overlapping cancels claim success",
        (_A_AT_5, Burst((cancel(0, 2, "a", True), cancel(1, 3, "a", True)))),
        LYING_CANCEL,
    ),
    History(
        "two tasks run in the wrong order",
        (_A_AT_5, _B_AT_6, Burst(_TO_6, ("b", "a"))),
        OUT_OF_ORDER,
    ),
    History("a waiting task is not counted", (Burst((add(0, 1, "a", 5),), size=0),), WRONG_SIZE),
    History("a task is counted twice", (Burst((add(0, 1, "a", 5),), size=3),), WRONG_SIZE),
    History(
        "a task that has run is still counted",
        (_A_AT_5, Burst(_TO_5, ("a",)), Burst(_TO_6, size=1)),
        WRONG_SIZE,
    ),
    History(
        "a leftover outlives its bucket",
        (
            Burst((cancel(0, 3, "a", True), add(1, 2, "a", 5)), size=1),
            Burst(_TO_5),
            Burst(_TO_6, size=1),
        ),
        WRONG_SIZE,
    ),
)
