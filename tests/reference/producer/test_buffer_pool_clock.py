"""A pool whose clock goes back, which a clock must not do and some do (standard 3.11)."""

from collections.abc import Sequence

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from support import seeds
from wheelproof import sync
from wheelproof.producer import BufferExhaustedError, BufferPool
from wheelproof.units import Millis


class _Shown:
    """A clock that shows what it is told to, the last for ever; a wait ends without a signal."""

    def __init__(self, times: Sequence[int]) -> None:
        self._times = list(times)
        self.shown = list[int]()

    def hi_res_clock_ms(self) -> Millis:
        """Return the next time."""
        self.shown.append(self._times.pop(0) if len(self._times) > 1 else self._times[0])
        return Millis(self.shown[-1])

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        """End the wait at once; the pool looks at the time itself."""


class _Waits:
    def __init__(self) -> None:
        self.recorded = list[int]()

    def record(self, waited_ns: int) -> None:
        """Take note."""
        self.recorded.append(waited_ns)


@pytest.mark.campaign
@seed(seeds.seed(33_014))
@settings(max_examples=seeds.runs(200, hunted=5_000))
@given(st.lists(st.integers(0, 20), min_size=2, max_size=12), st.integers(0, 10))
def test_rule_3_11_a_wait_takes_no_negative_time_and_ends_once_the_deadline_was_shown(
    times: Sequence[int], max_time_to_block_ms: int
) -> None:
    clock, waits = _Shown([*times, 1_000]), _Waits()
    pool = BufferPool(16, 16, clock=clock, wait_time=waits)
    pool.allocate(16, 0)
    clock.shown.clear()
    with pytest.raises(BufferExhaustedError):
        pool.allocate(16, max_time_to_block_ms)
    assert min(waits.recorded) >= 0
    deadline = clock.shown[0] + max_time_to_block_ms
    # A wait asks for the time as it begins and as it ends.
    due = next(at for at, now in enumerate(clock.shown[1:]) if now >= deadline)
    assert len(clock.shown[1:]) == due + 2 - due % 2
