"""Which earlier events explain a failure: those that the reason cites, and what it speaks of."""

import re
from collections import deque
from collections.abc import Iterable

from wheelproof_spec.app.pages.check.moment import Moment
from wheelproof_spec.base.results.violation import Violation

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
