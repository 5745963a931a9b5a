"""No reader of an object passes beside a writer that changes what it says."""

from pathlib import Path
from typing import Literal

import pytest

from support import seeds
from support.explore.exploring import beside_installed
from support.explore.programs.pairs import drawn, module
from wheelproof_explore import explore
from wheelproof_explore.verdicts import Verdict

_FIRST = seeds.seed(0)
_PAIRS = seeds.runs(80, hunted=2_000)


@pytest.mark.campaign
@pytest.mark.parametrize("accesses", ["steps", "races"])
def test_no_reader_passes_beside_a_writer(
    tmp_path: Path, accesses: Literal["steps", "races"]
) -> None:
    pairs = drawn(_FIRST, _PAIRS)
    wrong: list[str] = []
    with beside_installed(tmp_path, {}, "own_pairs", module(pairs)) as own:
        for at, pair in enumerate(pairs):
            for first in ("reader", "writer"):
                exploration = explore(getattr(own, f"pair_{at}_{first}"), accesses=accesses)
                if exploration.verdict() is Verdict.PASS:
                    wrong.append(f"seed {_FIRST}, {first} first: {pair}")
    assert not wrong, "\n".join(wrong)
