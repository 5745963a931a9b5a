"""The purgatories of older Kafkas: right by what their disciplines promise, and by no more.

And the counterexamples that TLC has for a discipline happen on the classes that used it.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof_lab.publish.disciplines import (
    DIFFERENCES,
    DISCIPLINES,
    PAGE,
    PROMISES,
    Discipline,
)
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.purgatory.component import PurgatoryClause
from wheelproof_spec.history.checkers import CheckOptions
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.slow

OLDER = [one for one in DISCIPLINES if one.classes is not None]


def _broken(discipline: Discipline) -> dict[str, bool]:
    """Return what the page says of each race that is repeated: whether TLC breaks the promise."""
    column = DISCIPLINES.index(discipline)
    rows: dict[str, str] = {}
    for line in (ROOT / PAGE).read_text(encoding="utf-8").splitlines():
        cells = re.split(r" \| ", line.strip("| "))
        if len(cells) == len(DISCIPLINES) + 2:
            rows[cells[0]] = cells[2 + column]
    races = {promise.race: promise.text for promise in PROMISES if promise.race is not None}
    return {race: rows[text].startswith("**broken**") for race, text in races.items()}


@pytest.mark.parametrize("discipline", OLDER, ids=lambda one: one.name)
def test_races_are_those_of_the_discipline(kafka_purgatories: str, discipline: Discipline) -> None:
    assert discipline.classes is not None
    command = [kafka_purgatories, discipline.classes, "races"]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    seen: dict[str, object] = json.loads(completed.stdout)
    assert seen.pop("version") == discipline.classes
    expected = _broken(discipline)
    differences = {one.race for one in DIFFERENCES if one.discipline == discipline.name}
    found = {race for race in expected if seen.get(race) is not expected[race]}
    assert found == differences, seen


def _broken_rules(program: str, version: str, promises: str, path: Path, seed: int) -> set[str]:
    """Record a history, and return the rules that it breaks."""
    options = ["--component", "purgatory", "--operations", "4000", "--seed", str(seed)]
    options += ["--promises", promises, "--output", str(path)]
    subprocess.run([program, version, "record", *options], capture_output=True, check=True)
    result = judge_lines(str(path), read_lines(path), CheckOptions(profile="kafka"))
    assert [one.verdict for one in result.verdicts] not in ([], [Verdict.INCONCLUSIVE])
    # The recorder says how coarse its clock is, as all of ours in Java do.
    assert not any("clock_resolution_ns" in note for one in result.verdicts for note in one.notes)
    return {one.violation.rule for one in result.verdicts if one.violation is not None}


def _may_break(discipline: Discipline) -> set[str]:
    """Return the rules of a stricter discipline that this one may break."""
    may: set[str] = {PurgatoryClause.ATTEMPTS_EXCLUDE}
    if discipline.name == "try_lock_once":
        may.add(PurgatoryClause.TRIGGER_COMPLETES)
    return may


@pytest.mark.parametrize("discipline", OLDER, ids=lambda one: one.name)
def test_recorded_it_keeps_its_own_promises(
    kafka_purgatories: str, tmp_path: Path, discipline: Discipline
) -> None:
    assert discipline.classes is not None
    version, path = discipline.classes, tmp_path / "history.jsonl"
    assert _broken_rules(kafka_purgatories, version, "kafka", path, seed=1) == set()
    broken = _broken_rules(kafka_purgatories, version, "wheelproof", path, seed=1)
    assert broken <= _may_break(discipline)


@pytest.mark.hunt
@pytest.mark.parametrize("discipline", OLDER, ids=lambda one: one.name)
def test_recorded_it_breaks_stricter_promises(
    kafka_purgatories: str, tmp_path: Path, discipline: Discipline
) -> None:
    assert discipline.classes is not None
    version, path = discipline.classes, tmp_path / "history.jsonl"
    # How threads meet is up to the machine: a history in which none did says nothing.
    tries = (_broken_rules(kafka_purgatories, version, "wheelproof", path, n) for n in range(60))
    stricter = next((rules for rules in tries if rules), set[str]())
    assert stricter
    assert stricter <= _may_break(discipline)
