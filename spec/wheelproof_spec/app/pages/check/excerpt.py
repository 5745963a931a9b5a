"""The lines of a run around the event that fails, and the earlier ones that explain it."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

from wheelproof_spec.app.recorded import parse_line
from wheelproof_spec.base.codec.vocabulary import ABSENT, Wire
from wheelproof_spec.base.codec.writer import plain
from wheelproof_spec.base.history.lines import HistoryOp, TraceEvent
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import parse_object
from wheelproof_spec.history.reader import read_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A line of a run: an event of the thread or process `lane`.

    `index` is its number in the run, `part` is `begins` or `ends` for the two lines of a call, and
    `step` for any other line; `names` are the strings among what it says.
    """

    line: int
    index: int
    lane: str
    part: str
    name: str
    content: str
    label: str
    names: frozenset[str]


_LONG_NUMBER = re.compile(r"\d{5,}")
LINES_BEFORE = 40
LINES_AFTER = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """Lines of a run, and which of them explain its failure."""

    moments: tuple[Moment, ...] = ()
    explaining: frozenset[int] = frozenset()


def read_excerpt(path: Path, verdict: RunVerdict) -> Excerpt:
    """Return the lines around the one that fails, and earlier ones that explain it.

    Returns no lines if the place of the failure is not known.
    """
    place = verdict.place
    if place is None:
        return Excerpt()
    before: deque[Moment] = deque(maxlen=LINES_BEFORE)
    explaining = Explaining(verdict.violation)
    own = _moments(path, verdict)
    for moment in own:
        before.append(moment)
        explaining.look_at(moment)
        if moment.line >= place.line:
            break
    window = (*before, *islice(own, LINES_AFTER))
    moments, lines = with_explaining(explaining.before(place.line), window)
    return Excerpt(moments=_with_short_names(moments), explaining=lines)


def _with_short_names(moments: tuple[Moment, ...]) -> tuple[Moment, ...]:
    """Return the moments with a small number for the long one in the name of a thread."""
    lanes = dict.fromkeys(moment.lane for moment in moments)
    short = {lane: _LONG_NUMBER.sub(str(place), lane) for place, lane in enumerate(lanes, start=1)}
    if len(set(short.values())) < len(short):
        return moments
    return tuple(replace(moment, lane=short[moment.lane]) for moment in moments)


def _moments(path: Path, verdict: RunVerdict) -> Iterator[Moment]:
    for number, line in enumerate(read_lines(path), start=1):
        event = parse_line(line) if isinstance(line, bytes) else line
        if isinstance(event, HistoryOp) and verdict.format == "history":
            if event.history == verdict.run:
                yield _of_history(number, event)
        elif (
            isinstance(event, TraceEvent)
            and verdict.format == "trace"
            and event.trace == verdict.run
        ):
            yield _of_trace(number, event)


def _of_history(number: int, event: HistoryOp[object]) -> Moment:
    value = plain(event.value, Wire.RECORDED)
    if event.type == "invoke":
        content = _json(value)
        return Moment(
            line=number,
            index=event.index,
            lane=event.process,
            part="begins",
            name=event.f,
            content=content,
            label=f"{event.f} {_first_value(value)}".rstrip(),
            names=_names(value),
        )
    outcome = event.type if event.error is ABSENT else f"{event.type} {event.error}"
    return Moment(
        line=number,
        index=event.index,
        lane=event.process,
        part="ends",
        name=event.f,
        content=f"{outcome} {_json(value)}",
        label=event.f,
        names=_names(value),
    )


def _of_trace(number: int, event: TraceEvent[object, object]) -> Moment:
    arguments = None if event.args is ABSENT else plain(event.args, Wire.RECORDED)
    asked = "" if arguments is None else _json(arguments)
    seen = "" if event.obs is ABSENT else f" observed {_json(plain(event.obs, Wire.RECORDED))}"
    return Moment(
        line=number,
        index=-1 if event.seq is ABSENT else event.seq,
        lane=event.thread,
        part="step",
        name=event.action,
        content=f"{asked}{seen}",
        label=f"{event.action} {_first_value(arguments)}".rstrip(),
        names=_names(arguments),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _names(value: object) -> frozenset[str]:
    """Return the strings among the fields, and in their lists."""
    text = _json(value)
    return frozenset(_strings(parse_object(text.encode()))) if text.startswith("{") else frozenset()


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings([*cast("Mapping[str, object]", value).values()])
    elif isinstance(value, list):
        for one in cast("list[object]", value):
            yield from _strings(one)


def _first_value(value: object) -> str:
    """Return the first string among the fields (a task, a key), or else the first number."""
    text = _json(value)
    found = list(parse_object(text.encode()).values()) if text.startswith("{") else []
    names = [one for one in found if isinstance(one, str)]
    return names[0] if names else str(found[0]) if found else ""


MOST_EXPLAINING = 12
"""The most events that are marked: the latest before the failure."""
_CITED = re.compile(r"\bevent (\d+)")
_NAMED = re.compile(r"'([^']+)'")


class Explaining:
    """Collects the events of a run that explain its violation, in the order of its lines.

    An event explains a failure if the reason cites its number, or if it is about a task, an
    operation, a record or a buffer that the reason names. The end of such a call belongs to it.
    """

    def __init__(self, violation: Violation | None) -> None:
        told = "" if violation is None else f"{violation.reason} {violation.observed}"
        self._cited = frozenset(map(int, _CITED.findall(told)))
        self._named = frozenset(_NAMED.findall(told))
        self._under_way: set[tuple[str, str]] = set()
        self._found: deque[Moment] = deque(maxlen=MOST_EXPLAINING)

    def look_at(self, moment: Moment) -> None:
        """Keep an event that explains the failure."""
        call = (moment.lane, moment.name)
        ends = moment.part == "ends" and call in self._under_way
        if ends:
            self._under_way.remove(call)
        if ends or moment.index in self._cited or not self._named.isdisjoint(moment.names):
            self._found.append(moment)
            if moment.part == "begins":
                self._under_way.add(call)

    def before(self, line: int) -> tuple[Moment, ...]:
        """Return the events that were kept, without the one that fails."""
        return tuple(moment for moment in self._found if moment.line != line)


def with_explaining(
    explaining: Iterable[Moment], excerpt: Iterable[Moment]
) -> tuple[tuple[Moment, ...], frozenset[int]]:
    """Return the excerpt with the events that explain it before it, and their lines."""
    found = {moment.line: moment for moment in explaining}
    lines = frozenset(found)
    found.update((moment.line, moment) for moment in excerpt)
    return tuple(found[line] for line in sorted(found)), lines
