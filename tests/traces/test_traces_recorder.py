"""What the recorder writes of the reference is well-formed, and right."""

from pathlib import Path

from wheelproof import sync
from wheelproof.producer import BufferPool
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.check.checkers import CheckOptions, open_run
from wheelproof_spec.check.routing import FileResult, Router
from wheelproof_spec.traces.reader import read_lines
from wheelproof_spec.traces.recorder import recording
from wheelproof_spec.verdicts import Verdict


class _Task(TimerTask):
    def run(self) -> None:
        """Do nothing."""


def _check(path: Path) -> FileResult:
    return Router(str(path), open_run(CheckOptions())).judge(read_lines(path))


def _use_timer(timer: SystemTimer) -> None:
    for delay in (0, 1, 2, 5, 0, 3):
        task = _Task(delay)
        timer.add(task)
        if delay == 2:
            task.cancel()
        timer.advance_clock(Millis(0))


def test_a_timer_under_load_has_a_good_history(tmp_path: Path) -> None:
    path = tmp_path / "timer.jsonl"
    with recording(path):
        timer = SystemTimer("recorded")
        threads = [sync.thread(lambda: _use_timer(timer), f"t{n}") for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        timer.size()
        timer.close()
    result = _check(path)
    assert result.rejections == []
    assert [one.verdict for one in result.verdicts] == [Verdict.PASS]
    assert result.verdicts[0].events > 100


def _use_pool(pool: BufferPool) -> None:
    for size in (16, 7, 30, 16, 1):
        pool.deallocate(pool.allocate(size, 10_000))


def test_a_pool_under_load_has_a_good_history(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    with recording(path):
        pool = BufferPool(40, 16)
        threads = [sync.thread(lambda: _use_pool(pool), f"t{n}") for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        pool.close()
    result = _check(path)
    assert result.rejections == []
    assert [one.verdict for one in result.verdicts] == [Verdict.PASS]


def test_afterwards_nothing_is_recorded(tmp_path: Path) -> None:
    before = SystemTimer.add
    with recording(tmp_path / "empty.jsonl"):
        assert SystemTimer.add is not before
    assert SystemTimer.add is before
    assert (tmp_path / "empty.jsonl").read_bytes() == b""
