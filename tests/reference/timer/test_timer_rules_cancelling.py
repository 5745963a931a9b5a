"""Rules 1.10, 1.11, 1.13 and 1.14: taking entries out of lists, and counting them."""

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.open_timer import OpenBucket, OpenTimer
from support.reference.timer import NO_WAIT, Bench, NamedTask
from wheelproof.sync import atomic_integer
from wheelproof.timer import TimerTaskEntry
from wheelproof.units import Millis

_TAKE_LIST = Step("TimerTaskList.monitor", "__enter__")


def _entry() -> TimerTaskEntry:
    return TimerTaskEntry(NamedTask("task", 0, []), Millis(0))


@pytest.mark.repeats("wheel-delete-o1", "c-link-cell")
def test_rule_1_10_a_cancelled_task_never_runs_and_is_counted_no_more() -> None:
    bench = Bench()
    task = bench.add("task", 5)
    assert task.cancel()
    assert bench.timer.size() == 0
    assert bench.advance_to(1_000) == []


def test_rule_1_10_cancel_tells_whether_there_was_something_to_cancel() -> None:
    bench = Bench()
    task = bench.task("task", 5)
    assert not task.cancel()
    bench.timer.add(task)
    assert task.cancel()
    assert not task.cancel()
    bench.timer.add(task)
    assert bench.advance_to(5) == ["task"]
    assert not task.cancel()


def test_rule_1_10_a_cancelled_task_can_be_added_again() -> None:
    bench = Bench()
    task = bench.add("task", 5)
    task.cancel()
    bench.timer.add(task)
    assert bench.advance_to(5) == ["task"]


def test_rule_1_10_cancel_after_submission_does_not_stop_the_run() -> None:
    bench = Bench()
    task = bench.add("task", 5)
    bench.clock.advance_to(5)
    bench.timer.advance_clock(NO_WAIT)
    assert not task.cancel()
    assert bench.run_submitted() == ["task"]


@pytest.mark.repeats("entry-cancelled")
def test_rule_1_10_an_entry_is_cancelled_once_its_task_is_bound_to_another_or_to_none() -> None:
    bench = Bench()
    task = bench.add("task", 5)
    older = task.get_timer_task_entry()
    assert older is not None
    assert not older.cancelled()
    bench.timer.add(task)
    newer = task.get_timer_task_entry()
    assert newer is not None
    assert older.cancelled()
    assert not newer.cancelled()
    task.cancel()
    assert newer.cancelled()
    assert task.get_timer_task_entry() is None


@pytest.mark.repeats("entry-remove-retries")
def test_rule_1_10_cancel_follows_an_entry_that_moves_to_another_list() -> None:
    with Interleaving() as interleaving:
        bench = Bench(wheel_size=4)
        task = bench.add("moved", 5)
        canceller = interleaving.run(task.cancel)
        assert canceller.until(_TAKE_LIST)
        bench.advance_to(4)
        assert bench.timer.size() == 1
        canceller.finish()
        assert bench.timer.size() == 0
    assert bench.advance_to(5) == []


def test_rule_1_10_of_two_cancels_at_once_only_one_succeeds() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.add("task", 5)
        answers: list[bool] = []
        first, second = (interleaving.run(lambda: answers.append(task.cancel())) for _ in range(2))
        assert first.until(_TAKE_LIST)
        assert second.until(Step("TimerTask.monitor", "__enter__"))
        second.resume()
        first.finish()
        second.join()
    assert sorted(answers) == [False, True]


def test_rule_1_10_a_cancel_that_loses_against_the_submission_says_so() -> None:
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.add("task", 5)
        bench.clock.advance_to(5)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(Step("TimerTask.entry", "compare_and_set"))
        answers: list[bool] = []
        canceller = interleaving.run(lambda: answers.append(task.cancel()))
        assert canceller.until(Step("TimerTask.entry", "compare_and_set"))
        reaper.finish()
        canceller.finish()
    assert answers == [False]
    assert bench.run_submitted() == ["task"]


@pytest.mark.repeats("entry-rare-case", "c-exact-size")
def test_rule_1_11_a_cancel_during_the_move_leaves_an_entry_until_its_bucket_expires() -> None:
    with Interleaving() as interleaving:
        bench = Bench(wheel_size=4)
        task = bench.add("task", 5)
        bench.clock.advance_to(4)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        # The third list taken: the upper bucket by flush, again by remove, the lower one by add.
        for _ in range(3):
            assert reaper.until(_TAKE_LIST)
        assert bench.timer.size() == 0
        assert task.cancel()
        reaper.finish()
    assert bench.timer.size() == 1
    assert bench.advance_to(5) == []
    assert bench.timer.size() == 0


def test_rule_1_11_a_cancel_before_an_adders_link_leaves_an_entry_until_its_bucket_expires() -> (
    None
):
    with Interleaving() as interleaving:
        bench = Bench()
        task = bench.task("task", 5)
        adder = interleaving.run(lambda: bench.timer.add(task))
        assert adder.until(_TAKE_LIST)
        assert task.cancel()
        adder.finish()
    assert bench.timer.size() == 1
    assert bench.advance_to(5) == []
    assert bench.timer.size() == 0


@pytest.mark.repeats("list-outside-monitor")
def test_rule_1_13_add_moves_an_entry_out_of_the_list_that_holds_it() -> None:
    counter = atomic_integer(0, "counter")
    one, other = OpenBucket(counter), OpenBucket(counter)
    entry = _entry()
    one.add(entry)
    other.add(entry)
    assert (one.entries(), other.entries()) == ([], [entry])
    assert entry.list.get() is other
    assert counter.get() == 1


@pytest.mark.repeats("list-tail", "x-prepend")
def test_rule_1_13_add_links_at_the_tail() -> None:
    bucket = OpenBucket(atomic_integer(0, "counter"))
    entries = [_entry() for _ in range(3)]
    for entry in entries:
        bucket.add(entry)
    bucket.add(entries[0])
    assert bucket.entries() == [entries[1], entries[2], entries[0]]


def test_rule_1_13_remove_acts_only_on_an_entry_of_this_list() -> None:
    counter = atomic_integer(0, "counter")
    one, other = OpenBucket(counter), OpenBucket(counter)
    entry = _entry()
    one.add(entry)
    other.remove(entry)
    assert one.entries() == [entry]
    one.remove(entry)
    one.remove(entry)
    assert one.entries() == []
    assert counter.get() == 0


@pytest.mark.repeats("vl-stop-is-unlinking", "list-root")
@pytest.mark.parametrize("position", range(3))
def test_rule_1_13_remove_keeps_the_other_entries_linked(position: int) -> None:
    bucket = OpenBucket(atomic_integer(0, "counter"))
    entries = [_entry() for _ in range(3)]
    for entry in entries:
        bucket.add(entry)
    bucket.remove(entries.pop(position))
    assert bucket.entries() == entries


@pytest.mark.repeats("timer-size")
def test_rule_1_14_submitted_tasks_are_not_counted() -> None:
    bench = Bench()
    bench.add("due", 1)
    bench.add("waiting", 2)
    bench.clock.advance_to(1)
    bench.timer.advance_clock(NO_WAIT)
    assert bench.timer.size() == 1
    assert bench.run_submitted() == ["due"]


@pytest.mark.repeats("wheel-offer-once")
def test_rule_1_14_a_bucket_is_queued_at_most_once() -> None:
    bench = Bench(OpenTimer, wheel_size=4)
    timer = bench.timer
    assert isinstance(timer, OpenTimer)
    for delay_ms in range(64):
        for _ in range(3):
            bench.add("task", delay_ms)
        assert timer.queued() <= 4 * len(list(timer.levels()))
    assert timer.queued() == sum(bucket.get_expiration() != -1 for bucket in timer.buckets())


@pytest.mark.repeats("c-empty-buckets")
def test_rule_1_14_a_bucket_that_was_emptied_by_cancels_is_not_queued_a_second_time() -> None:
    bench = Bench(OpenTimer)
    timer = bench.timer
    assert isinstance(timer, OpenTimer)
    for _ in range(3):
        bench.add("task", 5).cancel()
    assert timer.size() == 0
    assert timer.queued() == 1
