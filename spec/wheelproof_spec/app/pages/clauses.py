"""`python -m wheelproof_spec.app.pages.clauses`: renews docs/clauses/README.md from its figures.

`wheelproof metamorphic --figures docs/clauses/figures.json` renews the figures.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, cast

from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.resources import required_checkout
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.components.registry import definitions

PAGE = "docs/clauses/README.md"
FIGURES = "docs/clauses/figures.json"

_HEAD = """# Clauses

Made from the tables in `spec/wheelproof_spec/components` and from `docs/clauses/figures.json` by
`python -m wheelproof_spec.app.pages.clauses`.

What each component promises, clause by clause: the rule of [semantics.md](../semantics.md), and who
judges it. `driven` is the judge of cases that are driven call by call, `recorded` that of
histories. The last two columns are those of the last campaign of `wheelproof metamorphic`:

- recorded: how many right histories were spoilt so that they break this clause, and how often the
  judge named it;
- driven: how often the judge named it when answers to the named cases were spoilt, in any way. By
  hand: no spoilt answer breaks it, a test of the component does.
"""
_COLUMNS = """
| clause | rule | promise | judged | recorded: broken, found | driven: named |
|---|---|---|---|---|---|
"""
_KINDS = {"driven": Wire.DRIVEN, "recorded": Wire.RECORDED}


class ProfileFigures(TypedDict):
    """What a campaign did for one profile of a component."""

    histories: int
    disagreements: int
    answers: int
    named: dict[str, int]
    variations: dict[str, int]
    clauses: dict[str, list[int]]


class Figures(TypedDict):
    """What the last campaign did: components, and their profiles."""

    seed: int
    components: dict[str, dict[str, ProfileFigures]]


def read_figures(path: Path) -> Figures:
    """Return the figures of the last campaign."""
    return cast(Figures, json.loads(path.read_text(encoding="utf-8")))


def render(figures: Figures) -> str:
    """Return the page as Markdown."""
    sections = (
        "".join(_section(definition.name, definition.clauses, figures))
        for definition in definitions()
    )
    return _HEAD + "".join(sections)


def _section(component: str, clauses: type[Clause], figures: Figures) -> Iterator[str]:
    profiles = figures["components"][component]
    broken: Counter[str] = Counter()
    found: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for one in profiles.values():
        named.update(one["named"])
        for clause, (times, right) in one["clauses"].items():
            broken[clause] += times
            found[clause] += right
    yield f"\n## {component}\n\n"
    for profile, one in profiles.items():
        yield (
            f"- profile `{profile}`: {one['histories']:,} histories, {one['answers']:,} spoilt "
            f"answers, {one['disagreements']:,} disagreements\n"
        )
    yield _COLUMNS
    for clause in clauses:
        recorded, driven = "", ""
        if clause.judges & Wire.RECORDED:
            recorded = f"{broken[clause]:,}, {found[clause]:,}"
        if clause.judges & Wire.DRIVEN:
            driven = f"{named[clause]:,}" if named[clause] else "by hand"
        kinds = ", ".join(kind for kind, wire in _KINDS.items() if clause.judges & wire)
        kinds += f": {clause.why_alone}" if clause.why_alone else ""
        cells = (f"`{clause.value}`", clause.rule, clause.promise, kinds, recorded, driven)
        yield f"| {' | '.join(cells)} |\n"


def main() -> int:
    """Write the page."""
    checkout = required_checkout()
    write_text(checkout / PAGE, render(read_figures(checkout / FIGURES)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
