"""The clocks: a manual one whose waits end when it is advanced, and the system's."""

import pytest

from support.reference.interleaving import Interleaving, Step
from wheelproof.clock import ManualClock, SystemClock
from wheelproof.errors import IllegalArgumentError
from wheelproof.sync import Condition, Lock, condition, lock
from wheelproof.units import MAX_MILLIS, Millis

_WAIT = Step("changed", "wait")
_TAKE_LOCK = Step("lock", "__enter__")
_TAKE_CLOCK = Step("ManualClock.lock", "__enter__")


class _Waiter:
    """Waits for a time as the delay queue does: in a loop, with the lock held."""

    def __init__(self, clock: ManualClock, until_ms: int) -> None:
        self._clock = clock
        self._until_ms = Millis(until_ms)
        self.lock: Lock = lock("lock")
        self.changed: Condition = condition(self.lock, "changed")
        self.ended_at_ms: list[int] = []

    def wait(self) -> None:
        with self.lock:
            while self._clock.hi_res_clock_ms() < self._until_ms:
                self._clock.wait_until(self.lock, self.changed, self._until_ms)
        self.ended_at_ms.append(self._clock.hi_res_clock_ms())


def test_a_manual_clock_stands_still_until_it_is_advanced() -> None:
    clock = ManualClock(5)
    assert clock.hi_res_clock_ms() == 5
    clock.advance(3)
    assert clock.hi_res_clock_ms() == 8
    clock.advance_to(8)
    clock.advance_to(20)
    assert clock.hi_res_clock_ms() == 20


def test_a_wait_for_a_time_that_has_come_is_over_at_once() -> None:
    with Interleaving():
        waiter = _Waiter(ManualClock(10), until_ms=10)
        waiter.wait()
    assert waiter.ended_at_ms == [10]


def test_a_wait_ends_exactly_when_the_clock_has_been_advanced_far_enough() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        waiter = _Waiter(clock, until_ms=10)
        thread = interleaving.run(waiter.wait)
        assert thread.until(_WAIT)
        thread.resume(_WAIT)
        clock.advance(9)
        assert thread.until(_WAIT)
        assert waiter.ended_at_ms == []
        thread.resume()
        clock.advance(1)
        thread.join()
    assert waiter.ended_at_ms == [10]


def test_an_advance_between_the_test_and_the_wait_is_not_lost() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        waiter = _Waiter(clock, until_ms=10)
        thread = interleaving.run(waiter.wait)
        # The loop has read the clock; its wait has not been registered.
        assert thread.until(_TAKE_CLOCK)
        assert thread.until(_TAKE_CLOCK)
        clock.advance(10)
        thread.finish()
    assert waiter.ended_at_ms == [10]


def test_an_advance_between_the_registration_and_the_wait_is_not_lost() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        waiter = _Waiter(clock, until_ms=10)
        thread = interleaving.run(waiter.wait)
        assert thread.until(_WAIT)
        mover = interleaving.run(lambda: clock.advance(10))
        assert mover.until(_TAKE_LOCK)
        mover.resume()
        thread.finish()
        mover.join()
    assert waiter.ended_at_ms == [10]


def test_an_advance_wakes_every_waiter() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        waiters = [_Waiter(clock, until_ms) for until_ms in (5, 7)]
        threads = [interleaving.run(waiter.wait) for waiter in waiters]
        for thread in threads:
            assert thread.until(_WAIT)
            thread.resume()
        clock.advance(7)
        for thread in threads:
            thread.join()
    assert [waiter.ended_at_ms for waiter in waiters] == [[7], [7]]


def test_two_movers_to_a_time_do_not_add_up() -> None:
    with Interleaving() as interleaving:
        clock = ManualClock()
        slow = interleaving.run(lambda: clock.advance_to(10))
        # A mover that lets go of the clock between reading and moving stops here with a stale time.
        for _ in range(2):
            slow.until(_TAKE_CLOCK)
        interleaving.run(lambda: clock.advance_to(10)).finish()
        slow.finish()
        assert clock.hi_res_clock_ms() == 10


@pytest.mark.parametrize("duration_ms", [-1, MAX_MILLIS + 1])
def test_a_manual_clock_refuses_to_go_back_or_out_of_its_domain(duration_ms: int) -> None:
    clock = ManualClock(5)
    with pytest.raises(IllegalArgumentError):
        clock.advance(duration_ms)
    with pytest.raises(IllegalArgumentError):
        clock.advance_to(5 + duration_ms)
    assert clock.hi_res_clock_ms() == 5


def test_a_manual_clock_can_be_advanced_to_the_end_of_its_domain() -> None:
    clock = ManualClock()
    clock.advance_to(MAX_MILLIS)
    assert clock.hi_res_clock_ms() == MAX_MILLIS
    with pytest.raises(IllegalArgumentError, match="the clock has to lie within"):
        clock.advance(1)


def test_the_system_clock_does_not_wait_for_a_time_that_has_come() -> None:
    clock = SystemClock()
    with Interleaving():
        waiting = lock("lock")
        changed = condition(waiting, "changed")
        with waiting:
            clock.wait_until(waiting, changed, clock.hi_res_clock_ms())


def test_the_system_clock_ends_a_wait_that_is_notified() -> None:
    with Interleaving() as interleaving:
        clock = SystemClock()
        waiting = lock("lock")
        changed = condition(waiting, "changed")

        def wait() -> None:
            with waiting:
                clock.wait_until(waiting, changed, MAX_MILLIS)

        thread = interleaving.run(wait)
        assert thread.until(_WAIT)
        thread.resume()
        with waiting:
            changed.notify()
        thread.join()
