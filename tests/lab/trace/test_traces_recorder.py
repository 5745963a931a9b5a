"""What the recorder writes of the reference is well-formed, and right."""

from pathlib import Path

from wheelproof import sync
from wheelproof.producer import BufferPool
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.app.recorder import Recording, recording
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.purgatory.component import PREDICATES_TOO
from wheelproof_spec.history.reader import read_lines
from wheelproof_spec.history.routing import FileResult


class _Task(TimerTask):
    def run(self) -> None:
        """Do nothing."""


def _check(path: Path) -> FileResult:
    return judge_lines(str(path), read_lines(path))


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


class _Operation(DelayedOperation):
    def __init__(self, delay_ms: int, flag: sync.Volatile[bool]) -> None:
        super().__init__(delay_ms)
        self._flag = flag

    def try_complete(self) -> bool:
        return self._flag.get() and self.force_complete()

    def on_complete(self) -> None:
        """Do nothing."""

    def on_expiration(self) -> None:
        """Do nothing."""


def _use_purgatory(run: Recording, purgatory: DelayedOperationPurgatory[_Operation]) -> None:
    for number in range(40):
        flag = sync.volatile(False, "flag")
        operation = _Operation((1, 10_000)[number % 2], flag)
        key, other = number % 3, number % 4
        purgatory.try_complete_else_watch(operation, [key, other])
        if number % 5 == 0:
            purgatory.cancel_for_key(other)
        elif number % 7 == 0:
            operation.force_complete()
        else:
            with run.satisfying(purgatory, operation):
                flag.set(True)
        purgatory.check_and_complete(key)
        purgatory.watched()
        purgatory.num_delayed()


def test_a_purgatory_under_load_has_a_good_history(tmp_path: Path) -> None:
    path = tmp_path / "purgatory.jsonl"
    with recording(path, claims=PREDICATES_TOO) as run:
        purgatory = DelayedOperationPurgatory[_Operation](
            "recorded", SystemTimer("recorded"), purge_interval=10
        )
        threads = [sync.thread(lambda: _use_purgatory(run, purgatory), f"t{n}") for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        purgatory.close()
    result = _check(path)
    assert result.rejections == []
    verdicts = {one.component: one for one in result.verdicts}
    assert [verdicts[name].violation for name in ("timer", "purgatory")] == [None, None]
    assert verdicts["purgatory"].events > 1_000


def test_afterwards_nothing_is_recorded(tmp_path: Path) -> None:
    before = SystemTimer.add
    with recording(tmp_path / "empty.jsonl"):
        assert SystemTimer.add is not before
    assert SystemTimer.add is before
    assert (tmp_path / "empty.jsonl").read_bytes() == b""
