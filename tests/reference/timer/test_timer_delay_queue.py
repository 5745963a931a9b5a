"""The delay queue: what can be taken when, and how a wait for it ends."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.reference.interleaving import Interleaving, Step
from support.reference.timer import NO_WAIT
from wheelproof.clock import ManualClock
from wheelproof.sync import atomic_integer
from wheelproof.timer import DelayQueue, TimerTaskList
from wheelproof.units import Millis

_WAIT = Step("DelayQueue.available", "wait")


def _bucket(expiration_ms: int) -> TimerTaskList:
    bucket = TimerTaskList(atomic_integer(0, "counter"))
    bucket.set_expiration(Millis(expiration_ms))
    return bucket


def test_a_bucket_can_be_taken_from_its_expiration_on() -> None:
    clock = ManualClock()
    queue = DelayQueue(clock)
    bucket = _bucket(5)
    queue.offer(bucket)
    clock.advance_to(4)
    assert queue.poll() is None
    clock.advance_to(5)
    assert queue.poll() is bucket
    assert queue.poll() is None


@settings(deadline=None)
@given(st.lists(st.integers(0, 1_000)))
def test_buckets_come_out_in_the_order_of_their_expirations(expirations_ms: list[int]) -> None:
    queue = DelayQueue(ManualClock(1_000))
    for expiration_ms in expirations_ms:
        queue.offer(_bucket(expiration_ms))
    assert len(queue) == len(expirations_ms)
    taken: list[int] = []
    while (bucket := queue.poll()) is not None:
        taken.append(bucket.get_expiration())
    assert taken == sorted(expirations_ms)


@pytest.mark.parametrize("expiration_ms", [0, 1])
def test_await_due_takes_nothing(expiration_ms: int) -> None:
    queue = DelayQueue(ManualClock())
    queue.offer(_bucket(expiration_ms))
    queue.await_due(NO_WAIT)
    assert len(queue) == 1


@pytest.mark.parametrize("timeout_ms", [0, -5])
def test_await_due_of_an_empty_queue_without_time_is_over_at_once(timeout_ms: int) -> None:
    DelayQueue(ManualClock(3)).await_due(Millis(timeout_ms))


def test_await_due_looks_again_for_a_bucket_that_is_offered_before_the_first() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        queue = DelayQueue(clock)
        queue.offer(_bucket(50))
        ended_ms: list[int] = []

        def wait() -> None:
            queue.await_due(Millis(40))
            ended_ms.append(clock.hi_res_clock_ms())

        waiter = interleaving.run(wait)
        assert waiter.until(_WAIT)
        waiter.resume(_WAIT)
        queue.offer(_bucket(20))
        assert waiter.until(_WAIT)
        waiter.resume()
        clock.advance_to(20)
        waiter.join()
    assert ended_ms == [20]


def test_every_waiter_sees_what_is_due() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        queue = DelayQueue(clock)
        waiters = [interleaving.run(lambda: queue.await_due(Millis(100))) for _ in range(3)]
        for waiter in waiters:
            assert waiter.until(_WAIT)
            waiter.resume()
        queue.offer(_bucket(0))
        for waiter in waiters:
            waiter.join()
    assert len(queue) == 1


def test_close_ends_the_waits_under_way_and_all_later_ones() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        queue = DelayQueue(clock)
        waiter = interleaving.run(lambda: queue.await_due(Millis(100)))
        assert waiter.until(_WAIT)
        waiter.resume()
        queue.close()
        waiter.join()
        queue.await_due(Millis(100))
    assert clock.hi_res_clock_ms() == 0
