"""`wheelproof load`: the same work for everybody, done by programs that are right and wrong."""

import json
import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.drive.adapters import ADAPTERS
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import judge_lines
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.buffer_pool.component import Allocate
from wheelproof_spec.components.buffer_pool.work import GiveBack
from wheelproof_spec.components.purgatory.component import Satisfy, TryCompleteElseWatch
from wheelproof_spec.components.registry import COMPONENTS, works
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.history.reader import read_lines
from wheelproof_spec.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.history.recording.work import Make, Meet, Work, do_work

SOURCE = (ADAPTERS / "template" / "loaded.py").read_text(encoding="utf-8")
CALLERS = Callers(threads=4, operations=600, seed=1, number=0)


def _load(folder: Path, source: str, *options: str) -> tuple[int, Path]:
    """Give a program in Python its work; return the exit code and the file."""
    program, output = folder / "program.py", folder / "run.jsonl"
    program.write_text(source, encoding="utf-8")
    words = ["load", "--component", "timer", "--threads", "4", "--operations", "300"]
    words += ["--driver", shlex.join([sys.executable, "-I", str(program)])]
    return main([*words, "--seed", "1", "--output", str(output), *options]), output


def _replaced(old: str, new: str, source: str = SOURCE) -> str:
    assert source.count(old) == 1
    return source.replace(old, new)


def _broken(path: Path) -> set[str]:
    """Return the clauses that a recording breaks; it is well-formed, and ends in a verdict."""
    result = judge_lines(str(path), read_lines(path))
    assert result.rejections == []
    assert Verdict.INCONCLUSIVE not in {one.verdict for one in result.verdicts}
    assert result.verdicts
    first = {one.violation.rule for one in result.verdicts if one.violation}
    return first | {other.violation.rule for one in result.verdicts for other in one.also_broken}


def test_the_program_to_start_from_does_all_of_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, path = _load(tmp_path, SOURCE, "--histories", "2")
    assert code == ExitCode.PASS
    assert "timer of my-timer 1: 2 histories, 4 threads, 300 operations" in capsys.readouterr().out
    assert _broken(path) == set()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = set(json.loads(SOURCE.split('"capabilities": ')[1].split("]")[0] + "]"))
    for number in range(2):
        work = works()["timer"](Callers(threads=4, operations=300, seed=1, number=number))
        asked = Counter(
            (f"c{step.caller}", step.call.name_on_the_wire())
            for step in work.steps
            if isinstance(step, Make) and step.capability in known
        )
        made = Counter(
            (line["process"], line["f"])
            for line in lines
            if line["history"] == f"timer-1-{number}"
            and line.get("type") == "invoke"
            and line["f"] != "run"
        )
        assert made == asked


def test_a_race_in_a_program_is_found(tmp_path: Path) -> None:
    # The first two adds read the set of waiting tasks, and only then does each write its own: one
    # of the two is lost.
    racy = _replaced(
        "            self._waiting.add(task)\n",
        "        read = set(self._waiting)\n"
        "        if self._racing:\n"
        "            self._racing = self._two_came.wait() < 0\n"
        "        with self._changed:\n"
        "            self._waiting = read | {task}\n",
    )
    racy = _replaced(
        "        self._ended = False\n",
        "        self._ended = False\n"
        "        self._racing, self._two_came = True, threading.Barrier(2)\n",
        racy,
    )
    code, path = _load(tmp_path, racy)
    assert code == ExitCode.PASS
    # Whoever is due later runs before the lost one, or that one is missed in the end.
    assert _broken(path) & {TimerClause.RUNS_IN_ORDER, TimerClause.NOTHING_LEFT_BEHIND}


def test_a_call_that_never_returns_is_found(tmp_path: Path) -> None:
    stuck = _replaced(
        "        with self._changed:\n            waited = ",
        "        threading.Event().wait()\n        with self._changed:\n            waited = ",
    )
    code, path = _load(tmp_path, _replaced("QUIET_S = 10", "QUIET_S = 0.2", stuck))
    assert code == ExitCode.PASS
    assert "History.EveryCallReturns" in _broken(path)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('["timer"]', '["pool"]', "does not have the component timer; it has pool"),
        ('["add", "cancel", "size"]', "[]", "names no call of the load"),
        ('"index": next', '"place": next', "has the unknown field 'place'"),
        ('{"quiet": True}', '{"quiet": 1}', "neither true nor false"),
        ('{"quiet": True}', '{"calm": True}', "unknown field 'calm'"),
        ("yield from events", "raise SystemExit(3)", "before it answered"),
        ("yield from events", "yield 7", "no JSON object"),
        ("config, work = asked", "config, work = ask", "NameError"),
    ],
)
def test_a_program_that_does_not_do_the_work_is_told_so(
    old: str, new: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, path = _load(tmp_path, _replaced(old, new))
    asked_in_vain = new in ('["pool"]', "[]")
    assert code == (ExitCode.USAGE if asked_in_vain else ExitCode.INTERNAL_ERROR)
    assert complaint in capsys.readouterr().err
    assert not path.exists()


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_seed_decides_the_work(component: str) -> None:
    draw = works()[component]
    assert draw(CALLERS) == draw(CALLERS)
    other = Callers(threads=4, operations=600, seed=6, number=0)
    assert draw(CALLERS) != draw(other)
    made = [step for step in draw(CALLERS).steps if isinstance(step, Make)]
    assert 600 <= len(made) < 700  # More: what leads partitions first, and closes in the end.
    assert {step.caller for step in made} == set(range(4))
    assert any(isinstance(step, Meet) for step in draw(CALLERS).steps)


def test_the_sender_is_one_more_caller() -> None:
    work = works()["accumulator"](CALLERS)
    assert {step.caller for step in work.serving} == {4}
    serving = {step.capability for step in work.serving if isinstance(step, Make)}
    assert serving == {"ready", "drain", "respond_to_one", "expire"}
    assert not serving & {step.capability for step in work.steps if isinstance(step, Make)}


def test_a_caller_gives_back_no_more_than_it_may_have() -> None:
    kept = Counter[int]()
    for step in works()["buffer_pool"](CALLERS).steps:
        if isinstance(step, Make) and isinstance(step.call, Allocate | GiveBack):
            kept[step.caller] += 1 if isinstance(step.call, Allocate) else -1
            assert 0 <= kept[step.caller] <= 3


def test_an_operation_is_handed_in_once_and_satisfied_at_most_once() -> None:
    calls = [step.call for step in works()["purgatory"](CALLERS).steps if isinstance(step, Make)]
    handed_in = Counter(call.operation for call in calls if isinstance(call, TryCompleteElseWatch))
    satisfied = Counter(call.operation for call in calls if isinstance(call, Satisfy))
    assert set(handed_in.values()) == {1}
    assert set(satisfied.values()) == {1}
    assert satisfied.keys() <= handed_in.keys()


def test_a_caller_that_fails_lets_nobody_wait_for_it() -> None:
    work = works()["timer"](CALLERS)
    last = next(step for step in reversed(work.steps) if isinstance(step, Make))
    rest = Work(config=work.config, steps=(Meet(), last, Meet(), Meet()))

    def fail(step: Make) -> None:
        raise ValueError(f"as the test wants it of {step.caller}")

    with pytest.raises(LoadFailedError, match="as the test wants it"):
        do_work(rest, CALLERS, fail)
