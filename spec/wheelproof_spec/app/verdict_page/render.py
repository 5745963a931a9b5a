"""The page in Markdown."""

import os
import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

from wheelproof_spec.app.verdict_page.deviations import Deviation, explain
from wheelproof_spec.app.verdict_page.measure import (
    DrivenVerdict,
    Extent,
    Measured,
    RecordedVerdict,
    java_version,
)
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.registry import definition_of
from wheelproof_spec.engines.drive.result import ClauseCount, ConformanceResult

_HEAD = """# Verdicts

Made by `{command}`, which drives and records the implementations behind the
[adapters](../adapters/README.md) that are shipped, and judges them. Numbers are those of that run.

- Driven: the same cases for everybody, {cases:,} fuzzed ones beside the named ones, judged call by
  call by the oracle; a tenth of that where the implementation has not declared the profile.
- Recorded: {histories} histories of a component, each of {operations:,} calls by {threads} threads
  at once, with its own threads beside them, on the machine's clock; what the callers do is the same
  for everybody. Every second one of a pool or an accumulator is closed while it is used
  ([recording.md](recording.md)). What an implementation promises beyond what all do is declared in
  the header.
- Seed {seed}. The choices of a seed are always the same; how threads were scheduled is not.
- wheelproof {wheelproof}, Python {python}, Java {java}, {system}, {processors} processors.

A clause that was broken, and a part of the domain that was skipped, is put down to a clause of a
profile that the implementation has not declared, or to a finding; one that is put down to nothing
stops the page from being made.
"""


class _Implementation:
    """One section of the page, and its rows in the table of all."""

    def __init__(self, measured: Measured) -> None:
        self._measured = measured
        self.name = measured.implementation.name

    def rows(self) -> Iterator[str]:
        """Yield a row for each component and profile."""
        driven = {(one.run.component, one.run.profile): one for one in self._measured.driven}
        recorded = {(one.component, one.profile): one for one in self._measured.recorded}
        for key in dict.fromkeys([*driven, *recorded]):
            component, profile = key
            cells = (
                self.name,
                component,
                profile,
                _word(driven[key].result.verdict if key in driven else None),
                _word(recorded[key].verdict if key in recorded else None),
                self._put_down_to(driven.get(key), recorded.get(key), profile),
            )
            yield f"| {' | '.join(cells)} |"

    def section(self) -> Iterator[str]:
        """Yield the lines of the section."""
        yield f"## {self.name}"
        yield ""
        yield self._measured.implementation.about
        for driven in self._measured.driven:
            yield from self._driven(driven)
        for recorded in self._measured.recorded:
            yield from self._recorded(recorded)

    def _put_down_to(
        self, driven: DrivenVerdict | None, recorded: RecordedVerdict | None, profile: str
    ) -> str:
        found: dict[str, None] = {}
        if driven is not None:
            for clause in _deviating(driven.result):
                found[_short(self._explain(driven.run.component, profile, clause))] = None
        if recorded is not None:
            for violation in _violations(recorded):
                found[_short(self._explain(recorded.component, profile, violation.rule))] = None
        return ", ".join(found) or "none"

    def _driven(self, driven: DrivenVerdict) -> Iterator[str]:
        result, run = driven.result, driven.run
        yield ""
        yield f"### {self.name}: {run.component} driven, profile {run.profile}"
        yield ""
        yield (
            f"**{_word(result.verdict)}**: {result.subject}; {result.cases:,} cases, "
            f"{result.steps:,} steps."
        )
        yield ""
        yield from _console(driven.command)
        yield ""
        yield "Clauses, and how often each was checked: " + _counts(result.clauses) + "."
        skipped = [count for count in result.clauses if count.reason]
        if skipped:
            yield ""
            yield "| skipped | why | put down to |"
            yield "|---|---|---|"
            for count in skipped:
                link = self._link(run.component, run.profile, count.clause)
                yield f"| `{count.clause}` | {_cell(count.reason)} | {link} |"
        broken = [(f"the case \u201c{one.case}\u201d", one.violation) for one in result.failures]
        yield from self._violations(broken, run.component, run.profile)

    def _recorded(self, recorded: RecordedVerdict) -> Iterator[str]:
        first = recorded.verdicts[0]
        events = sum(one.events for one in recorded.verdicts)
        yield ""
        yield f"### {self.name}: {recorded.component} recorded, profile {recorded.profile}"
        yield ""
        yield (
            f"**{_word(recorded.verdict)}**: {first.implementation}; "
            f"{len(recorded.verdicts)} histories, {events:,} events."
        )
        yield ""
        yield from _console(*recorded.commands)
        yield ""
        configs = ", ".join(f"`{config}`" for config in recorded.configs)
        yield f"Declared: {configs}."
        yield ""
        calls = ", ".join(f"`{f}` {number:,}" for f, number in sorted(recorded.calls.items()))
        yield f"What was recorded, and how often: {calls}."
        yield ""
        table = definition_of(recorded.component).clauses
        judged = clauses_of(table, Wire.RECORDED, recorded.profile)
        clauses = ", ".join(f"`{clause}`" for clause in judged)
        yield f"Clauses: {clauses}."
        for note in dict.fromkeys(note for one in recorded.verdicts for note in one.notes):
            yield ""
            yield f"Note: {note}."
        broken = [
            (f"the history {one.run}, after {one.good_prefix:,} events", one.violation)
            for one in recorded.verdicts
            if one.violation is not None
        ]
        yield from self._violations(broken, recorded.component, recorded.profile)

    def _violations(
        self, broken: Sequence[tuple[str, Violation]], component: str, profile: str
    ) -> Iterator[str]:
        """Tell of each clause that is broken, by the first case that breaks it."""
        often = Counter(violation.rule for _, violation in broken)
        for rule, number in often.items():
            where, first = next(one for one in broken if one[1].rule == rule)
            yield ""
            yield (
                f"`{rule}` is broken in {where}: {first.reason}. Expected: {first.expected}; "
                f"observed: {first.observed}. {_others(number - 1)}"
                f"Put down to: {self._link(component, profile, rule)}."
            )

    def _link(self, component: str, profile: str, clause: str) -> str:
        one = self._explain(component, profile, clause)
        return f"[{one.kind}: {one.sentence}]({one.link})"

    def _explain(self, component: str, profile: str, clause: str) -> Deviation:
        return explain(self.name, component, profile, clause)


def render(measured: Sequence[Measured], extent: Extent, command: str) -> str:
    """Return the page; raises UnexplainedDeviationError for a deviation that is news."""
    sections = [_Implementation(one) for one in measured]
    lines = [
        _HEAD.format(
            command=command,
            cases=extent.cases,
            histories=extent.histories,
            operations=extent.operations,
            threads=extent.threads,
            seed=extent.seed,
            wheelproof=version("wheelproof"),
            python=platform.python_version(),
            java=java_version(),
            system=platform.system(),
            processors=os.cpu_count(),
        ),
        "| implementation | component | profile | driven | recorded | deviations |",
        "|---|---|---|---|---|---|",
    ]
    for section in sections:
        lines += section.rows()
    for section in sections:
        lines += ["", *section.section()]
    return "\n".join([*lines, ""])


def _deviating(result: ConformanceResult) -> Iterable[str]:
    yield from (count.clause for count in result.clauses if count.reason)
    yield from (failure.violation.rule for failure in result.failures)


def _violations(recorded: RecordedVerdict) -> Iterable[Violation]:
    return (one.violation for one in recorded.verdicts if one.violation is not None)


def _word(verdict: Verdict | None) -> str:
    return "not recorded" if verdict is None else verdict.upper()


def _short(deviation: Deviation) -> str:
    number = deviation.heading.partition(".")[0]
    name = f"{deviation.kind} {number}" if number.isdigit() else deviation.kind
    return f"[{name}]({deviation.link})"


def _others(number: int) -> str:
    return f"It is broken {number} more times. " if number else ""


def _counts(clauses: Sequence[ClauseCount]) -> str:
    return ", ".join(f"`{one.clause}` {one.checked:,}" for one in clauses if not one.reason)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _console(*commands: str) -> Iterator[str]:
    yield "```sh"
    yield from commands
    yield "```"
