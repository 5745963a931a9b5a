"""No reader passes beside a writer that changes what it says; two readers do not race."""

from pathlib import Path
from random import Random
from typing import Literal

import pytest

from support import seeds
from support.explore.construct_programs import two_readers
from support.explore.exploring import beside_installed
from support.explore.programs import kinds_of_packages
from support.explore.programs.pairs import INSTALLED, drawn, module
from wheelproof_explore import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.constructs.programs import loaded
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS

_FIRST = seeds.seed(0)
_PAIRS = seeds.runs(30, hunted=2_000)
_READERS = seeds.runs(60, hunted=len(CONSTRUCTS))
_OF_PACKAGES = tuple(kinds_of_packages.KINDS)
_FIRST_LOOK_MAKES = frozenset((
    "defaultdict", "defaultdict with a lambda", "defaultdict with own factory",
    "import: defaultdict", "import: memory of a function", "import: singleton of a class",
    "import: singleton of a module",
))  # fmt: skip
"""Rows whose first reader makes what the others read: two first ones do race."""


@pytest.mark.campaign
@pytest.mark.parametrize("accesses", ["steps", "races"])
@pytest.mark.parametrize("kinds", [None, _OF_PACKAGES], ids=["all kinds", "of packages"])
def test_no_reader_passes_beside_a_writer(
    tmp_path: Path, accesses: Literal["steps", "races"], kinds: tuple[str, ...] | None
) -> None:
    pairs = drawn(_FIRST, _PAIRS) if kinds is None else drawn(_FIRST, _PAIRS, kinds)
    wrong: list[str] = []
    with beside_installed(tmp_path, INSTALLED, "own_pairs", module(pairs)) as own:
        for at, pair in enumerate(pairs):
            for first in ("reader", "writer"):
                exploration = explore(getattr(own, f"pair_{at}_{first}"), accesses=accesses)
                if exploration.verdict() is Verdict.PASS:
                    wrong.append(f"seed {_FIRST}, {first} first: {pair}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.campaign
def test_two_readers_are_no_data_race() -> None:
    rows = [row for row in CONSTRUCTS if row.name not in _FIRST_LOOK_MAKES]
    wrong: list[str] = []
    for row in Random(_FIRST).sample(rows, min(_READERS, len(rows))):
        with loaded(two_readers(row)) as own:
            try:
                exploration = explore(vars(own)["program"], accesses="races")
            except ProgramRejectedError:
                continue
        if exploration.verdict() is Verdict.FAIL:
            wrong.append(f"seed {_FIRST}: {row.name}: {exploration.summary()}")
    assert not wrong, "\n".join(wrong)
