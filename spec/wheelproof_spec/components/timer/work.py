"""The work of a timer: what is asked of it, by one thread or by several. No call needs an answer.

Durations are drawn in units of the wheel: ticks of a level, ticks of the lowest level, and
milliseconds. So they lie near the boundaries of buckets and levels in every configuration.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from wheelproof_spec.base.calls import Advance, AdvanceClock, Close, Reset
from wheelproof_spec.base.codec.bounds import Bound, Bounds
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
)
from wheelproof_spec.drive.work import (
    AdvanceBy,
    Alphabet,
    Draw,
    DrivenWork,
    Kind,
    always,
)

TASKS = tuple("abcdefgh")
"""The names of the tasks of a case; few, so that they are cancelled and added again often."""

_SMALL = 3
_EARLY_MS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AddAgain(Call):
    """Add one of the tasks that were added, counted round, with the same delay."""

    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveClockBy(Call):
    """Move the clock, without letting anything happen."""

    jump_ms: int


TimerStep = Add | AddAgain | Cancel | AdvanceBy | MoveClockBy | AdvanceClock | Size | Close


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerSetup:
    """A timer. In a driven case no duration is longer than a few ticks of the highest level.

    In bursts each task has one delay, so that a second add uses the same task object.
    """

    config: TimerConfig
    highest_level: int = 0
    delays_ms: Mapping[TaskId, int] = field(default_factory=dict[TaskId, int])


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerWork:
    """The bounds within which steps are drawn; times in milliseconds, both ends included.

    A duration is 0 to `max_buckets` ticks of a level, plus ticks of the lowest level, plus
    milliseconds: of each of these from `least_delay` (jumps: 0) to `most`. `bounds` are those of
    the driver.
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
    bounds: Bounds = field(default_factory=dict[str, Bound])

    @property
    def least_delay(self) -> int:
        """The smallest number of ticks, and of milliseconds, that is added to a delay."""
        return -self.most if self.negative_delays else 0

    def setup(self, draw: Draw) -> TimerSetup:
        """Return a timer; some defects show only if every duration is short."""
        return TimerSetup(config=self.config(draw), highest_level=draw.between(0, self.max_level))

    def kinds(self) -> Alphabet[TimerSetup, TimerStep]:
        """Return the alphabet; see `Work.kinds`."""
        return {
            "add": Kind(
                draw=lambda draw, setup: Add(
                    task=draw.among(TASKS),
                    delay_ms=self.delay_ms(draw, setup.config, setup.highest_level),
                )
            ),
            "add_again": Kind(draw=lambda draw, _: AddAgain(number=draw.below(len(TASKS)))),
            "cancel": Kind(draw=lambda draw, _: Cancel(task=draw.among(TASKS))),
            "advance": Kind(draw=self._advance),
            "size": Kind(draw=_size),
        }

    def _advance(self, draw: Draw, setup: TimerSetup) -> TimerStep:
        _unused_task(draw)
        jump_ms = self.jump_ms(draw, setup.config, setup.highest_level)
        return AdvanceBy(jump_ms=jump_ms)

    def config(self, draw: Draw) -> TimerConfig:
        """Return a configuration; small wheels and ticks are as likely as all others together."""
        tick_ms, size = self.min_tick_ms, self.min_wheel_size
        tick_ms = draw.between(tick_ms, self.max_tick_ms, often_to=tick_ms + _SMALL)
        size = draw.between(size, self.max_wheel_size, often_to=size + _SMALL)
        start_ms = draw.between(0, self.max_start_ms, often_to=_EARLY_MS)
        return TimerConfig(
            tick_ms=self._bound("tick_ms").nearest(tick_ms),
            wheel_size=self._bound("wheel_size").nearest(size),
            start_ms=self._bound("start_ms").nearest(start_ms),
        )

    def delay_ms(self, draw: Draw, config: TimerConfig, highest_level: int) -> int:
        """Return a delay, from before now to many levels up."""
        delay_ms = self._span_ms(draw, config, highest_level, self.least_delay)
        return self._bound("delay_ms").nearest(delay_ms)

    def jump_ms(self, draw: Draw, config: TimerConfig, highest_level: int) -> int:
        """Return how far the clock moves; no jump exceeds the bound of the delays."""
        jump_ms = self._span_ms(draw, config, highest_level, 0)
        return min(jump_ms, self._bound("delay_ms").nearest(jump_ms))

    def _span_ms(self, draw: Draw, config: TimerConfig, highest_level: int, least: int) -> int:
        level, buckets = draw.between(0, highest_level), draw.between(0, self.max_buckets)
        ticks, rest_ms = draw.between(least, self.most), draw.between(least, self.most)
        level_tick_ms: int = config.tick_ms * max(config.wheel_size, 2) ** level
        return level_tick_ms * buckets + config.tick_ms * ticks + rest_ms

    def _bound(self, name: str) -> Bound:
        return self.bounds.get(name, Bound())


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerBursts:
    """Steps of threads that add and cancel a few tasks, and of one that advances.

    With `near` half of all durations have one of two values: tasks share a bucket, and the clock
    reaches it. With `programs` any thread may move the clock as it advances, ask, and close.
    """

    within: TimerWork
    tasks: tuple[TaskId, ...]
    near: bool = False
    programs: bool = False

    def setup(self, draw: Draw) -> TimerSetup:
        """Return a timer, and the delay of each task."""
        config = self.within.config(draw)
        if self.near and draw.once_in(2):
            delays_ms = dict.fromkeys(self.tasks, _near_ms(draw, config))
        else:
            delays_ms = {task: self._delay_ms(draw, config) for task in self.tasks}
        return TimerSetup(config=config, delays_ms=delays_ms)

    def kinds(self) -> Alphabet[TimerSetup, TimerStep]:
        """Return the alphabet; see `Work.kinds`."""
        kinds: dict[str, Kind[TimerSetup, TimerStep]] = {
            "add": Kind(draw=self._add, weight=1),
            "cancel": Kind(draw=lambda draw, _: Cancel(task=draw.among(self.tasks)), weight=1),
        }
        if not self.programs:
            kinds["move_clock"] = Kind(draw=self._move_clock)
            return kinds
        kinds["advance"] = Kind(
            draw=lambda draw, setup: AdvanceBy(jump_ms=self._move_clock(draw, setup).jump_ms),
            weight=1,
        )
        kinds["size"] = Kind(draw=always(Size()), weight=1)
        kinds["close"] = Kind(draw=always(Close()), weight=1)
        return kinds

    def _add(self, draw: Draw, setup: TimerSetup) -> TimerStep:
        task = draw.among(self.tasks)
        return Add(task=task, delay_ms=setup.delays_ms[task])

    def _move_clock(self, draw: Draw, setup: TimerSetup) -> MoveClockBy:
        if self.near and draw.once_in(2):
            return MoveClockBy(jump_ms=_near_ms(draw, setup.config))
        jump_ms = self.within.jump_ms(draw, setup.config, self.within.max_level)
        return MoveClockBy(jump_ms=jump_ms)

    def _delay_ms(self, draw: Draw, config: TimerConfig) -> int:
        if self.near and draw.once_in(2):
            return _near_ms(draw, config)
        return self.within.delay_ms(draw, config, self.within.max_level)


def _size(draw: Draw, setup: TimerSetup) -> TimerStep:
    del setup
    _unused_task(draw)
    return Size()


def _unused_task(draw: Draw) -> None:
    """Draw a task, as every kind does: seeds that were noted long ago give the same cases."""
    draw.below(len(TASKS))


def _near_ms(draw: Draw, config: TimerConfig) -> int:
    return config.tick_ms * draw.below(2)


def driven_work(
    work: TimerWork, contract: TimerContract
) -> DrivenWork[TimerSetup, TimerStep, TimerCall]:
    """Return the driven cases; each ends with an advance past every due time."""
    return DrivenWork(
        work, lambda setup, steps: _Walk(setup.config, contract).through(steps), setup_first=True
    )


class _Walk:
    """Turns steps into calls; it keeps the time and the delays of the added tasks."""

    def __init__(self, config: TimerConfig, contract: TimerContract) -> None:
        self._config = config
        self._contract = contract
        self._now_ms = config.start_ms
        self._last_due_ms = config.start_ms
        self._delay_ms_of_task: dict[TaskId, int] = {}

    def through(self, steps: Iterable[TimerStep]) -> Iterator[TimerCall]:
        """Yield the calls; at the last of them no added task may be left."""
        yield Reset(config=self._config)
        for step in steps:
            yield from self._take(step)
        last_ms = max(self._now_ms, self._last_due_ms)
        yield Advance(to_ms=last_ms)
        lateness_ms = self._contract.lateness_in_ms(self._config.tick_ms)
        if lateness_ms:
            yield Advance(to_ms=last_ms + lateness_ms)
        yield Size()

    def _take(self, step: TimerStep) -> Iterator[TimerCall]:
        match step:
            case Add():
                yield self._added(step)
            case AddAgain(number=number):
                if known := list(self._delay_ms_of_task.items()):
                    task, delay_ms = known[number % len(known)]
                    yield self._added(Add(task=task, delay_ms=delay_ms))
            case AdvanceBy(jump_ms=jump_ms):
                self._now_ms += jump_ms
                yield Advance(to_ms=self._now_ms)
            case Cancel() | Size():
                yield step
            case MoveClockBy() | AdvanceClock() | Close():
                raise AssertionError(step)

    def _added(self, add: Add) -> TimerCall:
        self._delay_ms_of_task[add.task] = add.delay_ms
        due_ms = self._contract.due_ms(self._now_ms + add.delay_ms, self._config.tick_ms)
        self._last_due_ms = max(self._last_due_ms, due_ms)
        return add
