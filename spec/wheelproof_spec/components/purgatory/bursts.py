"""The bursts of a driven purgatory: callers that hand in, trigger, force, cancel and advance.

A callback runs between the answer that tells of it and the one before, in which call is unknown. So
it stands in the history just in front of that answer, in a process of its own.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from wheelproof_spec.base.calls import (
    Advance,
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    Reset,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.base.port import Asked
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    WHEELPROOF,
    AskGauges,
    AwaitSubmitted,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryClause,
    PurgatoryConfig,
    PurgatoryObservation,
    Satisfy,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.history import RECORDED
from wheelproof_spec.components.purgatory.work import HandIn, PurgatoryStep, work_of_bursts
from wheelproof_spec.drive.work import AdvanceBy, SeededDraw
from wheelproof_spec.fuzz.overlapping import ALONE, BurstRecord, DrivenBursts, case_of
from wheelproof_spec.fuzz.threaded_case import Burst, ThreadedCase

_BURSTS = (1, 4)
_CALLERS = (1, 3)
_MIX = ("watch",) * 4 + ("trigger",) * 4 + ("check", "force")
_RARELY = 12
_UNSEEN = (
    "in which call an operation is completed",
    "the order in which a trigger tries",
    "attempts that meet",
)


def bursts(profile: str, tally: Tally) -> DrivenBursts[PurgatoryCall, PurgatoryObservation]:
    """Return the bursts of a purgatory, judged by the contract of a profile."""
    cancels = not tally.skips(PurgatoryCapability.CANCEL_FOR_KEY)

    def record(config: Config) -> PurgatoryRecord:
        assert isinstance(config, PurgatoryConfig)
        return PurgatoryRecord(config, profile, tally)

    return DrivenBursts(
        lambda chance: _Drawing(chance, cancels=cancels).case(),
        record,
        refused=PurgatoryClause.ACCEPTS_ITS_DOMAIN,
        unseen=_UNSEEN,
    )


class _Drawing:
    """Draws one case. Each operation has one condition, with its own name."""

    def __init__(self, chance: random.Random, *, cancels: bool) -> None:
        work = work_of_bursts(1)
        self._draw = SeededDraw(chance)
        self._cancels = cancels
        self._kinds = work.kinds()
        self._keys = work.keys
        self._setup = work.setup(self._draw)
        self._now_ms = self._setup.config.start_ms
        self._made: list[str] = []

    def case(self) -> ThreadedCase[Config, PurgatoryCall]:
        found: list[Burst[PurgatoryCall]] = []
        for _ in range(self._draw.between(*_BURSTS)):
            found.append(self._burst())
            if self._draw.once_in(4):
                found.append(((self._advance(),),))
        return case_of(self._setup.config, tuple(found))

    def _burst(self) -> Burst[PurgatoryCall]:
        draw, before = self._draw, tuple(self._made)
        programs = [self._calls(before) for _ in range(draw.between(*_CALLERS))]
        # Who hands in comes first: what others do to the same operation is asked behind it.
        programs.sort(key=lambda calls: not isinstance(calls[0], TryCompleteElseWatch))
        if draw.once_in(3):
            programs.append((self._advance(),))
        return tuple(programs)

    def _calls(self, before: tuple[str, ...]) -> tuple[PurgatoryCall, ...]:
        """Return what one caller asks: at times a condition, and the check that finds it true."""
        draw = self._draw
        if self._cancels and draw.once_in(_RARELY):
            return (CancelForKey(key=draw.among(self._keys)),)
        kind = draw.among(_MIX)
        if kind == "force" and before:
            # Only who was handed in before this burst is surely known.
            return (ForceComplete(operation=before[-1]),)
        if kind == "check":
            return (CheckAndComplete(key=draw.among(self._keys)),)
        if kind == "trigger" and self._made:
            condition = SetCondition(condition=self._made[-draw.between(1, 2) :][0])
            return condition, CheckAndComplete(key=draw.among(self._keys))
        step = self._step("watch")
        assert isinstance(step, HandIn)
        name = f"op{len(self._made) + 1}"
        self._made.append(name)
        hand_in = TryCompleteElseWatch(
            operation=name, delay_ms=step.delay_ms, keys=step.keys, conditions=(name,)
        )
        return (hand_in,)

    def _advance(self) -> PurgatoryCall:
        step = self._step("advance")
        assert isinstance(step, AdvanceBy)
        self._now_ms += step.jump_ms
        return Advance(to_ms=self._now_ms)

    def _step(self, kind: str) -> PurgatoryStep:
        return self._kinds[kind].in_a_burst(self._draw, self._setup)


class PurgatoryRecord(BurstRecord[PurgatoryCall, PurgatoryObservation]):
    """One case of a purgatory."""

    def __init__(self, config: PurgatoryConfig, profile: str, tally: Tally) -> None:
        """Begin; known limits of `tally` are not judged."""
        gives_up = profile == WHEELPROOF
        claimed = replace(
            config, predicates="recorded", cancels="operation" if gives_up else ABSENT
        )
        super().__init__(RECORDED, claimed, profile, tally.skipped, RECORDED.search)
        self._keys: dict[str, None] = {}
        self._asked_for: set[str] = set()
        self._handed_in: set[str] = set()
        """Those that were handed in before this burst."""
        self._now_ms = self._last_due_ms = config.start_ms

    def is_possible(self, call: PurgatoryCall) -> bool:
        """Leave out what is about an operation that is not handed in, and a step back in time."""
        match call:
            case TryCompleteElseWatch(operation=name):
                new = name not in self._asked_for
                self._asked_for.add(name)
                return new
            case SetCondition(condition=name):
                return name in self._asked_for
            case ForceComplete(operation=name):
                return name in self._handed_in
            case Advance(to_ms=to_ms):
                return to_ms >= self._now_ms
            case Reset():
                return False
            case _:
                return True

    def begins(self, asked: Asked[PurgatoryCall]) -> None:
        """Record that a call may begin; the clock moves at some time of an advance."""
        call, caller = asked.call, asked.caller or ALONE
        if isinstance(call, Advance):
            self._now_ms = max(self._now_ms, call.to_ms)
            self.clock_begins(caller, call.to_ms)
        if isinstance(call, TryCompleteElseWatch):
            self._keys.update(dict.fromkeys(call.keys))
            self._last_due_ms = max(self._last_due_ms, self._now_ms + call.delay_ms)
        self.write(caller, _recorded(call))

    def ends(self, asked: Asked[PurgatoryCall], seen: PurgatoryObservation) -> None:
        """Record that a call has ended, and which callbacks ran before."""
        call, caller = asked.call, asked.caller
        self._ran(seen)
        if isinstance(call, Advance):
            self.clock_ends(caller, call.to_ms)
        if isinstance(call, TryCompleteElseWatch):
            # The clock may have moved while it was handed in.
            self._last_due_ms = max(self._last_due_ms, self._now_ms + call.delay_ms)
        self.write(caller, _recorded(call), answer=_answer(call, seen))

    def rest(self) -> PurgatoryCall:
        """Return a look at the gauges."""
        return AskGauges()

    def rests(self, call: PurgatoryCall, seen: PurgatoryObservation) -> None:
        """Record that all that was submitted has run, and what the gauges show."""
        if isinstance(call, Reset):
            return
        if isinstance(call, Advance):
            self._ran(seen)
            self.write(ALONE, AdvanceClock(), answer=Advanced())
        self.write(ALONE, AwaitSubmitted())
        self._ran(seen if isinstance(call, AskGauges) else PurgatoryObservation())
        self.write(ALONE, AwaitSubmitted(), answer=Nothing())
        self._handed_in |= self._asked_for
        self._look(Watched(), seen.watched)
        self._look(NumDelayed(), seen.num_delayed)
        self._look(NumKeys(), seen.num_keys)

    def last(self) -> Iterator[Burst[PurgatoryCall]]:
        """Let all time be over, and check every key: then nobody may wait."""
        yield ((Advance(to_ms=max(self._now_ms, self._last_due_ms)),),)
        if self._keys:
            yield tuple((CheckAndComplete(key=key),) for key in self._keys)

    def _ran(self, seen: PurgatoryObservation) -> None:
        """Record callbacks; a process each, since their threads and their order are unknown."""
        for name in seen.on_complete:
            self.write(f"completes-{name}", OnComplete(operation=name))
            self.write(f"completes-{name}", OnComplete(operation=name), answer=Nothing())
        for name in seen.on_expiration:
            self.write(f"expires-{name}", OnExpiration(operation=name))

    def _look(self, what: Call, count: int | None) -> None:
        if count is not None:
            self.write(ALONE, what)
            self.write(ALONE, what, answer=Gauge(count=count))


def _recorded(call: PurgatoryCall) -> Call:
    """Return a driven call as it is recorded."""
    match call:
        case Advance():
            return AdvanceClock()
        case SetCondition(condition=name):
            return Satisfy(operation=name)
        case TryCompleteElseWatch():
            return replace(call, conditions=())
        case _:
            assert not isinstance(call, Reset)
            return call


def _answer(call: PurgatoryCall, seen: PurgatoryObservation) -> object:
    match call:
        case TryCompleteElseWatch() | ForceComplete():
            assert seen.completed is not None
            return Completed(completed=seen.completed)
        case CheckAndComplete():
            return Checked(count=seen.count)
        case CancelForKey():
            cancelled = seen.cancelled or ()
            return Cancelled(count=len(cancelled), cancelled=cancelled)
        case Advance():
            return Advanced()
        case _:
            return Nothing()
