"""What Kafka's own tests of the timer ask (standard 7), under a manual clock."""

import pytest

from support.reference.open_timer import OpenBucket
from support.reference.timer import Bench, NamedTask
from wheelproof import sync
from wheelproof.clock import Clock
from wheelproof.sync import atomic_integer
from wheelproof.timer import DelayQueue, TimerTaskEntry
from wheelproof.units import Millis


def test_tasks_with_delays_of_minus_five_to_minus_one_run_at_once() -> None:
    bench = Bench(wheel_size=3)
    for delay_ms in range(-5, 0):
        bench.add(str(delay_ms), delay_ms)
        assert bench.run_submitted() == [str(delay_ms)]
    assert bench.timer.size() == 0


def test_all_of_many_delays_fire_exactly_once_at_their_due_time() -> None:
    bench = Bench(wheel_size=3)
    expected: dict[int, list[str]] = {}

    def add(delay_ms: int, name: str) -> None:
        bench.add(name, delay_ms)
        expected.setdefault(delay_ms, []).append(name)

    for delay_ms in range(5):
        add(delay_ms, f"{delay_ms}")
    for delay_ms in range(10, 100):
        add(delay_ms, f"{delay_ms}, first")
        add(delay_ms, f"{delay_ms}, second")
    for delay_ms in range(100, 500):
        add(delay_ms, f"{delay_ms}")
    for time_ms in range(1_000):
        assert bench.advance_to(time_ms) == expected.get(time_ms, [])
    assert bench.timer.size() == 0


def _bound_entry(name: str) -> TimerTaskEntry:
    task = NamedTask(name, 0, [])
    entry = TimerTaskEntry(task, Millis(10))
    task.set_timer_task_entry(entry)
    return entry


def test_adding_again_moves_an_entry_between_lists_and_keeps_the_counter() -> None:
    counter = atomic_integer(0, "counter")
    lists = [OpenBucket(counter) for _ in range(3)]
    entries = [_bound_entry(str(number)) for number in range(10)]
    for number, entry in enumerate(entries):
        lists[0].add(entry)
        assert counter.get() == number + 1
    for number, entry in enumerate(entries):
        lists[number % 2 + 1].add(entry)
        assert counter.get() == len(entries)
    assert [len(bucket.entries()) for bucket in lists] == [0, 5, 5]


def test_cancelling_every_task_empties_the_list() -> None:
    counter = atomic_integer(0, "counter")
    bucket = OpenBucket(counter)
    entries = [_bound_entry(str(number)) for number in range(10)]
    for entry in entries:
        bucket.add(entry)
    for entry in entries:
        assert entry.timer_task.cancel()
    assert bucket.entries() == []
    assert counter.get() == 0


class _LeapingClock(Clock):
    """A clock whose waits are over at once, and noted."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.waited_ms: list[int] = []

    def hi_res_clock_ms(self) -> Millis:
        return Millis(self.now_ms)

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        del lock, condition
        self.waited_ms.append(deadline_ms - self.now_ms)
        self.now_ms = deadline_ms


@pytest.mark.repeats("list-delay")
def test_the_delay_of_a_bucket_that_expires_in_ten_seconds_is_five_after_five() -> None:
    clock = _LeapingClock()
    queue = DelayQueue(clock)
    bucket = OpenBucket(atomic_integer(0, "counter"))
    bucket.set_expiration(Millis(10_000))
    queue.offer(bucket)
    queue.await_due(Millis(5_000))
    queue.await_due(Millis(60_000))
    assert clock.waited_ms == [5_000, 5_000]
    assert queue.poll() is bucket
