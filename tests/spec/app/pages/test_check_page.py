"""The page of a check: each run with its verdict, and around a violation what the threads did."""

import json
from pathlib import Path

import pytest

from support.pages import whole_page
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.pages.check.excerpt import LINES_BEFORE, Moment
from wheelproof_spec.app.pages.check.lanes import lanes_of
from wheelproof_spec.base.results.verdicts import ExitCode


def _line(**fields: object) -> str:
    return json.dumps({"kind": "op", "history": "h", **fields}) + "\n"


def _history(path: Path, size: int, adds: int = 30) -> None:
    header = {
        "schema": "wheelproof.history/1",
        "kind": "header",
        "history": "h",
        "component": "timer",
        "impl": {"name": "<x>", "version": "1"},
        "config": {"tick_ms": 1},
        "clock": "virtual",
    }
    lines = [json.dumps(header) + "\n"]
    calls: list[tuple[str, dict[str, object], dict[str, object]]] = [
        ("add", {"task": f"t{number}", "delay_ms": 50}, {}) for number in range(adds)
    ]
    calls.append(("size", {}, {"size": size}))
    for number, (f, asked, told) in enumerate(calls):
        who = f"c{number % 2}"
        lines.append(_line(index=2 * number, process=who, type="invoke", f=f, value=asked))
        lines.append(_line(index=2 * number + 1, process=who, type="ok", f=f, value=told))
    path.write_text("".join(lines), encoding="utf-8")


def test_a_violation_is_shown_among_what_the_threads_did(tmp_path: Path) -> None:
    history, path = tmp_path / "h.jsonl", tmp_path / "page.html"
    _history(history, size=3)
    assert main(["check", str(history), "--html", str(path)]) == ExitCode.FAIL
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "Timer.SizeCountsWaitingTasks is broken" in page.text
    assert f"{history}:63" in page.text
    assert f"wheelproof check {history}" in page.text
    assert "timer of <x> 1" in page.text
    assert page.classes.count("call") == LINES_BEFORE // 2
    assert page.classes.count("bad") == 2


def test_the_events_that_explain_a_failure_are_marked(tmp_path: Path) -> None:
    history, path = tmp_path / "h.jsonl", tmp_path / "page.html"
    _history(history, size=30, adds=30)
    cancel: dict[str, object] = {"process": "c9", "f": "cancel"}
    with history.open("a", encoding="utf-8") as file:
        for index, told in ((62, True), (64, True)):
            file.write(_line(index=index, type="invoke", value={"task": "t2"}, **cancel))
            file.write(_line(index=index + 1, type="ok", value={"cancelled": told}, **cancel))
    assert main(["check", str(history), "--html", str(path)]) == ExitCode.FAIL
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "cancel('t2') returned true, but no task 't2' was waiting" in page.text
    # The add of the task is far before the window, the first cancel inside it.
    assert 'line 6: add {"task": "t2", "delay_ms": 50}' in page.text
    assert 'line 64: cancel {"task": "t2"}' in page.text
    assert "66 c9 ◆ explains: cancel" in page.text
    assert "67 c9 ✗ fails: cancel" in page.text
    assert 'explains: add {"task": "t3"' not in page.text


def test_runs_that_pass_and_lines_that_are_rejected_are_listed(tmp_path: Path) -> None:
    history, path = tmp_path / "h.jsonl", tmp_path / "page.html"
    _history(history, size=30)
    with history.open("a", encoding="utf-8") as file:
        file.write("<nonsense>\n")
    assert main(["check", str(history), "--html", str(path)]) == ExitCode.INPUT_REJECTED
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "call" not in page.classes
    assert "1 of 64 lines were rejected" in page.text
    assert "Timer.CancelTellsTheTruth 0 0 Timer.NeverBeforeItIsDue 0 0" in page.text
    assert "Timer.SizeCountsWaitingTasks 1 0" in page.text


def test_standard_input_has_no_timeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history, path = tmp_path / "h.jsonl", tmp_path / "page.html"
    _history(history, size=3)
    with history.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream}))
        assert main(["check", "-", "--html", str(path)]) == ExitCode.FAIL
    page = whole_page(path.read_text(encoding="utf-8"))
    assert "Timer.SizeCountsWaitingTasks is broken" in page.text
    assert "call" not in page.classes


def _moment(line: int, lane: str, part: str, name: str = "get") -> Moment:
    return Moment(
        line=line,
        index=line,
        lane=lane,
        part=part,
        name=name,
        content="",
        label=name,
        names=frozenset(),
    )


def test_calls_are_bars_from_their_beginning_to_their_end() -> None:
    moments = (
        _moment(4, "a", "ends"),
        _moment(5, "a", "begins"),
        _moment(6, "b", "begins"),
        _moment(7, "a", "step", "Link"),
        _moment(8, "a", "ends"),
    )
    lanes = lanes_of(moments, 8)
    assert lanes.names == ("a", "b")
    shown = [(bar.lane, bar.first, bar.last, bar.is_open, bar.is_bad) for bar in lanes.bars]
    assert shown == [
        (0, 0, 0, True, False),
        (0, 1, 4, False, True),
        (1, 2, 4, True, False),
        (0, 3, 3, False, False),
    ]
    assert lanes.bar_of == (0, 1, 2, 3, 1)
