"""The purgatory on the timer below it: two buckets a level, and a time-out that changes levels.

The other programs have a timer of one bucket. Here an operation can be completed while the entry of
its time-out is between two buckets, in none of them. Then the entry stays until its bucket expires,
and is counted (standard 1.11). The calls are recorded, and judged like any history.
"""

from collections.abc import Callable
from functools import partial

import wheelproof
from wheelproof import sync
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, Timer
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_lab.bugs.purgatory_variants import EndingReaperPurgatory
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer.system_timer import StandingClock
from wheelproof_lab.worlds.timer.world import (
    closed_by_a_task,
    closed_in_a_pass,
    failed_in_a_pass,
)
from wheelproof_spec.base.calls import (
    AdvanceClock,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Tick,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import Implementation
from wheelproof_spec.base.history.lines import HISTORY, HistoryEnd, HistoryHeader
from wheelproof_spec.components.purgatory.component import (
    PREDICATES_TOO,
    WHEELPROOF,
    AwaitSubmitted,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    Satisfy,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history import RECORDED
from wheelproof_spec.components.purgatory.port import AnyPurgatory, PurgatoryPort
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort
from wheelproof_spec.history.run import HistoryChecker

_KEY = "key"
_OPERATION = "operation"
_NAME = "explored"
_TIMEOUT_MS = 3
"""With two buckets a level, on the upper level until the clock shows _MOVES_MS."""
_MOVES_MS = 2


def controlled_thread() -> str:
    """Return the name of the running thread, the same in every run of a schedule."""
    runtime = sync.current_runtime()
    if not isinstance(runtime, ControlledRuntime):
        return "alone"
    thread = runtime.caller()
    return f"{thread.name}-{thread.number}"


class RecordedWorld:
    """A purgatory with one operation, whose time-out is about to move to the lower level."""

    def __init__(self) -> None:
        self._recorder = recorder = LoadRecorder(_NAME, controlled_thread)
        self._clock = StandingClock()
        self._executor = DeferredExecutor()
        timer = SystemTimer(
            _NAME,
            tick_ms=1,
            wheel_size=2,
            start_ms=0,
            clock=self._clock,
            executor=self._executor,
        )
        purgatory = AnyPurgatory(_NAME, timer, shards=1, reaper_enabled=False)
        self._port = PurgatoryPort(purgatory, recorder)
        self._purgatory = RecordedPort(self._port, recorder)
        self._purgatory.perform(
            TryCompleteElseWatch(operation=_OPERATION, delay_ms=_TIMEOUT_MS, keys=(_KEY,))
        )
        self._move_clock(_MOVES_MS)

    def advance(self) -> None:
        """Advance the timer."""
        self._purgatory.perform(AdvanceClock(timeout_ms=0))

    def force(self) -> None:
        """Complete the operation."""
        self._purgatory.perform(ForceComplete(operation=_OPERATION))

    def cancel(self) -> None:
        """Cancel the key of the operation."""
        self._purgatory.perform(CancelForKey(key=_KEY))

    def trigger(self) -> None:
        """Make the operation's predicate true, then check its key."""
        self._purgatory.perform(Satisfy(operation=_OPERATION))
        self._purgatory.perform(CheckAndComplete(key=_KEY))

    def check_history(self) -> None:
        """Let the time-out pass, then raise if the history breaks a rule."""
        self._settle()
        self._move_clock(_TIMEOUT_MS)
        self.advance()
        self._settle()
        header: HistoryHeader[object] = HistoryHeader(
            schema=HISTORY,
            kind="header",
            history=_NAME,
            component=RECORDED.definition.name,
            impl=Implementation(name=wheelproof.__name__, version="reference"),
            config=PREDICATES_TOO,
            clock="virtual",
        )
        checker = HistoryChecker(header, RECORDED, WHEELPROOF)
        ops = self._recorder.take()
        for op in ops:
            checker.feed(op)
        checker.feed(HistoryEnd(kind="end", history=_NAME, ops=len(ops), quiet=True))
        assert checker.violation is None, checker.violation

    def check_nothing_waits(self) -> None:
        """Raise if the time-out of a done operation is counted: rule 1.11 allows that."""
        left = self._port.purgatory.num_delayed()
        assert left == 0, f"{left} time-outs of operations that are done are in the timer"

    def _move_clock(self, to_ms: int) -> None:
        move = partial(setattr, self._clock, "now_ms", Millis(to_ms))
        self._recorder.do(Tick(to_ms=to_ms), move)

    def _settle(self) -> None:
        self._recorder.do(AwaitSubmitted(), self._executor.run_pending)
        for call in (PurgeCompleted(), Watched(), NumDelayed(), NumKeys()):
            self._purgatory.perform(call)


def force_and_cascade() -> Scenario:
    """An operation is completed while its time-out moves down a level."""
    return _against_advance(RecordedWorld.force)


def cancel_and_cascade() -> Scenario:
    """A key is cancelled while the time-out of its operation moves down a level."""
    return _against_advance(RecordedWorld.cancel)


def trigger_and_cascade() -> Scenario:
    """An operation is triggered while its time-out moves down a level."""
    return _against_advance(RecordedWorld.trigger)


def force_two_advances() -> Scenario:
    """An operation is completed while two threads advance."""
    world = RecordedWorld()
    threads: dict[str, Action] = {
        "force": world.force,
        "advance": world.advance,
        "advance too": world.advance,
    }
    return Scenario(threads=threads, check=world.check_history)


def nothing_stays_in_the_timer() -> Scenario:
    """A done operation leaves the timer at once: rule 1.11 does not say so, and some runs fail."""
    world = RecordedWorld()
    return Scenario(
        threads={"force": world.force, "advance": world.advance}, check=world.check_nothing_waits
    )


def _reaping(timer: Timer, purgatory_class: type[AnyPurgatory] = AnyPurgatory) -> Action:
    return purgatory_class("reaped", timer, shards=1).close


def _against_advance(call: Callable[[RecordedWorld], None]) -> Scenario:
    world = RecordedWorld()
    return Scenario(
        threads={"call": partial(call, world), "advance": world.advance},
        check=world.check_history,
    )


ON_TIMER: tuple[Program, ...] = (
    program("purgatory-timer-force", force_and_cascade),
    program("purgatory-timer-cancel", cancel_and_cascade),
    program("purgatory-timer-trigger", trigger_and_cascade),
    program("purgatory-timer-two-advances", force_two_advances),
    program("purgatory-reaper-pass", partial(closed_in_a_pass, _reaping)),
    program("purgatory-reaper-own", partial(closed_by_a_task, _reaping)),
)
LEFT_IN_TIMER = program("purgatory-timer-nothing-stays", nothing_stays_in_the_timer)
"""A program that must fail: rule 1.11 does not promise its check (docs/findings.md)."""

REAPER_FAULTS: tuple[Program, ...] = (
    program("fault/purgatory-reaper-pass", partial(failed_in_a_pass, _reaping)),
)
"""Programs in an environment of which one call may fail; they have to pass."""
FAILING_REAPER = program(
    "bug/reaper-ends-at-error/purgatory",
    partial(failed_in_a_pass, partial(_reaping, purgatory_class=EndingReaperPurgatory)),
)
