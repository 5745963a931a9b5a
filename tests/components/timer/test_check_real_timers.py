"""Timers on a real clock that tell little: no answer from cancel, no advance, no run at all."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.base.run_verdict import RunVerdict
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.engines.history.reader import read_lines

MS = 1_000_000
CONFIG = {"tick_ms": 100, "lateness_ms": 50}
Line = tuple[int, str, str, dict[str, object]]


def _check(lines: Sequence[Line], path: Path, profile: str = "kafka") -> RunVerdict:
    header: dict[str, object] = {
        "schema": "wheelproof.history/1",
        "kind": "header",
        "history": "h",
        "component": "timer",
        "impl": {"name": "a", "version": "1"},
        "config": CONFIG,
        "clock": "monotonic_ns",
        "profile": profile,
    }
    written = [header]
    for index, (at_ms, kind, f, value) in enumerate(lines):
        op = {"kind": "op", "history": "h", "index": index, "process": "p", "type": kind, "f": f}
        written.append({**op, "value": value, "time_ns": at_ms * MS})
    written.append({"kind": "end", "history": "h", "ops": len(lines), "quiet": True})
    path.write_text("".join(json.dumps(line) + "\n" for line in written))
    result = judge_lines(str(path), read_lines(path))
    assert result.rejections == []
    return result.verdicts[0]


def _added(at_ms: int, task: str, delay_ms: int) -> list[Line]:
    return [
        (at_ms, "invoke", "add", {"task": task, "delay_ms": delay_ms}),
        (at_ms, "ok", "add", {}),
    ]


def _cancelled(at_ms: int, task: str) -> list[Line]:
    return [(at_ms, "invoke", "cancel", {"task": task}), (at_ms, "ok", "cancel", {})]


def _ran(at_ms: int, task: str) -> list[Line]:
    return [(at_ms, "invoke", "run", {"task": task})]


def test_a_silent_cancel_in_time_prevents_the_run(tmp_path: Path) -> None:
    lines = [*_added(0, "t", 1_000), *_cancelled(10, "t"), *_ran(1_010, "t")]
    verdict = _check(lines, tmp_path / "h.jsonl")
    assert verdict.violation is not None
    assert verdict.violation.rule == "Timer.RunsAtMostOncePerAdd"


def test_after_a_silent_cancel_of_what_is_due_both_may_be(tmp_path: Path) -> None:
    before = [*_added(0, "t", 10), *_cancelled(20, "t")]
    for lines in (before, [*before, *_ran(30, "t")]):
        assert _check(lines, tmp_path / "h.jsonl").verdict is Verdict.PASS
    twice = [*before, *_ran(30, "t"), *_ran(31, "t")]
    assert _check(twice, tmp_path / "h.jsonl").verdict is Verdict.FAIL


def test_a_silent_cancel_of_what_has_run_changes_nothing(tmp_path: Path) -> None:
    lines = [*_added(0, "t", 10), *_ran(20, "t"), *_cancelled(30, "t"), *_added(40, "t", 10)]
    assert _check([*lines, *_ran(60, "t")], tmp_path / "h.jsonl").verdict is Verdict.PASS


def test_without_advances_a_task_that_never_runs_is_late(tmp_path: Path) -> None:
    verdict = _check([*_added(0, "lost", 10), *_added(230, "t", 1_000)], tmp_path / "h.jsonl")
    assert verdict.violation is not None
    assert verdict.violation.rule == "Timer.RunsWithinItsLateness"
    assert "'lost' is 218 ms late" in verdict.violation.reason
    soon = [*_added(0, "lost", 190), *_added(230, "t", 1_000)]
    assert _check(soon, tmp_path / "h.jsonl").verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("ran_at_ms", "keeping"),
    [
        (5, {"kafka"}),
        (15, {"kafka", "never-early", "hashed-wheel"}),
        (155, {"never-early", "hashed-wheel"}),
        (162, {"hashed-wheel"}),
        (170, set[str]()),
    ],
)
def test_how_late_a_task_may_run_depends_on_the_rounding(
    ran_at_ms: int, keeping: set[str], tmp_path: Path
) -> None:
    lines = [*_added(100, "t", 10), *_ran(100 + ran_at_ms, "t")]
    kept = {
        profile
        for profile in ("never-early", "hashed-wheel", "kafka")
        if _check(lines, tmp_path / "h.jsonl", profile).verdict is Verdict.PASS
    }
    assert kept == keeping
