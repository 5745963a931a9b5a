"""The heap adapter is right, and each way of breaking it is seen and named."""

from pathlib import Path

import pytest

from support.drive.adapters import HEAPQ, conform, python
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import TimerClause
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.drive.plan import FUZZED_CASES

DUE = "(self.now_ms + delay_ms) // self.tick_ms * self.tick_ms"
STILL_ADDED = "if self.add_of_task.get(task) == number:"

MUTANTS = {
    "fires a tick early": (DUE, f"{DUE} - self.tick_ms", TimerClause.NEVER_BEFORE_DUE),
    "fires a tick late": (DUE, f"{DUE} + self.tick_ms", TimerClause.NOTHING_LEFT_BEHIND),
    "is a whole turn late at the cursor": (
        DUE,
        f"{DUE} + (64 if delay_ms > 0 and delay_ms % self.tick_ms == 0 else 0) * self.tick_ms",
        TimerClause.NOTHING_LEFT_BEHIND,
    ),
    "loses a task": (
        "fired.append(task)",
        "fired.append(task) if task != 'b' else None",
        TimerClause.NOTHING_LEFT_BEHIND,
    ),
    "fires twice": (
        "fired.append(task)",
        "fired += [task, task]",
        TimerClause.RUNS_AT_MOST_ONCE,
    ),
    "fires what was cancelled": (
        f"{STILL_ADDED}\n                del self.add_of_task[task]",
        "if self.add_of_task.pop(task, None) != 0:",
        TimerClause.RUNS_AT_MOST_ONCE,
    ),
    "keeps the first of two adds": (
        "self.add_of_task[task] = self.adds",
        "self.add_of_task.setdefault(task, self.adds)",
        # Added again with a longer delay it runs early, with a shorter one it is late: after
        # others that are due later, if it runs at all.
        TimerClause.NEVER_BEFORE_DUE,
        TimerClause.NOTHING_LEFT_BEHIND,
        TimerClause.RUNS_IN_ORDER,
    ),
    "counts what has run": (
        "len(self.add_of_task)}",
        "len(self.heap)}",
        TimerClause.SIZE_COUNTS_WAITING,
    ),
    "runs in reverse order": (
        '{"fired": fired}',
        '{"fired": fired[::-1]}',
        TimerClause.RUNS_IN_ORDER,
    ),
    "tells that every cancel succeeds": (
        "self.add_of_task.pop(task, None) is not None",
        "self.add_of_task.pop(task, None) is None or True",
        TimerClause.CANCEL_TELLS_THE_TRUTH,
    ),
    "refuses a delay of 0": (
        "        self.adds += 1\n",
        "        self.adds += 1\n        [0][delay_ms == 0 and int('zero')]\n",
        TimerClause.ACCEPTS_ITS_DOMAIN,
    ),
}


def test_the_heap_adapter_passes() -> None:
    result = conform(python(HEAPQ), 60)
    assert result.verdict is Verdict.PASS
    assert all(count.checked > 0 for count in result.clauses)


def test_the_heap_adapter_is_small() -> None:
    assert len(HEAPQ.read_text(encoding="utf-8").splitlines()) < 100


def _mutant(directory: Path, right: str, wrong: str) -> str:
    source = HEAPQ.read_text(encoding="utf-8")
    assert source.count(right) == 1
    path = directory / "driver.py"
    path.write_text(source.replace(right, wrong), encoding="utf-8")
    return python(path)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MUTANTS)
def test_each_mistake_is_found_shrunk_and_named(mistake: str, tmp_path: Path) -> None:
    right, wrong, *clauses = MUTANTS[mistake]
    result = conform(_mutant(tmp_path, right, wrong), 100)
    assert result.verdict is Verdict.FAIL
    shrunk = next(failure for failure in result.failures if failure.case == FUZZED_CASES)
    assert shrunk.violation.rule in clauses
    assert len(shrunk.lines) <= 6
    for number, line in enumerate(shrunk.lines, start=1):
        assert parse_request(line.encode())[0] == number


def test_an_implementation_with_two_defects_gets_a_verdict(tmp_path: Path) -> None:
    """It runs what is void, early, and refuses to advance over what was cancelled."""
    driver = _mutant(tmp_path, STILL_ADDED, "if True:")
    result = conform(driver, 200)
    assert result.verdict is Verdict.FAIL
    assert FUZZED_CASES in {failure.case for failure in result.failures}
