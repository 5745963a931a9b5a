"""Random cases of a timer, and the domain that they come from. No call depends on an answer."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.bounds import Bound, Bounds
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, DrawnStep
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
)

STEPS_PER_CASE = 50

_OFTEN = (1, 3)
_AT_TIMES = (0, 1, 1, 3)
_SMALL = 3
_EARLY_MS = 50

TASKS = tuple("abcdefgh")
"""The names of the tasks of a case; few, so that they are cancelled and added again often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerDomain:
    """The bounds within which cases are drawn; times in milliseconds, both ends included.

    A duration is 0 to `max_buckets` ticks of a level, plus ticks of the lowest level, plus
    milliseconds: of each of these from `least_delay` (jumps: 0) to `most`.
    """

    min_wheel_size: int = 1
    max_wheel_size: int = 64
    min_tick_ms: int = 1
    max_tick_ms: int = 1_000
    max_start_ms: int = 10**12
    max_level: int = 5
    max_buckets: int = 3
    most: int = 3
    negative_delays: bool = True

    @property
    def least_delay(self) -> int:
        """The smallest number of ticks, and of milliseconds, that is added to a delay."""
        return -self.most if self.negative_delays else 0


@dataclass(frozen=True, slots=True)
class Span:
    """A duration in units of the wheel: ticks of a level, ticks of the lowest level, milliseconds.

    A duration that is drawn this way lies near the boundaries of buckets and levels in every
    configuration, and shrinks towards zero.
    """

    level: int
    buckets: int
    ticks: int
    rest_ms: int

    def millis(self, config: TimerConfig) -> int:
        """Return the span in milliseconds under `config`."""
        level_tick_ms: int = config.tick_ms * max(config.wheel_size, 2) ** self.level
        return level_tick_ms * self.buckets + config.tick_ms * self.ticks + self.rest_ms


class TimerCases(CaseSpace[TimerCall]):
    """Cases of add, cancel, advance and size calls; each ends with an advance past every due time.

    Each case has its own mix of calls and its own highest level: some defects show only if a kind
    of call is missing or if every duration is short.
    """

    def __init__(
        self, domain: TimerDomain, contract: TimerContract, bounds: Bounds | None = None
    ) -> None:
        self._domain = domain
        self._contract = contract
        self._bounds = bounds or {}

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case; see `CaseSpace.draw`."""
        domain = self._domain
        config = (
            _small_or_any(chance, _SMALL, domain.max_tick_ms - domain.min_tick_ms),
            _small_or_any(chance, _SMALL, domain.max_wheel_size - domain.min_wheel_size),
            _small_or_any(chance, _EARLY_MS, domain.max_start_ms),
        )
        highest = chance.randint(0, domain.max_level)
        weights = [chance.choice(_OFTEN), *(chance.choice(_AT_TIMES) for _ in range(4))]
        kinds = ("add", "add_again", "cancel", "advance", "size")
        drawn = chance.choices(kinds, weights, k=STEPS_PER_CASE)
        return DrawnCase(
            config=config, steps=tuple(self._step(kind, highest, chance) for kind in drawn)
        )

    def calls(self, case: DrawnCase) -> Sequence[TimerCall]:
        """Return the calls of a case; see `CaseSpace.calls`."""
        domain = self._domain
        tick, size, start = case.config
        config = TimerConfig(
            tick_ms=self._bound("tick_ms").nearest(domain.min_tick_ms + tick),
            wheel_size=self._bound("wheel_size").nearest(domain.min_wheel_size + size),
            start_ms=self._bound("start_ms").nearest(start),
        )
        return _Walk(config, self._contract, self._bound("delay_ms")).through(case.steps)

    def _bound(self, name: str) -> Bound:
        return self._bounds.get(name, Bound())

    def _step(self, kind: str, highest: int, chance: random.Random) -> DrawnStep:
        task = chance.randrange(len(TASKS))
        match kind:
            case "add":
                return kind, (task, *self._span(highest, self._domain.least_delay, chance))
            case "advance":
                return kind, self._span(highest, 0, chance)
            case "size":
                return kind, ()
            case _:
                return kind, (task,)

    def _span(self, highest: int, least: int, chance: random.Random) -> tuple[int, ...]:
        most = self._domain.most
        return (
            chance.randint(0, highest),
            chance.randint(0, self._domain.max_buckets),
            chance.randint(least, most),
            chance.randint(least, most),
        )


class _Walk:
    """Turns drawn steps into calls; it keeps the time and the delays of the added tasks.

    No jump of the clock exceeds the bound `delays`.
    """

    def __init__(self, config: TimerConfig, contract: TimerContract, delays: Bound) -> None:
        self._delays = delays
        self._config = config
        self._contract = contract
        self._now_ms = config.start_ms
        self._last_due_ms = config.start_ms
        self._delay_ms_of_task: dict[TaskId, int] = {}
        self._calls: list[TimerCall] = [Reset(config=config)]

    def through(self, steps: Sequence[DrawnStep]) -> Sequence[TimerCall]:
        """Return the calls; at the last of them no added task may be left."""
        for kind, numbers in steps:
            self._take(kind, numbers)
        last_ms = max(self._now_ms, self._last_due_ms)
        self._calls.append(Advance(to_ms=last_ms))
        lateness_ms = self._contract.lateness_in_ms(self._config.tick_ms)
        if lateness_ms:
            self._calls.append(Advance(to_ms=last_ms + lateness_ms))
        self._calls.append(Size())
        return self._calls

    def _take(self, kind: str, numbers: tuple[int, ...]) -> None:
        match kind:
            case "add":
                task, *span = numbers
                delay_ms = Span(*span).millis(self._config)
                self._add(TASKS[task], self._delays.nearest(delay_ms))
            case "add_again":
                known = list(self._delay_ms_of_task)
                if known:
                    name = known[numbers[0] % len(known)]
                    self._add(name, self._delay_ms_of_task[name])
            case "cancel":
                self._calls.append(Cancel(task=TASKS[numbers[0]]))
            case "advance":
                jump_ms = Span(*numbers).millis(self._config)
                self._now_ms += min(jump_ms, self._delays.nearest(jump_ms))
                self._calls.append(Advance(to_ms=self._now_ms))
            case _:
                self._calls.append(Size())

    def _add(self, task: TaskId, delay_ms: int) -> None:
        self._delay_ms_of_task[task] = delay_ms
        due_ms = self._contract.due_ms(self._now_ms + delay_ms, self._config.tick_ms)
        self._last_due_ms = max(self._last_due_ms, due_ms)
        self._calls.append(Add(task=task, delay_ms=delay_ms))


def _small_or_any(chance: random.Random, small: int, largest: int) -> int:
    """Draw from 0 to `small` as often as from 0 to `largest`."""
    return chance.randint(0, min(small, largest) if chance.random() < 0.5 else largest)
