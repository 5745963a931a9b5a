"""`python -m wheelproof_lab pages clauses`: renews docs/clauses/README.md from its figures.

`python -m wheelproof_lab metamorphic --figures docs/clauses/figures.json` renews the figures.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypedDict, cast

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.components.registry import definitions

PAGE = "docs/clauses/README.md"
FIGURES = "docs/clauses/figures.json"

_KINDS = {"driven": Wire.DRIVEN, "recorded": Wire.RECORDED}


class ProfileFigures(TypedDict):
    """The figures of a campaign for one profile of a component."""

    histories: int
    disagreements: int
    answers: int
    named: dict[str, int]
    variations: dict[str, int]
    clauses: dict[str, list[int]]


class Figures(TypedDict):
    """The figures of the last campaign, by component and profile."""

    seed: int
    components: dict[str, dict[str, ProfileFigures]]


def read_figures(path: Path) -> Figures:
    """Return the figures of the last campaign."""
    return cast(Figures, json.loads(path.read_text(encoding="utf-8")))


def render(figures: Figures) -> str:
    """Return the page as Markdown."""
    components = [
        {"name": definition.name, "profiles": profiles, "rows": _rows(definition.clauses, profiles)}
        for definition in definitions()
        for profiles in (figures["components"][definition.name],)
    ]
    return markdown("clauses", components=components)


def _rows(
    clauses: type[Clause], profiles: Mapping[str, ProfileFigures]
) -> Iterator[tuple[Clause, str, str, str]]:
    """Yield each clause with its kinds of judges, and the campaign's figures for it."""
    broken: Counter[str] = Counter()
    found: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for one in profiles.values():
        named.update(one["named"])
        for clause, (times, right) in one["clauses"].items():
            broken[clause] += times
            found[clause] += right
    for clause in clauses:
        recorded, driven = "", ""
        if clause.judges & Wire.RECORDED:
            recorded = f"{broken[clause]:,}, {found[clause]:,}"
        if clause.judges & Wire.DRIVEN:
            driven = f"{named[clause]:,}" if named[clause] else "by hand"
        kinds = ", ".join(kind for kind, wire in _KINDS.items() if clause.judges & wire)
        kinds += f": {clause.why_alone}" if clause.why_alone else ""
        yield clause, kinds, recorded, driven


def _renewed() -> str:
    return render(read_figures(required_checkout() / FIGURES))


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, _renewed)
