"""A signal ends a call of the pool anywhere, and all memory stays accounted for (6.8)."""

import sys
import time
from collections.abc import Callable
from functools import partial

import pytest

from support.reference.signals import each_interrupted_call
from support.reference.threads import Answer, on_another_thread, started
from wheelproof.clock import ManualClock
from wheelproof.producer import BufferExhaustedError, BufferPool, ByteBuffer, ProducerClosedError
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.units import MAX_MILLIS

_TOTAL = 64
_POOLABLE = 16


class _Interrupted:
    """A pool with one pooled buffer and one that is lent, and what the interrupted call lent."""

    def __init__(self, pool_class: type[BufferPool] = BufferPool) -> None:
        self.clock = ManualClock()
        self.pool = pool_class(_TOTAL, _POOLABLE, clock=self.clock)
        self.lent = self.pool.allocate(_POOLABLE, 0)
        self.pool.deallocate(self.pool.allocate(_POOLABLE, 0))
        self.got: list[ByteBuffer] = []

    def allocation(self, size: int, timeout_ms: int = 0) -> Callable[[], object]:
        """Return a call that allocates and keeps what it gets, in one step with its return."""
        return _Keeping(self.pool, size, timeout_ms, self.got)

    def check(self, *, lent: int) -> None:
        """Look at the accounts on another thread, then give everything back and take it whole."""
        usage = on_another_thread(self.pool.usage)
        assert usage.non_pooled + usage.pooled + usage.lent == _TOTAL
        assert (usage.lent, usage.accumulated, usage.waiting) == (lent, 0, 0)
        for buffer in self.got:
            on_another_thread(partial(self.pool.deallocate, buffer))
        if self.lent.receipt is not None:
            on_another_thread(partial(self.pool.deallocate, self.lent))
        whole = on_another_thread(partial(self.pool.allocate, _TOTAL, 0))
        on_another_thread(partial(self.pool.deallocate, whole))
        assert on_another_thread(self.pool.available_memory) == _TOTAL
        assert on_another_thread(self.pool.unallocated_memory) == _TOTAL
        on_another_thread(self.pool.close)
        with pytest.raises(ProducerClosedError):
            on_another_thread(partial(self.pool.allocate, 1, 0))


class _Keeping:
    """Calls `allocate`; no signal comes between its return and the list."""

    def __init__(self, pool: BufferPool, size: int, timeout_ms: int, got: list[ByteBuffer]) -> None:
        self._pool = pool
        self._size = size
        self._timeout_ms = timeout_ms
        self._got = got

    def __call__(self) -> None:
        self._got += (self._pool.allocate(self._size, self._timeout_ms),)


@pytest.mark.parametrize("size", [0, _POOLABLE, 20, 40], ids=["0", "pooled", "other", "frees"])
def test_a_signal_in_an_allocation_that_need_not_wait_loses_no_memory(size: int) -> None:
    for _, bench in each_interrupted_call(_Interrupted, lambda bench: bench.allocation(size)):
        bench.check(lent=_POOLABLE + size * len(bench.got))
        assert len(bench.got) <= 1


def _is_refused(call: Callable[[], object]) -> Callable[[], None]:
    def refused() -> None:
        try:
            call()
        except BufferExhaustedError:
            return

    return refused


def test_a_signal_in_an_allocation_that_waits_in_vain_loses_no_memory() -> None:
    for _, bench in each_interrupted_call(
        _Interrupted, lambda bench: _is_refused(bench.allocation(60))
    ):
        bench.check(lent=_POOLABLE)


class _Awaited(_Interrupted):
    """Such a pool, and a thread that gives the buffer back once somebody waits, or in the end."""

    def __init__(self) -> None:
        super().__init__()
        self._ended = False
        self._giver: Answer[None] = started(self._give)

    def _give(self) -> None:
        while not self._ended and not self.pool.queued():
            time.sleep(0)
        self.pool.deallocate(self.lent)

    def end(self) -> None:
        """Wait until the buffer is given back."""
        self._ended = True
        self._giver.result()


@pytest.mark.parametrize("size", [60, _TOTAL])
def test_a_signal_in_an_allocation_that_waits_loses_no_memory(size: int) -> None:
    for _, bench in each_interrupted_call(
        _Awaited, lambda bench: bench.allocation(size, MAX_MILLIS)
    ):
        bench.end()
        bench.check(lent=size * len(bench.got))


class _KeepsItsPlace(BufferPool):
    """A pool in which a thread whose wait ends in an error stays first in the queue."""

    def _leave_queue(self, waiter: Waiter) -> None:
        if waiter.accumulated == 0 and sys.exception() is None:
            super()._leave_queue(waiter)


def test_a_waiter_that_stays_in_the_queue_is_found() -> None:
    waiting = [
        bench.pool.queued()
        for _, bench in each_interrupted_call(
            lambda: _Interrupted(_KeepsItsPlace), lambda bench: _is_refused(bench.allocation(60))
        )
    ]
    assert 0 in waiting
    assert 1 in waiting


@pytest.mark.parametrize("waiters", [0, 2])
def test_a_close_that_a_signal_ended_can_be_made_again(waiters: int) -> None:
    def make() -> tuple[_Interrupted, list[Answer[ByteBuffer]]]:
        bench = _Interrupted()
        answers = [
            started(partial(bench.pool.allocate, _TOTAL, MAX_MILLIS)) for _ in range(waiters)
        ]
        while bench.pool.queued() < waiters:
            time.sleep(0)
        return bench, answers

    for _, (bench, answers) in each_interrupted_call(make, lambda made: made[0].pool.close):
        on_another_thread(bench.pool.close)
        for answer in answers:
            with pytest.raises(ProducerClosedError):
                answer.result()
        usage = bench.pool.usage()
        assert (usage.lent, usage.accumulated, usage.waiting) == (_POOLABLE, 0, 0)


@pytest.mark.parametrize("question", ["usage", "queued", "available_memory"])
def test_a_signal_in_a_question_changes_nothing(question: str) -> None:
    def ask(bench: _Interrupted) -> Callable[[], object]:
        pool = bench.pool
        questions: dict[str, Callable[[], object]] = {
            "usage": pool.usage,
            "queued": pool.queued,
            "available_memory": pool.available_memory,
        }
        return questions[question]

    for _, bench in each_interrupted_call(_Interrupted, ask):
        bench.check(lent=_POOLABLE)


def test_a_signal_in_a_return_gives_the_memory_back_or_leaves_it_lent() -> None:
    for _, bench in each_interrupted_call(
        _Interrupted, lambda bench: partial(bench.pool.deallocate, bench.lent)
    ):
        bench.check(lent=0 if bench.lent.receipt is None else _POOLABLE)
