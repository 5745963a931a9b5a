"""Timers on a real clock that tell little: no answer from cancel, no advance, no run at all."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.reader import read_lines

MS = 1_000_000
CONFIG: dict[str, object] = {"tick_ms": 100, "lateness_ms": 50}
Line = tuple[float, str, str, dict[str, object]]


def _check(
    lines: Sequence[Line],
    path: Path,
    profile: str = "kafka",
    config: dict[str, object] = CONFIG,
    resolution_ns: int | None = None,
) -> RunVerdict:
    header: dict[str, object] = {
        "schema": "wheelproof.history/1",
        "kind": "header",
        "history": "h",
        "component": "timer",
        "impl": {"name": "a", "version": "1"},
        "config": config,
        "clock": "monotonic_ns",
        "profile": profile,
    }
    if resolution_ns is not None:
        header["clock_resolution_ns"] = resolution_ns
    written = [header]
    for index, (at_ms, kind, f, value) in enumerate(lines):
        # Each kind of call has a process of its own, so that calls may overlap.
        op = {"kind": "op", "history": "h", "index": index, "process": f, "type": kind, "f": f}
        written.append({**op, "value": value, "time_ns": round(at_ms * MS)})
    written.append({"kind": "end", "history": "h", "ops": len(lines), "quiet": True})
    path.write_text("".join(json.dumps(line) + "\n" for line in written))
    result = judge_lines(str(path), read_lines(path))
    assert result.rejections == []
    return result.verdicts[0]


def _added(at_ms: float, task: str, delay_ms: int) -> list[Line]:
    return [
        (at_ms, "invoke", "add", {"task": task, "delay_ms": delay_ms}),
        (at_ms, "ok", "add", {}),
    ]


def _cancelled(at_ms: float, task: str, answer: bool | None = None) -> list[Line]:
    told: dict[str, object] = {} if answer is None else {"cancelled": answer}
    return [(at_ms, "invoke", "cancel", {"task": task}), (at_ms, "ok", "cancel", told)]


def _ran(at_ms: float, task: str) -> list[Line]:
    return [(at_ms, "invoke", "run", {"task": task}), (at_ms, "ok", "run", {})]


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


@pytest.mark.parametrize(("ran_at_ms", "verdict"), [(10_020, Verdict.PASS), (10_100, Verdict.FAIL)])
def test_a_run_whose_add_overlapped_a_cancel_is_late_by_the_due_time_of_that_add(
    ran_at_ms: int, verdict: Verdict, tmp_path: Path
) -> None:
    add, ended = _added(10_000, "t", 0)
    lines: list[Line] = [
        add,
        *_cancelled(10_000, "t", False),
        ended,
        *_cancelled(10_010, "t", False),
    ]
    assert _check([*lines, *_ran(ran_at_ms, "t")], tmp_path / "h.jsonl").verdict is verdict


def test_a_run_that_is_owed_to_a_second_add_is_not_ordered_by_the_first(tmp_path: Path) -> None:
    lines: list[Line] = [
        *_added(10_000, "later", 150),
        *_added(10_000, "twice", 0),
        *_cancelled(10_005, "twice", False),
        *_added(10_060, "twice", 0),
        (10_065, "invoke", "advance_clock", {}),
        (10_065, "ok", "advance_clock", {}),
        *_ran(10_070, "twice"),
        *_ran(10_071, "later"),
        *_ran(10_072, "twice"),
    ]
    assert _check(lines, tmp_path / "h.jsonl").violation is None


def test_without_advances_a_task_that_never_runs_is_late(tmp_path: Path) -> None:
    verdict = _check([*_added(0, "lost", 10), *_added(230, "t", 1_000)], tmp_path / "h.jsonl")
    assert verdict.violation is not None
    assert verdict.violation.rule == "Timer.RunsWithinItsLateness"
    assert "'lost' was due at 11 ms and had not run 218 ms later" in verdict.violation.reason
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


EARLY, LATE = "Timer.NeverBeforeItIsDue", "Timer.RunsWithinItsLateness"


@pytest.mark.parametrize("begins_ms", [1_000.0, 1_000.3, 1_000.9])
@pytest.mark.parametrize(
    ("elapsed_ms", "profile", "rule"),
    [
        # Kafka's clock truncates, and its milliseconds begin where nobody knows (1.1, 1.8).
        (4.85, "kafka", None),
        (4.01, "kafka", None),
        (2.99, "kafka", EARLY),
        (5.01, "never-early", None),
        (3.99, "never-early", EARLY),
        (6.99, "kafka", None),
        (9.01, "kafka", LATE),
    ],
)
def test_a_fine_clock_allows_what_the_profiles_own_clock_may_do(
    begins_ms: float, elapsed_ms: float, profile: str, rule: str | None, tmp_path: Path
) -> None:
    lines = [*_added(begins_ms, "t", 5), *_ran(begins_ms + elapsed_ms, "t")]
    config: dict[str, object] = {"tick_ms": 1, "lateness_ms": 2}
    verdict = _check(lines, tmp_path / "h.jsonl", profile, config, resolution_ns=1_000)
    assert (verdict.violation and verdict.violation.rule) == rule


@pytest.mark.parametrize(("waited_ms", "may_be_left"), [(4.2, True), (5.01, True), (6.1, False)])
def test_an_advance_owes_what_is_due_wherever_milliseconds_begin(
    waited_ms: float, may_be_left: bool, tmp_path: Path
) -> None:
    """Added at 0.9 and due 5 ms later, it may count as due at 6 by a clock that began at 0.4."""
    advance = 1_000.9 + waited_ms
    lines: list[Line] = [
        *_added(1_000.9, "t", 5),
        (advance, "invoke", "advance_clock", {}),
        (advance, "ok", "advance_clock", {}),
    ]
    config: dict[str, object] = {"tick_ms": 1, "runs": "inline"}
    verdict = _check(lines, tmp_path / "h.jsonl", "kafka", config, resolution_ns=1_000)
    assert (verdict.violation is None) == may_be_left


@pytest.mark.parametrize("resolution_ns", [None, 1_000])
def test_a_resolution_that_is_assumed_is_noted(resolution_ns: int | None, tmp_path: Path) -> None:
    lines = [*_added(0, "t", 10), *_ran(20, "t")]
    verdict = _check(lines, tmp_path / "h.jsonl", resolution_ns=resolution_ns)
    assert verdict.verdict is Verdict.PASS
    noted = any("early by less than 4 ms may not have been seen" in note for note in verdict.notes)
    assert noted == (resolution_ns is None)
