"""A history in memory, and scenes that add lines to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, Self

from wheelproof_spec.base.calls import Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp

Op = HistoryOp[object]
OpType = Literal["invoke", "ok", "fail", "info"]

NS_OF_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A header, operations and an optional end; `happens` names the events that are no calls."""

    header: HistoryHeader[object]
    ops: tuple[Op, ...]
    end: HistoryEnd | None
    happens: frozenset[str]

    def with_ops(self, ops: Iterable[Op]) -> Self:
        """Return the recording with other operations, numbered from 0."""
        numbered = tuple(replace(op, index=index) for index, op in enumerate(ops))
        end = None if self.end is None else replace(self.end, ops=len(numbered))
        return replace(self, ops=numbered, end=end)

    def ended(self, *, quiet: bool = True) -> Self:
        """Return the recording with an end, by default a quiet one."""
        name = self.header.history
        return replace(
            self, end=HistoryEnd(kind="end", history=name, ops=len(self.ops), quiet=quiet)
        )

    def lines(self) -> list[bytes]:
        """Return the lines of the recording as a file."""
        return [format_line(line) for line in (self.header, *self.ops, self.end) if line]

    def calls(self) -> list[tuple[int, ...]]:
        """Return the places of each call's lines, one or two; callbacks as single lines."""
        open_calls: dict[str, int] = {}
        found: list[tuple[int, ...]] = []
        for place, op in enumerate(self.ops):
            if op.f in self.happens:
                found.append((place,))
            elif op.type == "invoke":
                open_calls[op.process] = place
            else:
                found.append((open_calls.pop(op.process), place))
        return [*found, *((place,) for place in open_calls.values())]

    def rests(self) -> list[int]:
        """Return after how many operations no call was under way; 0 is the first."""
        found, under_way = [0], 0
        for place, op in enumerate(self.ops):
            if op.f not in self.happens:
                under_way += 1 if op.type == "invoke" else -1
            if not under_way:
                found.append(place + 1)
        return found


class Scene:
    """A history up to a moment, to which lines are added by hand.

    `wait` lets time pass on the clock, real or virtual.
    """

    def __init__(self, before: Recording, dice: Random, *, whole: bool = False) -> None:
        """Begin at a moment when no call is under way; with `whole` at the last one."""
        self.dice = dice
        self._before = before
        at = before.rests()[-1] if whole else dice.choice(before.rests())
        self.ops: list[Op] = list(before.ops[:at])
        self._time_ns = max((op.time_ns for op in self.ops if op.time_ns is not ABSENT), default=0)
        moves = [op.value.to_ms for op in self.ops if isinstance(op.value, Tick)]
        start: object = getattr(before.header.config, "start_ms", 0)
        assert isinstance(start, int)
        self._now_ms = max(moves, default=start)
        self._names = 0

    @property
    def config(self) -> object:
        """The configuration of the header."""
        return self._before.header.config

    @property
    def clock(self) -> str:
        """The kind of clock in the header."""
        return self._before.header.clock

    def name(self) -> str:
        """Return a unique name."""
        self._names += 1
        return f"new-{self._names}"

    def begin(self, asked: Call, process: str = "scene") -> Self:
        """Add the beginning of a call, or a callback."""
        return self._add("invoke", asked.name_on_the_wire(), asked, process)

    def answer(self, asked: type[Call], value: object = None, process: str = "scene") -> Self:
        """Add the return of a call."""
        answer = Nothing() if value is None else value
        return self._add("ok", asked.name_on_the_wire(), answer, process)

    def refuse(self, asked: type[Call], error: str, process: str = "scene") -> Self:
        """Add the refusal of a call."""
        return self._add("fail", asked.name_on_the_wire(), Nothing(), process, error)

    def call(self, asked: Call, value: object = None, process: str = "scene") -> Self:
        """Add a call that returns."""
        return self.begin(asked, process).answer(type(asked), value, process)

    def refused(self, asked: Call, error: str, process: str = "scene") -> Self:
        """Add a call that is refused."""
        return self.begin(asked, process).refuse(type(asked), error, process)

    def wait(self, ms: int) -> Self:
        """Let `ms` milliseconds pass."""
        self._now_ms += ms
        self._time_ns += ms * NS_OF_MS
        if self.clock == "virtual":
            self.call(Tick(to_ms=self._now_ms), process="scene-clock")
        return self

    def recording(self, *, end: bool = False) -> Recording:
        """Return the history up to here, with a quiet end or without any."""
        cut = replace(self._before, end=None).with_ops(self.ops)
        return cut.ended() if end else cut

    def _add(
        self, kind: OpType, f: str, value: object, process: str, error: str | None = None
    ) -> Self:
        self.ops.append(
            HistoryOp(
                kind="op",
                history=self._before.header.history,
                index=len(self.ops),
                process=process,
                type=kind,
                f=f,
                value=value,
                time_ns=self._time_ns if self.clock == "monotonic_ns" else ABSENT,
                error=ABSENT if error is None else error,
            )
        )
        return self


def without(recording: Recording, places: Sequence[int]) -> Recording:
    """Return a history without the lines at these places."""
    gone = frozenset(places)
    return recording.with_ops(op for place, op in enumerate(recording.ops) if place not in gone)
