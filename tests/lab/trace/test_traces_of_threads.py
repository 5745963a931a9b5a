"""White-box traces of the reference's real threads pass the replay; those of known bugs fail."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from wheelproof import sync
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_lab.bugs.timer import CancelBlindTimer, PollOutsideLockTimer
from wheelproof_lab.trace.recorder import tracing
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.history.reader import read_lines

pytestmark = pytest.mark.slow

CONFIG = TimerConfig(tick_ms=1, wheel_size=2)
ROUNDS = 25


class _Task(TimerTask):
    def run(self) -> None:
        """Do nothing."""


def _use(timer: SystemTimer, shared: Sequence[TimerTask]) -> None:
    for round_ in range(ROUNDS):
        own = _Task(round_ % 4)
        timer.add(own)
        shared[round_ % len(shared)].cancel()
        timer.advance_clock(Millis(0))
        if round_ % 3 == 0:
            own.cancel()
        timer.add(own)


def _record(path: Path, timer_class: type[SystemTimer], threads: int) -> RunVerdict:
    with tracing(path, CONFIG):
        timer = timer_class("traced", tick_ms=1, wheel_size=2)
        shared = [_Task(delay) for delay in (1, 3, 9, 30)]
        for task in shared:
            timer.add(task)
        started = [sync.thread(lambda: _use(timer, shared), f"t{n}") for n in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        timer.close()
    result = judge_lines(str(path), read_lines(path))
    assert result.rejections == []
    return result.verdicts[0]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("run", range(3))
def test_a_trace_of_real_threads_passes(tmp_path: Path, threads: int, run: int) -> None:
    verdict = _record(tmp_path / f"{run}.jsonl", SystemTimer, threads)
    assert verdict.verdict is Verdict.PASS, verdict
    assert verdict.events > 200 * threads


def test_tlc_agrees_on_a_trace_of_real_threads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "ROUNDS", 6)
    path = tmp_path / "trace.jsonl"
    _record(path, SystemTimer, 2)
    assert main(["check", "--tlc", str(path)]) == ExitCode.PASS
    assert "as the replay" in capsys.readouterr().out


def test_a_bucket_that_is_taken_outside_the_lock_is_named(tmp_path: Path) -> None:
    verdict = _record(tmp_path / "trace.jsonl", PollOutsideLockTimer, 1)
    assert verdict.violation is not None
    # Where nothing was due, its advance gives up, and what its thread does next comes too early.
    rules = ("SystemTimer.PollOutside", "SystemTimer.TimeOut")
    assert verdict.violation.rule in rules or "AwaitDue next" in verdict.violation.expected


def test_a_submission_without_a_claim_is_named(tmp_path: Path) -> None:
    verdict = _record(tmp_path / "trace.jsonl", CancelBlindTimer, 1)
    assert verdict.violation is not None
    assert "Submit" in verdict.violation.expected


def test_a_trace_is_of_one_timer(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="0 were made"), tracing(tmp_path / "none", CONFIG):
        pass
