"""What has threads, or lets them wait, is closed by `close` and by a `with` block."""

from collections.abc import Callable

import pytest

from wheelproof.clock import ManualClock
from wheelproof.closing import Closing
from wheelproof.errors import PurgatoryClosedError, TimerClosedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    ProducerClosedError,
    Record,
    RecordAccumulator,
)
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.replication import DelayedFetch, DelayedProduce, ReplicaManager
from wheelproof.timer import SystemTimer, SystemTimerReaper, TimerTask
from wheelproof.topic_partition import TopicPartition


class _Nothing(TimerTask):
    def run(self) -> None:
        """Do nothing."""


class _Never(DelayedOperation):
    def try_complete(self) -> bool:
        """Go on waiting."""
        return False

    def on_complete(self) -> None:
        """Do nothing."""

    def on_expiration(self) -> None:
        """Do nothing."""


def _timer() -> tuple[Closing, Callable[[], object], type[Exception]]:
    timer = SystemTimer("it", clock=ManualClock())
    return timer, lambda: timer.add(_Nothing(1)), TimerClosedError


def _reaper() -> tuple[Closing, Callable[[], object], type[Exception]]:
    timer = SystemTimerReaper("it", SystemTimer("it", clock=ManualClock()))
    return timer, lambda: timer.add(_Nothing(1)), TimerClosedError


def _purgatory() -> tuple[Closing, Callable[[], object], type[Exception]]:
    timer = SystemTimer("it", clock=ManualClock())
    purgatory = DelayedOperationPurgatory[_Never]("it", timer)
    return (
        purgatory,
        lambda: purgatory.try_complete_else_watch(_Never(9), ["key"]),
        PurgatoryClosedError,
    )


def _pool() -> tuple[Closing, Callable[[], object], type[Exception]]:
    pool = BufferPool(9, 3)
    return pool, lambda: pool.deallocate(pool.allocate(3, 0)), ProducerClosedError


def _accumulator() -> tuple[Closing, Callable[[], object], type[Exception]]:
    accumulator = RecordAccumulator(BufferPool(2_000, 200), AccumulatorConfig(batch_size=200))
    partition, record = TopicPartition("topic", 0), Record(timestamp_ms=0, value=b"value")
    return accumulator, lambda: accumulator.append(partition, record), ProducerClosedError


def _broker() -> tuple[Closing, Callable[[], object], type[Exception]]:
    clock, partition = ManualClock(), TopicPartition("topic", 0)
    manager = ReplicaManager(
        1,
        produce_purgatory=DelayedOperationPurgatory[DelayedProduce](
            "produce", SystemTimer("produce", clock=clock)
        ),
        fetch_purgatory=DelayedOperationPurgatory[DelayedFetch](
            "fetch", SystemTimer("fetch", clock=clock)
        ),
        clock=clock,
    )
    manager.become_leader(partition, 1, replica_ids=[1], in_sync_ids=[1])

    def append() -> None:
        manager.append_records(
            timeout_ms=9, required_acks=1, entries={partition: [b""]}, callback=lambda _: None
        )

    return manager, append, PurgatoryClosedError


@pytest.mark.parametrize("make", [_timer, _reaper, _purgatory, _pool, _accumulator, _broker])
@pytest.mark.parametrize("raises", [False, True], ids=["ends", "raises"])
def test_a_with_block_closes_also_behind_an_exception(
    make: Callable[[], tuple[Closing, Callable[[], object], type[Exception]]], raises: bool
) -> None:
    it, use, refusal = make()
    try:
        with it as entered:
            assert entered is it
            use()
            if raises:
                raise KeyError
    except KeyError:
        assert raises
    with pytest.raises(refusal):
        use()
    it.close()


def test_a_description_says_what_it_is_and_how_much_waits() -> None:
    timer = SystemTimer("it", clock=ManualClock())
    with DelayedOperationPurgatory[_Never]("it", timer, reaper_enabled=False) as purgatory:
        operation = _Never(9)
        purgatory.try_complete_else_watch(operation, ["key"])
        assert repr(purgatory) == "DelayedOperationPurgatory('it', num_delayed=1)"
        assert repr(timer) == "SystemTimer('it', tick_ms=1, wheel_size=20, size=1)"
        assert repr(operation) == "_Never(delay_ms=9, pending)"
        operation.force_cancel()
        assert repr(operation) == "_Never(delay_ms=9, cancelled)"
