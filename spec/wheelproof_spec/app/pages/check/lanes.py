"""An excerpt of a run as a drawing: a lane for each thread, a bar for each call or step."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from wheelproof_spec.app.pages.check.excerpt import Moment

COLUMN = 60
"""The width of a line of the run in the drawing, in pixels."""
LANE = 30
_LABEL = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A call from its beginning to its end, or a step: columns and the lane count from 0.

    `is_open` says that the excerpt does not show both ends; `is_bad` marks the event that fails,
    `explains` one that explains it.
    """

    number: int
    lane: int
    first: int
    last: int
    label: str
    title: str
    is_open: bool
    is_bad: bool
    explains: bool

    @property
    def width(self) -> int:
        """Its width in the drawing, in pixels."""
        return (self.last - self.first + 1) * COLUMN - 4

    @property
    def shown(self) -> str:
        """The part of the label that fits into the bar, behind the mark of the event."""
        fits = self.width // _LABEL
        label = f"{'✗ ' if self.is_bad else '◆ ' if self.explains else ''}{self.label}"
        return label if len(label) <= fits else f"{label[: fits - 1]}…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """The drawing: the threads of the lanes, the bars, and the bar of each moment."""

    names: tuple[str, ...]
    bars: tuple[Bar, ...]
    bar_of: tuple[int, ...]
    columns: int

    @property
    def width(self) -> int:
        """The width of the drawing in pixels."""
        return self.columns * COLUMN

    @property
    def height(self) -> int:
        """The height of the drawing in pixels."""
        return len(self.names) * LANE


@dataclass(slots=True)
class _Call:
    lane: str
    first: int
    last: int
    words: list[str]
    label: str
    is_open: bool
    is_bad: bool = False
    explains: bool = False


def lanes_of(moments: Sequence[Moment], bad_line: int, explaining: Container[int] = ()) -> Lanes:
    """Return the drawing of `moments`; the events of `bad_line` and `explaining` are marked."""
    calls: list[_Call] = []
    under_way: dict[str, list[int]] = {}
    bar_of: list[int] = []
    for column, moment in enumerate(moments):
        mine = under_way.setdefault(moment.lane, [])
        found = _call_that_ends(calls, mine, moment)
        if found is None:
            found = len(calls)
            first = 0 if moment.part == "ends" else column
            calls.append(_Call(moment.lane, first, column, [], moment.label, moment.part != "step"))
            if moment.part == "begins":
                mine.append(found)
        call = calls[found]
        call.last = column
        call.words.append(f"{moment.name} {moment.content}")
        call.is_bad |= moment.line == bad_line
        call.explains |= moment.line in explaining
        bar_of.append(found)
    for number in (one for numbers in under_way.values() for one in numbers):
        calls[number].last = max(len(moments) - 1, calls[number].last)
    names = tuple(dict.fromkeys(moment.lane for moment in moments))
    bars = tuple(
        Bar(
            number=number,
            lane=names.index(call.lane),
            first=call.first,
            last=call.last,
            label=call.label,
            title="\n".join(call.words),
            is_open=call.is_open,
            is_bad=call.is_bad,
            explains=call.explains and not call.is_bad,
        )
        for number, call in enumerate(calls)
    )
    return Lanes(names=names, bars=bars, bar_of=tuple(bar_of), columns=len(moments))


def _call_that_ends(calls: Sequence[_Call], under_way: list[int], moment: Moment) -> int | None:
    """Return the latest call of this name that `moment` ends, and take it out of `under_way`."""
    if moment.part != "ends":
        return None
    for number in reversed(under_way):
        if calls[number].words[0].startswith(f"{moment.name} "):
            under_way.remove(number)
            calls[number].is_open = False
            return number
    return None
