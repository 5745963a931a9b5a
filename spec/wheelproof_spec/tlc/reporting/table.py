"""The output of a run on the screen: a table of the models, and details of some of them."""

import sys
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from wheelproof_spec.base.needs import JAR_VARIABLE
from wheelproof_spec.base.results.verdicts import Verdict, overall
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.manifest.model import Model
from wheelproof_spec.tlc.reporting.document import announced_version
from wheelproof_spec.tlc.running.launch import Toolchain

_WIDTH_OF_A_FILE = 140
_COLOURS = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.ERROR: "magenta",
    Verdict.INCONCLUSIVE: "yellow",
}


def make_console(*, stderr: bool = False) -> Console:
    """Return a console; without a terminal it is made wide enough for the table."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else _WIDTH_OF_A_FILE
    return Console(file=stream, width=width, highlight=False)


def print_run(
    console: Console,
    toolchain: Toolchain,
    outcomes: Sequence[ModelOutcome],
    *,
    explain: bool,
    coverage: bool,
) -> None:
    """Print the table, the stories of the models that did not pass, and the closing line.

    With `explain` also the counterexamples that were expected, with `coverage` the counts of the
    actions.
    """
    console.print(_table(outcomes))
    for outcome in outcomes:
        if outcome.verdict is not Verdict.PASS or (explain and outcome.counterexample_text):
            _print_story(console, outcome)
        if coverage:
            _print_coverage(console, outcome)
        if outcome.graph_summary:
            console.print(f"{outcome.model.name}: {escape(outcome.graph_summary)}")
    console.print(escape(_toolchain_line(toolchain, outcomes)), soft_wrap=True)
    console.print(closing_line(outcomes))


def closing_line(outcomes: Sequence[ModelOutcome]) -> str:
    """Return the verdict on the run in one line."""
    verdict = overall(outcome.verdict for outcome in outcomes)
    counts = ", ".join(
        f"{count} {kind}"
        for kind in Verdict
        if (count := sum(outcome.verdict is kind for outcome in outcomes))
    )
    return f"tlc: {verdict} ({counts} of {len(outcomes)} models)"


def list_lines(models: Sequence[Model]) -> list[str]:
    """Return a line for each model: name, tier, kind, expected ending and summary."""
    rows = [
        (model.name, model.tier.value, model.kind.value, model.expected_text(), model.summary)
        for model in models
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return [
        "  ".join((*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]))
        for row in rows
    ]


def _table(outcomes: Sequence[ModelOutcome]) -> Table:
    """Return the table, what did not pass first.

    The depth is that of the state graph, or of the counterexample.
    """
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("model", "kind", "expected"):
        table.add_column(name, overflow="fold")
    table.add_column("verdict", no_wrap=True)
    for name in ("distinct", "depth", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    for outcome in sorted(outcomes, key=lambda one: one.verdict is Verdict.PASS):
        length = outcome.trace_length
        table.add_row(
            escape(outcome.model.name),
            outcome.model.kind.value,
            escape(outcome.model.expected_text()),
            f"[{_COLOURS[outcome.verdict]}]{outcome.verdict.value}[/]",
            _count(outcome.distinct),
            _count(outcome.depth if length is None else length),
            f"{outcome.seconds:.1f}",
        )
    return table


def _count(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def _print_story(console: Console, outcome: ModelOutcome) -> None:
    colour = _COLOURS[outcome.verdict]
    console.print(f"\n[{colour}]{outcome.verdict.value}[/] {escape(outcome.model.name)}")
    console.print(escape(outcome.story()), soft_wrap=True)
    console.print()


def _print_coverage(console: Console, outcome: ModelOutcome) -> None:
    console.print(f"{outcome.model.name}: how often each action was taken, and to new states")
    for action in outcome.run.report.coverage:
        console.print(
            f"  {action.generated:>12,} {action.distinct:>12,}  {action.name} ({action.module})"
        )


def _toolchain_line(toolchain: Toolchain, outcomes: Sequence[ModelOutcome]) -> str:
    announced = announced_version(outcomes) or "TLC, which did not tell its version"
    # A jar that was not built by TLC's release script has its template in the place of the date.
    announced = announced.replace(" of Day Month 20??", ", of no date")
    others = f"for another one: --jar FILE or {JAR_VARIABLE}"
    java = toolchain.java.version
    return f"{announced}, from {toolchain.jar.describe()}, on Java {java}; {others}"
