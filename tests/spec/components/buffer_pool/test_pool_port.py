"""The port of a pool: names of memory, faults of a call, and what is recorded of a refusal."""

import pytest

from wheelproof.producer import BufferPool
from wheelproof.producer.pooled_memory import Loan, PooledMemory
from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
    PoolFault,
)
from wheelproof_spec.components.buffer_pool.port import PoolPort, given_back
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort

_CONFIG = PoolConfig(total_memory=8, poolable_size=4)
_POOLED = Allocate(size=4, max_time_to_block_ms=0)


class _LendsTwice(PooledMemory):
    """Its free buffers stay free when they are lent."""

    def lend_pooled(self) -> Loan:
        kept = list(self.free)
        loan = super().lend_pooled()
        self.free.extend(kept)
        return loan


class _LendingTwice(BufferPool):
    _memory_class = _LendsTwice


@pytest.mark.parametrize(("pool_class", "same"), [(BufferPool, False), (_LendingTwice, True)])
def test_two_buffers_over_the_same_memory_have_one_name(
    pool_class: type[BufferPool], same: bool
) -> None:
    port = PoolPort(_CONFIG, pool_class)
    first = port.perform(_POOLED)
    assert isinstance(first, Allocated)
    port.perform(given_back(first))
    names = [port.perform(_POOLED), port.perform(_POOLED)]
    assert (names[0] == names[1]) is same


def test_a_buffer_has_the_name_of_its_call() -> None:
    port = PoolPort(_CONFIG)
    assert port.perform(Allocate(buffer="a", size=4, max_time_to_block_ms=0)) == Allocated(
        buffer="a", size=4
    )
    assert port.perform(Deallocate(buffer="a")) == Nothing()
    # It is refused by the pool: the name means the loan that has ended.
    with pytest.raises(ValueError, match="not on loan"):
        port.perform(Deallocate(buffer="a"))


def test_a_fault_is_that_of_one_call() -> None:
    port = PoolPort(_CONFIG)
    with pytest.raises(MemoryError):
        port.perform(Allocate(size=4, max_time_to_block_ms=0, fault=PoolFault.ALLOCATOR))
    assert isinstance(port.perform(_POOLED), Allocated)


def test_the_allocator_calls_back_and_the_outer_call_keeps_its_fault() -> None:
    told: list[object] = []

    def allocating() -> None:
        if not told:
            told.append("called")
            told.append(port.perform(_POOLED))

    port = PoolPort(_CONFIG, allocating=allocating)
    with pytest.raises(MemoryError):
        port.perform(Allocate(size=4, max_time_to_block_ms=0, fault=PoolFault.ALLOCATOR))
    assert told == ["called", Allocated(buffer="b0", size=4)]


def test_what_is_refused_is_recorded_and_has_no_answer() -> None:
    recorder = LoadRecorder("h", lambda: "caller")
    pool = RecordedPort(PoolPort(_CONFIG), recorder)
    assert pool.perform(Close()) == Nothing()
    assert pool.perform(_POOLED) is None
    lines = [(op.type, op.f, op.error) for op in recorder.take()]
    assert lines[2:] == [("invoke", "allocate", lines[2][2]), ("fail", "allocate", "Closed")]
