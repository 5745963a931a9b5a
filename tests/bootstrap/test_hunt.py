"""The hunt: seeds before campaigns, a command for each failure, and an end in time."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import seeds
from support.checkout import ROOT
from tools import hunt
from tools.checkout import Checkout
from tools.commands import main
from tools.errors import SetupError

_CAMPAIGNS = """
import os
import pytest

SEED = int(os.environ.get("WHEELPROOF_SEED", "5"))

@pytest.mark.campaign
def test_small_seeds_fail():
    assert SEED >= 3

@pytest.mark.campaign
@pytest.mark.parametrize("number", [0, 1])
def test_good(number):
    assert os.environ["PYTHONHASHSEED"] == os.environ["WHEELPROOF_SEED"]

def test_no_campaign():
    assert False
"""
_MARKERS = "[pytest]\nmarkers =\n  campaign: a\n  hunt: b\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with two campaigns, one of which fails with the seeds 0, 1 and 2."""
    (tmp_path / "pytest.ini").write_text(_MARKERS, encoding="utf-8")
    (tmp_path / "test_campaigns.py").write_text(_CAMPAIGNS, encoding="utf-8")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8"
    )
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    return Checkout(root=tmp_path)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != seeds.VARIABLE}


def test_campaigns_are_functions_with_a_mark(checkout: Checkout) -> None:
    found = hunt.campaigns_of(checkout, _environment())
    assert [name.partition("::")[2] for name in found] == ["test_small_seeds_fail", "test_good"]
    (checkout.root / "test_campaigns.py").unlink()
    with pytest.raises(SetupError, match="no campaign was found"):
        hunt.campaigns_of(checkout, _environment())


@pytest.mark.slow
def test_what_fails_is_printed_with_a_command_that_repeats_it(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt.hunt(checkout, _environment(), 1_000, iter([2, 1, 3, 4])) == 1
    printed = capsys.readouterr().out
    assert printed.index("round 1, seed 1: ") < printed.index("s  seed 1: test_campaigns.py")
    assert "4 campaigns have run, 1 have found something" in printed
    repeat = printed.split("  repeat    ")[1].splitlines()[0]
    assert repeat.endswith(" test_campaigns.py::test_small_seeds_fail")
    again = subprocess.run(
        repeat, shell=True, cwd=checkout.root, env=_environment(), capture_output=True, check=False
    )
    assert again.returncode == 1


@pytest.mark.slow
def test_who_finds_nothing_ends_with_0_and_who_has_no_time_runs_nothing(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hunt.hunt(checkout, _environment(), 1_000, iter([8, 9])) == 0
    assert hunt.hunt(checkout, _environment(), 1e-9) == 0
    assert "0 campaigns have run" in capsys.readouterr().out


@pytest.mark.slow
def test_what_has_to_pass_on_every_python_runs_on_another_one_too(
    checkout: Checkout, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = checkout.root / "tests" / "explore"
    folder.mkdir(parents=True)
    (checkout.root / "test_campaigns.py").rename(folder / "test_campaigns.py")
    other = checkout.root / ".venv-other" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.write_bytes(checkout.python.read_bytes())
    other.chmod(0o755)
    assert hunt.hunt(checkout, _environment(), 1_000, iter([4, 5, 6, 7]), [other]) == 0
    printed = capsys.readouterr().out.splitlines()
    on_other = [line for line in printed if line.endswith(" on .venv-other")]
    assert [line.partition(": ")[0] for line in on_other if line.startswith("round ")] == [
        "round 1, seed 5",
        "round 2, seed 7",
    ]


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "x"])
def test_bad_minutes_are_refused(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["hunt", "--minutes", minutes])
    assert "--minutes" in capsys.readouterr().err


def test_a_seed_of_the_hunt_replaces_the_fixed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(seeds.VARIABLE, raising=False)
    assert (seeds.seed(7), seeds.runs(2, hunted=9), seeds.hunting()) == (7, 2, False)
    assert seeds.share(range(8), 3) == range(0, 8, 3)
    monkeypatch.setenv(seeds.VARIABLE, "8")
    assert (seeds.seed(7), seeds.runs(2, hunted=9), seeds.hunting()) == (8, 9, True)
    assert seeds.share(range(8), 3) == range(2, 8, 3)


def test_every_campaign_of_the_tests_reads_its_seed() -> None:
    """A mark alone makes no campaign: its seed comes from support/seeds.py."""
    marked = [
        path
        for folder in ("tests", "stateful_tests")
        for path in sorted((ROOT / folder).rglob("test_*.py"))
        if "@pytest.mark.campaign" in (text := path.read_text(encoding="utf-8"))
        and path.name != Path(__file__).name
        and not re.search(r"seeds\.(seed|share)\(", text)
    ]
    assert marked == []
