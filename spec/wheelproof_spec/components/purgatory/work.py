"""The work of a purgatory: what is asked of it, by one thread or by several.

No call depends on an answer. In a driven case an operation waits for conditions. In a burst each
operation has one condition of its own, which a trigger makes true.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    Key,
    PurgatoryCall,
    PurgatoryCapability,
    PurgatoryConfig,
    SetCondition,
    Shutdown,
    TryCompleteElseWatch,
)
from wheelproof_spec.drive.work import (
    AdvanceBy,
    Alphabet,
    Draw,
    DrivenWork,
    Kind,
    always,
)

KEYS = tuple("xyz")
"""A few keys, so that operations share them."""
LONGEST_DELAY_MS = 40
"""The longest time-out of an operation of a burst."""

_RARELY = 4
"""One of this many drawn cancels is made: after a cancel few operations wait."""
_OPEN = 3
"""The number of conditions that are not set; a new condition replaces one that is set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandIn(Call):
    """Hand in an operation that waits for some open conditions, given by their places."""

    delay_ms: int
    keys: tuple[Key, ...]
    conditions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetOpenCondition(Call):
    """Make an open condition true; a new one takes its place."""

    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SetAndCheck(Call):
    """Make an open condition true, then check a key."""

    place: int
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class SatisfyAndCheck(Call):
    """Make the conditions of the last few operations true, then check a key."""

    last: int
    key: Key


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceOne(Call):
    """Complete one of the operations that were handed in, counted round: -1 is the newest."""

    operation: int


PurgatoryStep = (
    HandIn
    | SetOpenCondition
    | SetAndCheck
    | SatisfyAndCheck
    | CheckAndComplete
    | ForceOne
    | CancelForKey
    | AdvanceBy
    | AskGauges
    | PurgeCompleted
    | Shutdown
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatorySetup:
    """A purgatory, and which discipline its operations have, if several are tried."""

    config: PurgatoryConfig
    discipline: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryWork:
    """Hand-ins, triggers, forces and cancels, with the values that their arguments may have.

    With `threads` it is the work of bursts, otherwise that of driven cases. With `programs` threads
    ask for the gauges and shut the purgatory down, too.
    """

    threads: bool = False
    programs: bool = False
    cancels: bool = True
    ticks_ms: Sequence[int] = range(1, 5)
    wheel_sizes: Sequence[int] = range(2, 6)
    starts_ms: Sequence[int] = range(51)
    purge_intervals: Sequence[int] = range(4)
    disciplines: Sequence[int] = (0,)
    keys: Sequence[Key] = KEYS
    delays_ms: Sequence[int] = range(61)
    conditions: Sequence[tuple[int, ...]] = tuple(
        # The last place has the condition that was set last.
        some
        for count in (1, 1, 2, 0)
        for some in permutations(range(_OPEN + 1), count)
    )
    forced: Sequence[int] = range(50)
    jumps_ms: Sequence[int] = range(21)

    def setup(self, draw: Draw) -> PurgatorySetup:
        """Return a purgatory with a small wheel."""
        config = PurgatoryConfig(
            tick_ms=draw.among(self.ticks_ms),
            wheel_size=draw.among(self.wheel_sizes),
            start_ms=draw.among(self.starts_ms),
            purge_interval=draw.among(self.purge_intervals),
        )
        several = len(self.disciplines) > 1
        discipline = draw.among(self.disciplines) if several else self.disciplines[0]
        return PurgatorySetup(config=config, discipline=discipline)

    def kinds(self) -> Alphabet[PurgatorySetup, PurgatoryStep]:
        """Return the alphabet; see `Work.kinds`."""
        keys = self.keys
        kinds: dict[str, Kind[PurgatorySetup, PurgatoryStep]] = {}
        kinds["watch"] = Kind(draw=self._hand_in, weight=12)
        if self.threads:
            kinds["trigger"] = Kind(
                draw=lambda draw, _: SatisfyAndCheck(
                    last=draw.among((1, 2, 9)), key=draw.among(keys)
                ),
                weight=6,
            )
            kinds["purge"] = Kind(draw=always(PurgeCompleted()), weight=1)
        else:
            kinds["complete"] = Kind(
                draw=lambda draw, _: SetAndCheck(place=draw.below(_OPEN), key=draw.among(keys))
            )
            kinds["set_condition"] = Kind(
                draw=lambda draw, _: SetOpenCondition(place=draw.below(_OPEN))
            )
        kinds["check"] = Kind(draw=lambda draw, _: CheckAndComplete(key=draw.among(keys)), weight=2)
        kinds["force"] = Kind(
            draw=lambda draw, _: ForceOne(operation=draw.among(self.forced)), weight=1
        )
        kinds["advance"] = Kind(
            draw=lambda draw, _: AdvanceBy(jump_ms=draw.among(self.jumps_ms)), weight=6
        )
        kinds["ask_gauges"] = Kind(draw=always(AskGauges()), weight=int(self.programs))
        if self.programs:
            kinds["shut_down"] = Kind(draw=always(Shutdown()), weight=1)
        if self.cancels:
            kinds["cancel"] = Kind(
                draw=lambda draw, _: CancelForKey(key=draw.among(keys)), weight=2, one_in=_RARELY
            )
        return kinds

    def _hand_in(self, draw: Draw, setup: PurgatorySetup) -> PurgatoryStep:
        del setup
        return HandIn(
            delay_ms=draw.among(self.delays_ms),
            keys=draw.among(_lists_of(self.keys)),
            conditions=draw.among(self.conditions),
        )


def work_of_bursts(disciplines: int, *, programs: bool = False) -> PurgatoryWork:
    """Return the work of several threads; more than half of all purgatories have discipline 0."""
    return PurgatoryWork(
        threads=True,
        programs=programs,
        ticks_ms=(1, 2, 3),
        wheel_sizes=(2, 3, 4),
        starts_ms=(0,),
        purge_intervals=(0, 1, 2),
        disciplines=(*(0 for _ in range(disciplines - 1)), *range(disciplines)),
        keys=KEYS[:2],
        delays_ms=(0, 1, 7, LONGEST_DELAY_MS),
        conditions=((0,), (0,), (0,), ()),
        # The newest is the one that other threads are likely to be at.
        forced=(-1,),
        jumps_ms=range(11),
    )


def driven_work(tally: Tally) -> DrivenWork[PurgatorySetup, PurgatoryStep, PurgatoryCall]:
    """Return the driven cases that `tally` does not skip; at the end all operations expire."""
    cancels = not tally.skips(PurgatoryCapability.CANCEL_FOR_KEY)
    return DrivenWork(PurgatoryWork(cancels=cancels), _calls)


def _calls(setup: PurgatorySetup, steps: Iterable[PurgatoryStep]) -> Iterator[PurgatoryCall]:
    now_ms = last_due_ms = setup.config.start_ms
    handed_in: list[str] = []
    conditions = [f"c{number}" for number in range(_OPEN + 1)]
    named = len(conditions)
    yield Reset(config=setup.config)
    for step in steps:
        match step:
            case HandIn(delay_ms=delay_ms, keys=keys, conditions=places):
                handed_in.append(f"op{len(handed_in) + 1}")
                last_due_ms = max(last_due_ms, now_ms + delay_ms)
                yield TryCompleteElseWatch(
                    operation=handed_in[-1],
                    delay_ms=delay_ms,
                    keys=keys,
                    conditions=tuple(conditions[place] for place in places),
                )
            case SetOpenCondition(place=place) | SetAndCheck(place=place):
                conditions[_OPEN], conditions[place] = conditions[place], f"c{named}"
                named += 1
                yield SetCondition(condition=conditions[_OPEN])
                if isinstance(step, SetAndCheck):
                    yield CheckAndComplete(key=step.key)
            case ForceOne(operation=number):
                if handed_in:
                    yield ForceComplete(operation=handed_in[number % len(handed_in)])
            case AdvanceBy(jump_ms=jump_ms):
                now_ms += jump_ms
                yield Advance(to_ms=now_ms)
            case CheckAndComplete() | CancelForKey() | AskGauges():
                yield step
            case SatisfyAndCheck() | PurgeCompleted() | Shutdown():
                raise AssertionError(step)
    # At the end every time-out expires and every key is checked: nothing is left.
    yield Advance(to_ms=max(now_ms, last_due_ms))
    yield from (CheckAndComplete(key=key) for key in KEYS)
    yield AskGauges()


def _lists_of(keys: Sequence[Key]) -> Sequence[tuple[Key, ...]]:
    counts = range(1, len(keys) + 1)
    return tuple(some for count in counts for some in permutations(keys, count))
