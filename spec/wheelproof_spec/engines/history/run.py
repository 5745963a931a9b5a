"""Judges one history, whatever component it belongs to, line by line."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.contract import HASHED_WHEEL, KAFKA, NEVER_EARLY, TimerContract
from wheelproof_spec.base.history.clock import HistoryClock, MonotonicClock, NoClock, VirtualClock
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.base.run_verdict import Place, RunVerdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
)
from wheelproof_spec.components.accumulator.history.judge import AccumulatorHistoryJudge
from wheelproof_spec.components.buffer_pool.events import (
    PoolSettings,
)
from wheelproof_spec.components.buffer_pool.history.judge import PoolHistoryJudge
from wheelproof_spec.components.definitions import COMPONENTS
from wheelproof_spec.components.purgatory.events import PurgatorySettings
from wheelproof_spec.components.purgatory.history.judge import PurgatoryHistoryJudge
from wheelproof_spec.components.timer.events import TimerSettings
from wheelproof_spec.components.timer.history.judge import TimerHistoryJudge
from wheelproof_spec.engines.history.unordered import UnorderedHistoryJudge

PROFILES: Mapping[str, TimerContract] = {
    one.name: one for one in (KAFKA, NEVER_EARLY, HASHED_WHEEL)
}
"""The contracts that a history can be judged by."""

CRASHED = "Crashed"
"""The error of a call that ended in what no call may raise: a defect of the implementation."""

MOST_PROCESSES = 100_000
_RESOLUTION_NS = 1_000_000
_CALLS = {name: {call.f: call.happens for call in one.calls} for name, one in COMPONENTS.items()}


class HistoryJudge(Protocol):
    """Judges the calls of one component, in the order in which they were recorded."""

    def invoked(self, op: HistoryOp[object]) -> Violation | None:
        """A call begins."""
        ...

    def ended(self, op: HistoryOp[object]) -> Violation | None:
        """Something that happened, and was no call, is over."""
        ...

    def returned(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call returned with an answer."""
        ...

    def failed(self, asked: HistoryOp[object], op: HistoryOp[object]) -> Violation | None:
        """A call was refused and has had no effect."""
        ...

    def lost(self, asked: HistoryOp[object], op: HistoryOp[object]) -> None:
        """Nobody knows what becomes of a call."""
        ...

    def finish(self, end: HistoryEnd | None, index: int) -> Violation | None:
        """The history ends."""
        ...

    def notes(self, end: HistoryEnd | None) -> tuple[str, ...]:
        """Return what was not judged."""
        ...


class HistoryChecker:
    """Checks that a history can have been recorded, and lets its judge decide about it."""

    def __init__(
        self, header: HistoryHeader[object], profile: str | None = None, line: int = 0
    ) -> None:
        """Begin with the header; `profile` replaces the one that it names.

        Raises MalformedError if the profile is unknown.
        """
        self._header = header
        named = header.profile if isinstance(header.profile, str) else KAFKA.name
        self._profile = profile or named
        if self._profile not in PROFILES:
            known = " and ".join(PROFILES)
            raise MalformedError(f"names the profile {self._profile!r}; there are {known}")
        self._judge = _judge_of(header, PROFILES[self._profile])
        self._known = _CALLS[header.component]
        self._asked: dict[str, HistoryOp[object]] = {}
        self._next = 0
        self._end: HistoryEnd | None = None
        self._violation: Violation | None = None
        self._place = Place(index=0, line=line)
        self._steps: Mapping[str, Callable[[HistoryOp[object]], Violation | None]] = {
            "invoke": self._invoke,
            "ok": self._ok,
            "fail": self._fail,
            "info": self._info,
        }

    def feed(self, event: HistoryOp[object] | HistoryEnd, line: int = 0) -> None:
        """Take the next line; see `RunChecker.feed`."""
        if isinstance(event, HistoryEnd):
            self._take_end(event, line)
            return
        self._require_place(event)
        if self._violation is not None:
            self._step_only(event)
        else:
            self._violation = self._steps[event.type](event)
            if self._violation is not None:
                self._place = Place(index=event.index, line=line)
        self._next += 1

    def finish(self) -> RunVerdict:
        """Return the verdict."""
        failed = self._violation is not None
        return RunVerdict(
            run=self._header.history,
            format="history",
            component=self._header.component,
            implementation=f"{self._header.impl.name} {self._header.impl.version}",
            profile=self._profile,
            verdict=self._verdict(),
            events=self._next,
            good_prefix=self._place.index if failed else self._next,
            violation=self._violation,
            place=self._place if failed else None,
            notes=() if failed else self._judge.notes(self._end),
        )

    def _verdict(self) -> Verdict:
        if self._violation is not None:
            return Verdict.FAIL
        # A run that contains nothing has shown nothing.
        return Verdict.PASS if self._next else Verdict.INCONCLUSIVE

    def _take_end(self, end: HistoryEnd, line: int) -> None:
        if self._end is not None:
            raise MalformedError("ends a history that has ended")
        if end.ops != self._next:
            raise MalformedError(f"says that there are {end.ops} ops, but {self._next} came")
        if end.quiet and self._asked:
            process = next(iter(self._asked))
            raise MalformedError(f"says that all is quiet, but the last call of {process!r} runs")
        self._end = end
        if self._violation is None:
            stuck = end.stuck is True and self._asked
            self._violation = (
                _stuck(self._asked.values()) if stuck else self._judge.finish(end, self._next)
            )
            self._place = Place(index=self._next, line=line)

    def _require_place(self, op: HistoryOp[object]) -> None:
        if self._end is not None:
            raise MalformedError("comes after the end of its history")
        if op.index != self._next:
            raise MalformedError(f"has the index {op.index} where {self._next} is next")
        if op.f not in self._known:
            raise MalformedError(f"has the call {op.f!r}, which a {self._header.component} lacks")
        if self._known[op.f]:
            if op.type not in ("invoke", "ok"):
                raise MalformedError(f"has the type {op.type!r}, but {op.f!r} is no call")
            return
        asked = self._asked.get(op.process)
        if op.type == "invoke":
            if asked is not None:
                raise MalformedError(f"begins a call while the last one of {op.process!r} runs")
            if len(self._asked) >= MOST_PROCESSES:
                raise MalformedError(f"would make more than {MOST_PROCESSES:,} open calls")
        elif asked is None:
            raise MalformedError(f"ends a call of {op.process!r}, which has none under way")
        elif asked.f != op.f:
            raise MalformedError(f"ends {op.f!r}, but {op.process!r} called {asked.f!r}")

    def _step_only(self, op: HistoryOp[object]) -> None:
        if self._known[op.f]:
            return
        if op.type == "invoke":
            self._asked[op.process] = op
        else:
            del self._asked[op.process]

    def _invoke(self, op: HistoryOp[object]) -> Violation | None:
        if not self._known[op.f]:
            self._asked[op.process] = op
        return self._judge.invoked(op)

    def _ok(self, op: HistoryOp[object]) -> Violation | None:
        if self._known[op.f]:
            return self._judge.ended(op)
        return self._judge.returned(self._asked.pop(op.process), op)

    def _fail(self, op: HistoryOp[object]) -> Violation | None:
        asked = self._asked.pop(op.process)
        if op.error == CRASHED:
            return _crashed(asked)
        return self._judge.failed(asked, op)

    def _info(self, op: HistoryOp[object]) -> Violation | None:
        self._judge.lost(self._asked.pop(op.process), op)
        return None


def _crashed(asked: HistoryOp[object]) -> Violation:
    return Violation(
        rule="History.NoCallCrashes",
        expected=f"{asked.f!r} returns, or is refused for a reason",
        observed=f"the call of {asked.process!r} ended in a defect",
        reason="an error that no rule names is none that a caller can act upon",
    )


def _stuck(calls: Iterable[HistoryOp[object]]) -> Violation:
    names = ", ".join(f"{call.f!r} of {call.process!r}" for call in calls)
    return Violation(
        rule="History.EveryCallReturns",
        expected="every call returns",
        observed=f"these never do: {names}",
        reason="each of them waits for what another one would have to do",
    )


def _judge_of(header: HistoryHeader[object], contract: TimerContract) -> HistoryJudge:
    config = header.config
    if header.order == "process" or header.clock == "process_ns":
        return UnorderedHistoryJudge()
    match config:
        case TimerSettings(tick_ms=tick_ms, start_ms=start_ms):
            return TimerHistoryJudge(config, _clock_of(header, tick_ms, start_ms, contract))
        case PurgatorySettings(tick_ms=tick_ms, start_ms=start_ms):
            return PurgatoryHistoryJudge(config, _clock_of(header, tick_ms, start_ms, contract))
        case PoolSettings():
            clock = _clock_of(header, ABSENT, ABSENT, contract)
            return PoolHistoryJudge(config, clock if isinstance(clock, MonotonicClock) else None)
        case AccumulatorSettings(start_ms=start_ms):
            return AccumulatorHistoryJudge(config, _clock_of(header, ABSENT, start_ms, contract))
        case _:
            raise TypeError(f"{config!r} configures no component")


def _clock_of(
    header: HistoryHeader[object],
    tick_ms: int | Absent,
    start_ms: int | Absent,
    contract: TimerContract,
) -> HistoryClock:
    tick_ms = tick_ms if isinstance(tick_ms, int) else 1
    match header.clock:
        case "virtual":
            return VirtualClock(tick_ms, contract, start_ms if isinstance(start_ms, int) else 0)
        case "monotonic_ns":
            resolution_ns = header.clock_resolution_ns
            if not isinstance(resolution_ns, int):
                resolution_ns = _RESOLUTION_NS
            return MonotonicClock(tick_ms, contract, resolution_ns)
        case _:
            return NoClock(tick_ms, contract)
