"""Pictures of a timer's driven case: its wheels, a hand on each, the tasks in their buckets.

A task is drawn in the bucket where a hierarchical wheel with up-to-date clocks holds it, so the
pictures mean the same for every implementation.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wheelproof.timer.arithmetic import (
    bucket_index,
    truncate_to_tick,
    virtual_id,
    wheel_interval,
    within_interval,
)
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.contract import contract_of
from wheelproof_spec.base.drawing import Markup, chip, element, shelf
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.timer.component import DEFINITION, TimerConfig
from wheelproof_spec.components.timer.model import timer_of
from wheelproof_spec.components.timer.vector_answers import Ran, perform

_WIRE = DrivenWire(DEFINITION)
MOST_LEVELS = 6
_MOST_NUMBERS = 20
_SIZE = 230
_MIDDLE = _SIZE / 2
_HUB = _MIDDLE - 8
_OUTER = 78
_INNER = 50
_NAMES = 97


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A wheel: its tick and its clock in milliseconds, and the names in each bucket."""

    number: int
    tick_ms: int
    clock_ms: int
    buckets: tuple[tuple[str, ...], ...]

    @property
    def hand(self) -> int:
        """The bucket at which the clock's hand points."""
        return bucket_index(virtual_id(self.clock_ms, self.tick_ms), len(self.buckets))


def levels(config: TimerConfig, now_ms: int, due_ms: Mapping[str, int]) -> tuple[Level, ...]:
    """Return the wheels that hold the tasks, at least one (standard 1.3, 1.4)."""
    size = max(config.wheel_size, 2)
    left = dict(due_ms)
    tick_ms = config.tick_ms
    made: list[Level] = []
    while not made or (left and len(made) < MOST_LEVELS):
        clock_ms = truncate_to_tick(now_ms, tick_ms)
        interval_ms = wheel_interval(tick_ms, size)
        buckets: list[list[str]] = [[] for _ in range(size)]
        for task in [
            name for name, due in left.items() if within_interval(due, clock_ms, interval_ms)
        ]:
            due = max(left.pop(task), clock_ms)
            buckets[bucket_index(virtual_id(due, tick_ms), size)].append(task)
        made.append(
            Level(
                number=len(made),
                tick_ms=tick_ms,
                clock_ms=clock_ms,
                buckets=tuple(map(tuple, buckets)),
            )
        )
        tick_ms = interval_ms
    return tuple(made)


class TimerView:
    """The view of a case under its contract; the answers decide what the contract leaves open."""

    def __init__(self, profile: str) -> None:
        self._contract = contract_of(profile)
        self._ran: Ran = ()
        self._fired: tuple[str, ...] | None = None
        self._start(TimerConfig())

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make a call and return its expected answer; see `CaseView`."""
        call = _WIRE.parse_call(operation, content)
        if isinstance(call, Reset):
            self._start(call.config)
            return {}
        told = None if "error" in answer else _WIRE.parse_answer(answer, call)
        # A task that is due when it is added may run at once, or in the next advance.
        at_once = told is not None and bool(told.fired)
        self._ran, seen = perform(self._timer, call, at_once=at_once)
        self._fired = None if told is None else told.fired
        return _WIRE.answer(call, seen)

    def picture(self) -> Markup:
        """Return a picture of the wheels, and the tasks on a line of time."""
        timer = self._timer
        drawn = levels(self._config, timer.now_ms, timer.due_times())
        wheels = [wheel(level) for level in drawn]
        moments = sorted(self._moments(), key=lambda one: one[:2])
        line = shelf("time line", [mark for _, _, mark in moments])
        return element("div", *wheels, class_="wheels") + line

    def _moments(self) -> Iterator[tuple[int, int, Markup]]:
        """Yield when, in which order within a millisecond, and what the line of time shows."""
        now_ms = self._timer.now_ms
        yield now_ms, 1, chip(f"now {now_ms:,} ms", "now")
        for task, due_ms in self._timer.due_times().items():
            yield due_ms, 2, chip(f"{task} waits until {due_ms:,} ms")
        for one in self._ran:
            missed = self._fired is not None and one.task not in self._fired
            words, kind = ("did not run", "missed") if missed else ("runs", "done")
            yield one.due_ms, 0, chip(f"{one.task} {words}, due at {one.due_ms:,} ms", kind)

    def _start(self, config: TimerConfig) -> None:
        self._config = config
        self._timer = timer_of(config, self._contract)
        self._ran = ()
        self._fired = None


def wheel(level: Level) -> Markup:
    """Return a wheel as a drawing."""
    size = len(level.buckets)
    marks = [
        *_ring(size),
        *_full_buckets(level.buckets),
        *_numbers(size),
        _hand(level.hand, size),
        *_names(level.buckets),
    ]
    span = f"{level.clock_ms:,} ms"
    middle = element("text", span, x=_MIDDLE, y=_HUB + 34, class_="middle")
    words = f"level {level.number}: {size} x {level.tick_ms:,} ms"
    label = element("text", words, x=_MIDDLE, y=_SIZE - 4, class_="label")
    return element(
        "svg",
        *marks,
        middle,
        label,
        class_="wheel",
        viewBox=f"0 0 {_SIZE} {_SIZE}",
        role="img",
        aria_label=words,
    )


def _ring(size: int) -> Iterator[Markup]:
    for radius in (_OUTER, _INNER):
        yield element("circle", cx=_MIDDLE, cy=_HUB, r=radius, class_="ring")
    lines = ""
    for number in range(size):
        (ax, ay), (bx, by) = _at(number / size, _INNER), _at(number / size, _OUTER)
        lines += f"M{ax:.0f} {ay:.0f}L{bx:.0f} {by:.0f}"
    yield element("path", d=lines, class_="ring")


def _full_buckets(buckets: Sequence[Sequence[str]]) -> Iterator[Markup]:
    size = len(buckets)
    for number, names in enumerate(buckets):
        if names:
            start, end = number / size, (number + 1) / size
            (ax, ay), (bx, by) = _at(start, _OUTER), _at(end, _OUTER)
            (cx, cy), (dx, dy) = _at(end, _INNER), _at(start, _INNER)
            path = (
                f"M{ax:.1f} {ay:.1f}A{_OUTER} {_OUTER} 0 0 1 {bx:.1f} {by:.1f}"
                f"L{cx:.1f} {cy:.1f}A{_INNER} {_INNER} 0 0 0 {dx:.1f} {dy:.1f}Z"
            )
            title = element("title", f"bucket {number}: {', '.join(names)}")
            yield element("path", title, d=path, class_="full")


def _numbers(size: int) -> Iterator[Markup]:
    if size <= _MOST_NUMBERS:
        for number in range(size):
            x, y = _at((number + 0.5) / size, (_INNER + _OUTER) / 2)
            yield element("text", str(number), x=f"{x:.0f}", y=f"{y + 3:.0f}", class_="number")


def _hand(bucket: int, size: int) -> Markup:
    x, y = _at((bucket + 0.5) / size, _INNER + 6)
    return element("line", x1=_MIDDLE, y1=_HUB, x2=f"{x:.1f}", y2=f"{y:.1f}", class_="hand") + (
        element("circle", cx=_MIDDLE, cy=_HUB, r=4, class_="hub")
    )


def _names(buckets: Sequence[Sequence[str]]) -> Iterator[Markup]:
    size = len(buckets)
    for number, names in enumerate(buckets):
        if names:
            x, y = _at((number + 0.5) / size, _NAMES)
            text = " ".join(names[:3]) + (f" +{len(names) - 3}" if len(names) > 3 else "")
            yield element("text", text, x=f"{x:.1f}", y=f"{y + 4:.1f}", class_="task")


def _at(turn: float, radius: float) -> tuple[float, float]:
    """Return the point at this fraction of a turn, clockwise from the top."""
    angle = (turn - 0.25) * 2 * math.pi
    return _MIDDLE + radius * math.cos(angle), _HUB + radius * math.sin(angle)


VIEW = TimerView
