"""What the checker says of waits by a real clock, also where a line has no time."""

from dataclasses import replace

import pytest

from support.agreement.small_histories import History, Line, history_of
from support.history.history_scripts import judged
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent, Nothing
from wheelproof_spec.components.accumulator.calls import Append
from wheelproof_spec.components.accumulator.component import AccumulatorConfig
from wheelproof_spec.components.buffer_pool.component import Allocate, PoolConfig

_MS = 1_000_000
_POOL = PoolConfig(total_memory=10, poolable_size=4)
_ACCUMULATOR = AccumulatorConfig(batch_size=1_000, total_memory=1_000)
_ALLOCATE = Allocate(size=9, max_time_to_block_ms=20)
_APPEND = Append(record="r", partition="p", size=10, max_time_to_block_ms=20)


def _refused(asked: Allocate | Append, after_ms: int | None) -> History:
    """Return a history of one call that is told that memory is exhausted."""
    end: int | Absent = ABSENT if after_ms is None else after_ms * _MS
    f = "allocate" if isinstance(asked, Allocate) else "append"
    lines = [Line("a", "invoke", f, asked), Line("a", "fail", f, Nothing(), "Exhausted")]
    times: list[int | Absent] = [0, end]
    # Somebody else has the memory, so that the refusal has a reason.
    if isinstance(asked, Allocate):
        lines = [Line("b", "invoke", f, _ALLOCATE), *lines]
        times = [0, *times]
        return history_of("buffer_pool", _POOL, lines, quiet=False, times=times)
    lines = [Line("b", "invoke", f, replace(_APPEND, record="s")), *lines]
    return history_of("accumulator", _ACCUMULATOR, lines, quiet=False, times=[0, *times])


@pytest.mark.parametrize("asked", [_ALLOCATE, _APPEND])
@pytest.mark.parametrize(
    ("after_ms", "early"), [(10, True), (17, True), (20, False), (None, False)]
)
def test_who_gives_up_has_waited(
    asked: Allocate | Append, after_ms: int | None, early: bool
) -> None:
    violation = judged(_refused(asked, after_ms)).violation
    rules = ("BufferPool.WaitIsBounded", "Accumulator.AppendEndsForAReason")
    assert (violation is not None and violation.rule in rules) == early
