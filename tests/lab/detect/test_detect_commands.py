"""The verbs `bugs` and `mutate`, end to end: a selection of both, in seconds."""

import json
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import filter as filter_names
from pathlib import Path

import pytest

from support.checkout import ROOT
from wheelproof.producer import BufferPool
from wheelproof_lab.__main__ import main
from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.detect import mutate
from wheelproof_lab.detect.child import failing_history
from wheelproof_lab.detect.engines import Task, recorded
from wheelproof_lab.detect.matrix import KINDS, judged
from wheelproof_lab.detect.methods import Row, judged_rows
from wheelproof_lab.detect.mutation.cells import Cell, End, Found, Outcome, read_outcomes
from wheelproof_lab.detect.page import FOLDER, render, reports_in, told
from wheelproof_lab.detect.tla import all_tla_mutants
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.registry import COMPONENTS
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.slow

_POOL = "wheelproof.producer.buffer_pool.BufferPool"


def test_engines_see_known_bugs_and_leave_the_reference_alone(tmp_path: Path) -> None:
    report, page = tmp_path / "report.json", tmp_path / "page.html"
    engines = ("model checker", "driven", "proof", "fuzz, one thread")
    words = [word for engine in engines for word in ("--engine", engine)]
    words += ["--seconds", "3", "--json", str(report), "--html", str(page), "--quiet"]
    assert main(["bugs", "KAFKA-3651", "KAFKA-8334", *words]) == 0
    cells = json.loads(report.read_text())["cells"]
    ends = {(one["cell"]["subject"], one["cell"]["engine"]): one["found"]["end"] for one in cells}
    assert ends == {
        ("KAFKA-3651", "model checker"): "found",
        ("KAFKA-3651", "driven"): "found",
        ("KAFKA-3651", "proof"): "found",
        ("KAFKA-3651", "fuzz, one thread"): "found",
        ("KAFKA-8334", "model checker"): "found",
        ("KAFKA-8334", "driven"): "clean",
        ("KAFKA-8334", "proof"): "found",
        ("KAFKA-8334", "fuzz, one thread"): "clean",
    }
    assert "BufferPool.WaitersAreLiveThreads" in page.read_text()
    controls = ["bugs", "reference", "--engine", "model checker", "--seconds", "1"]
    assert main([*controls, "--controls", "1", "--quiet"]) == 0


def test_mutants_are_killed_by_engines(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    pattern = f"{_POOL}.close/deletion/*"
    assert main(["mutate", pattern, "--seed", "1", "--json", str(report), "--quiet"]) == 0
    checks = json.loads(report.read_text())["checks"]
    killed = ["killed by model checker, found"] * 2
    assert [check["summary"] for check in checks] == [*killed, "clean in 1 cells"]


def test_who_fails_the_reference_kills_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_found(
        chains: Sequence[Sequence[Cell]], *_: object, **__: object
    ) -> list[list[Outcome]]:
        found = Found(end=End.FOUND)
        return [[Outcome(cell=cell, found=found, milliseconds=1)] for cell, *_ in chains]

    monkeypatch.setattr(mutate, "run_chains", all_found)
    assert main(["mutate", f"{_POOL}.close/deletion/*"]) == 1
    assert "reference, buffer_pool: " in capsys.readouterr().out


@pytest.mark.parametrize("options", [[], ["--recheck"]])
def test_what_the_ledger_calls_equivalent_runs_only_if_it_is_asked_for(
    options: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = set[str]()

    def all_clean(
        chains: Sequence[Sequence[Cell]], *_: object, **__: object
    ) -> list[list[Outcome]]:
        ran.update(cell.subject for chain in chains for cell in chain)
        clean = Found(end=End.CLEAN)
        return [[Outcome(cell=one, found=clean, milliseconds=1) for one in mine] for mine in chains]

    monkeypatch.setattr(mutate, "run_chains", all_clean)
    assert main(["mutate", "--all", *options]) == 1
    equivalent = f"{_POOL}.close/signal for one or all/1/"
    assert any(name.startswith(equivalent) for name in ran) is bool(options)
    assert f"{_POOL}.close/deletion/1/" in capsys.readouterr().out


def test_the_ledger_tells_of_mutants_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    """The number or the digest of a mutant changes with its function: then it is looked at anew."""
    for words in (["--all"], ["--all", "--tla"]):
        assert main(["mutate", "--list", *words]) == 0
    mutants = [line.partition(": ")[0] for line in capsys.readouterr().out.splitlines()]
    ledger = read_table(mutate.__file__, "survivors.toml")
    assert [row for row in ledger if not filter_names(mutants, row)] == []


@pytest.mark.hunt
def test_every_method_exit_and_pair_is_seen() -> None:
    command = [sys.executable, "-m", "wheelproof_lab", "methods", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_hole_without_a_reason_and_a_reason_without_a_hole_fail() -> None:
    known = "SystemTimerReaper.advance_clock"
    rows = [Row(name="SystemTimer.new", counts=(1, 0, 1, 1), hole=True)]
    check = judged_rows("timer", rows)
    assert check.verdict is Verdict.FAIL
    assert "SystemTimer.new" in check.summary
    assert f"{known} is no hole, and has a reason" in check.summary


def test_the_page_is_made_of_the_outcomes() -> None:
    """The remedy is `python -m wheelproof_lab pages detection`."""
    folder = ROOT / FOLDER
    outcomes = read_outcomes(folder / "outcomes.jsonl")
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert page == render(outcomes, reports_in(folder))
    assert told(outcomes) == [*outcomes]


def test_each_bug_is_seen_by_two_kinds_or_says_why_not_and_the_reference_is_clean() -> None:
    outcomes = read_outcomes(ROOT / FOLDER / "outcomes.jsonl")
    for bug in bugs():
        found = {
            KINDS[one.cell.engine]
            for one in outcomes
            if (one.cell.subject, one.found.end) == (bug.id, End.FOUND)
        }
        assert found, f"no engine sees {bug.id}"
        assert (len(found) < 2) == bool(bug.alone), f"{bug.id}: {sorted(found)}; {bug.alone}"
    for component in COMPONENTS:
        ours = [
            one for one in outcomes if (one.cell.subject, one.cell.component) == ("", component)
        ]
        assert {one.found.end for one in ours} <= {End.CLEAN, End.ABSENT}
        assert len({one.cell.seed for one in ours}) == 10


def test_an_end_at_the_limit_of_time_finds_nothing() -> None:
    def outcome(engine: str, end: End) -> Outcome:
        cell = Cell(subject="KAFKA-3651", component="buffer_pool", engine=engine, seconds=1, seed=1)
        return Outcome(cell=cell, found=Found(end=end), milliseconds=1)

    engines = ("TLC", "proof", "model checker", "fuzz, one thread", "fuzz, real threads")
    found = [outcome(engine, End.FOUND) for engine in engines]
    assert [check.verdict for check in judged(found)] == [Verdict.PASS]
    stuck = [*found[:-1], outcome("fuzz, real threads", End.HANGS)]
    (check,) = judged(stuck)
    assert check.verdict is Verdict.FAIL
    assert "missed by fuzz, real threads" in check.summary


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bugs", "KAFKA-1"], "KAFKA-1"),
        (["bugs", "--engine", "luck"], "luck"),
        (["mutate", "no.such.mutant"], "no.such.mutant"),
    ],
)
def test_what_there_is_not_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_mutants_of_modules_are_of_what_their_models_do() -> None:
    places = {mutant.id.partition("/")[0] for mutant in all_tla_mutants()}
    assert {"tla:Timer.Tick", "tla:SystemTimer.WeakFairness"} <= places
    # A property, a step that changes nothing, what a model replaces, what no model takes.
    others = ("Timer.TypeOK", "LockOrder.Terminated", "Timer.Next", "SystemTimer.PollOutside")
    assert not places & {f"tla:{other}" for other in others}


@pytest.mark.long
def test_a_mutant_of_a_module_breaks_a_property_or_a_pin(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ["mutate", "--tla", "tla:FifoAllocator.GiveBack/*", "--seconds", "60", "--seed", "1"]
    main([*words, "--json", str(report), "--quiet"])
    summaries = {
        check["name"].partition("/")[2]: check["summary"]
        for check in json.loads(report.read_text())["checks"]
    }
    assert summaries["boundary/1"].startswith("equivalent")
    assert summaries["constant/1"] == "killed by TLC, found"


def test_a_recorded_history_that_fails_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(_: BufferPool) -> int:
        return 10**9

    monkeypatch.setattr(BufferPool, "available_memory", wrong)
    kept = tmp_path / "histories" / "kept.jsonl"
    found = recorded(
        Task(
            component="buffer_pool",
            seconds=1,
            seed=1,
            bug=None,
            serve=(),
            graphs=tmp_path,
            failing=kept,
        )
    )
    assert found.end is End.FOUND
    assert kept.name in found.story
    (verdict,) = judge_lines(kept.name, read_lines(kept)).verdicts
    assert verdict.violation is not None
    assert verdict.violation.rule in found.story


def test_each_cell_keeps_its_history_in_a_place_of_its_own() -> None:
    cells = [
        Cell(subject=subject, component="timer", engine="recorded", seconds=1, seed=seed)
        for subject in ("", "a mutant")
        for seed in (1, 2)
    ]
    assert len({failing_history(cell) for cell in cells}) == len(cells)
