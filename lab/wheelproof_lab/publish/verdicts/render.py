"""The page in Markdown: what the template verdicts.md.jinja shows of each implementation."""

import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version

from wheelproof_lab.publish.markdown import markdown
from wheelproof_lab.publish.verdicts.measure import (
    DrivenVerdict,
    Extent,
    Measured,
    RecordedVerdict,
    java_version,
)
from wheelproof_lab.publish.verdicts.subjects import Deviation, anchor, explain
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.registry import definition_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenClause:
    """A broken clause: the first case that breaks it, and the number of other cases."""

    rule: str
    where: str
    first: Violation
    others: int


class Section:
    """One section of the page, and its rows in the table of all implementations."""

    def __init__(self, measured: Measured) -> None:
        """Store the measurements of one implementation."""
        self.measured = measured
        self.name = measured.implementation.name

    def rows(self) -> Iterator[tuple[str, ...]]:
        """Yield a row for each component and profile."""
        driven = {(one.run.component, one.run.profile): one for one in self.measured.driven}
        recorded = {(one.component, one.profile): one for one in self.measured.recorded}
        for key in dict.fromkeys([*driven, *recorded]):
            found = [*_deviating(driven.get(key)), *_violated(recorded.get(key))]
            links = dict.fromkeys(_short(explain(self.name, *key, clause)) for clause in found)
            yield (
                f"[{self.name}](#{anchor(self.name)})",
                self.measured.implementation.language,
                *key,
                _strongest(driven.get(key)),
                driven[key].result.verdict.upper() if key in driven else "not driven",
                recorded[key].verdict.upper() if key in recorded else "not recorded",
                ", ".join(links) or "none",
            )

    def summary(self) -> str:
        """Return what the closed section says that it has."""
        ways = {"driven": self.measured.driven, "recorded": self.measured.recorded}
        runs = ", ".join(f"{len(there)} {way}" for way, there in ways.items() if there)
        return f"{runs}: commands, clauses, failures"

    def link(self, component: str, profile: str, clause: str) -> str:
        """Return the explanation of a deviation."""
        one = explain(self.name, component, profile, clause)
        cause = "" if one.cause is None else f". {one.cause}"
        return f"[{one.kind}: {one.sentence}]({one.link}){cause}"

    def broken_when_driven(self, driven: DrivenVerdict) -> Iterator[BrokenClause]:
        """Yield the clauses that cases break."""
        return _broken(
            [(f"the case \u201c{one.case}\u201d", one.violation) for one in driven.result.failures]
        )

    def broken_when_recorded(self, recorded: RecordedVerdict) -> Iterator[BrokenClause]:
        """Yield the clauses that histories break."""
        return _broken(
            [
                (f"the history {one.run}, after {one.good_prefix:,} events", one.violation)
                for one in recorded.verdicts
                if one.violation is not None
            ]
        )

    def clauses(self, recorded: RecordedVerdict) -> Iterable[str]:
        """Return the clauses that histories are judged by."""
        table = definition_of(recorded.component).clauses
        return clauses_of(table, Wire.RECORDED, recorded.profile)

    def notes(self, recorded: RecordedVerdict) -> Iterable[str]:
        """Return the notes on what was not judged, and why."""
        return dict.fromkeys(note for one in recorded.verdicts for note in one.notes)


def render(measured: Sequence[Measured], extent: Extent, command: str) -> str:
    """Return the page; raise UnexplainedDeviationError for a deviation without explanation."""
    return markdown(
        "verdicts",
        sections=[Section(one) for one in measured],
        extent=extent,
        command=command,
        versions={
            "wheelproof": version("wheelproof"),
            "python": platform.python_version(),
            "java": java_version(),
            "system": platform.system(),
            "processors": os.cpu_count(),
        },
    )


def _broken(found: Sequence[tuple[str, Violation]]) -> Iterator[BrokenClause]:
    often = Counter(violation.rule for _, violation in found)
    for rule, number in often.items():
        where, first = next(one for one in found if one[1].rule == rule)
        yield BrokenClause(rule=rule, where=where, first=first, others=number - 1)


def _deviating(driven: DrivenVerdict | None) -> Iterator[str]:
    if driven is not None:
        yield from (count.clause for count in driven.result.clauses if count.reason)
        yield from (failure.violation.rule for failure in driven.result.failures)


def _violated(recorded: RecordedVerdict | None) -> Iterator[str]:
    for one in () if recorded is None else recorded.verdicts:
        if one.violation is not None:
            yield one.violation.rule


def _strongest(driven: DrivenVerdict | None) -> str:
    if driven is None or driven.inferred is None:
        return ""
    return driven.inferred.profile or "none"


def _short(deviation: Deviation) -> str:
    number = deviation.heading.partition(".")[0]
    name = f"{deviation.kind} {number}" if number.isdigit() else deviation.kind
    return f"[{name}]({deviation.link})"
