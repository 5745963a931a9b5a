"""The matrix of bugs and engines: how it is judged, and shown as Markdown and as HTML."""

from collections.abc import Iterable, Iterator, Sequence

from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.bugs.known_bug import KnownBug
from wheelproof_lab.detect.mutation.cells import End, Outcome
from wheelproof_spec.base.results.verdicts import CheckResult, Verdict

REFERENCE = "reference"

KINDS = {
    "contracts": "proof",
    "TLC": "model",
    "proof": "proof",
    "model checker": "interleavings",
    "state graph": "interleavings",
    "fuzz, one thread": "calls",
    "fuzz, real threads": "threads",
    "fuzz, controlled threads": "interleavings",
    "driven": "calls",
    "recorded": "threads",
}
"""The engines in column order, and the kind of each: two engines of one kind see the same."""
ENGINES = tuple(KINDS)
_ALL_HAVE = {"model checker", "fuzz, one thread", "fuzz, real threads", "driven", "recorded"}
"""The engines that look for every bug. If not all of them were asked, one kind is enough."""
_SHORT = {End.ABSENT: "", End.CLEAN: "missed", End.HANGS: "no end", End.ERROR: "error"}


def judged(outcomes: Sequence[Outcome]) -> Iterator[CheckResult]:
    """Yield a check for each bug, and for each component of the reference.

    Every engine that a bug's table names must find the bug, and so must two engines of different
    kinds, unless the table says in a sentence why only one can. The reference must be clean.
    """
    for bug in bugs():
        mine = [one for one in outcomes if one.cell.subject == bug.id]
        if mine:
            yield _judged_bug(bug, mine)
    for component in dict.fromkeys(one.cell.component for one in outcomes if not one.cell.subject):
        ours = [
            one for one in outcomes if (one.cell.subject, one.cell.component) == ("", component)
        ]
        wrong = [one for one in ours if one.found.end not in (End.CLEAN, End.ABSENT)]
        stuck = [one for one in wrong if one.found.end is End.HANGS]
        # A cell that was ended at the limit has shown nothing: the machine may be busy.
        verdict = Verdict.INCONCLUSIVE if len(stuck) == len(wrong) else Verdict.FAIL
        yield CheckResult(
            name=f"{REFERENCE}, {component}",
            group="bugs",
            verdict=verdict if wrong else Verdict.PASS,
            summary="; ".join(one.told() for one in wrong) or f"clean in {len(ours)} cells",
            details="\n".join(one.found.story for one in wrong),
        )


def _judged_bug(bug: KnownBug, mine: Sequence[Outcome]) -> CheckResult:
    found = [one.cell.engine for one in mine if one.found.end is End.FOUND]
    asked = {one.cell.engine for one in mine}
    missed = sorted({finder.value for finder in bug.finders} & asked - {*found})
    errors = [one for one in mine if one.found.end is End.ERROR]
    alone = len({KINDS[engine] for engine in found}) < 2 and asked >= _ALL_HAVE
    troubles = [
        *(f"missed by {engine}, which its table names" for engine in missed),
        *(f"{one.cell.engine} failed itself" for one in errors),
        *(["no two engines of different kinds see it"] if alone and not bug.alone else []),
        *(["no engine sees it"] if not found else []),
    ]
    return CheckResult(
        name=bug.id,
        group="bugs",
        verdict=Verdict.FAIL if troubles else Verdict.PASS,
        seconds=sum(one.milliseconds for one in mine) / 1_000,
        summary="; ".join(troubles) or f"found by {', '.join(found)}",
        details="\n".join(one.found.story for one in errors),
    )


def _cell(outcome: Outcome) -> str:
    """Return a cell as text: the seconds, the runs, and the length of the counterexample."""
    found = outcome.found
    if found.end is End.FOUND:
        return f"{outcome.milliseconds / 1_000:.1f} s, {found.runs}, {found.length}"
    return _SHORT[found.end]


def _rows(outcomes: Iterable[Outcome]) -> Iterator[tuple[str, Sequence[Outcome | None]]]:
    known = {(one.cell.subject, one.cell.engine): one for one in outcomes if one.cell.subject}
    for subject in dict.fromkeys(subject for subject, _ in known):
        yield subject, [known.get((subject, engine)) for engine in ENGINES]


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the matrix as a Markdown table."""
    lines = [f"| id | {' | '.join(ENGINES)} |", f"|---|{'---|' * len(ENGINES)}"]
    for subject, cells in _rows(outcomes):
        shown = (_cell(one) if one else "" for one in cells)
        lines.append(f"| `{subject}` | {' | '.join(shown)} |")
    return "\n".join(lines)


def controls(outcomes: Sequence[Outcome]) -> str:
    """Return the results of the unaltered reference, by component, as a Markdown table."""
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        if not one.cell.subject:
            cells.setdefault((one.cell.component, one.cell.engine), []).append(one)
    lines = [f"| component | {' | '.join(ENGINES)} |", f"|---|{'---|' * len(ENGINES)}"]
    for component in dict.fromkeys(component for component, _ in cells):
        shown = (_control(cells.get((component, engine), [])) for engine in ENGINES)
        lines.append(f"| {component} | {' | '.join(shown)} |")
    return "\n".join(lines)


def _control(cells: Sequence[Outcome]) -> str:
    """Return how many of an engine's cells were clean, and the number of their runs together."""
    known = [one.found for one in cells if one.found.end is not End.ABSENT]
    clean = sum(found.end is End.CLEAN for found in known)
    runs = sum(found.runs for found in known)
    return f"{clean} of {len(known)} clean, {runs}" if known else ""


def html_page(outcomes: Sequence[Outcome]) -> str:
    """Return the matrix as an HTML page, in which a cell opens its counterexample."""
    from wheelproof_spec.app.pages.environment import html

    rows = [
        (subject, [(_cell(one), one.found.story) if one else ("", "") for one in cells])
        for subject, cells in _rows(outcomes)
    ]
    return html("detection", "wheelproof_lab.publish", engines=ENGINES, rows=rows)
