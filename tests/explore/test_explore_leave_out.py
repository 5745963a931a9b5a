"""Shrinking to the fewest operations."""

from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof.timer import SystemTimer
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Action, Body, Scenario
from wheelproof_explore.runs.schedule import decode
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import (
    BUGS,
)
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.timer.entry_migration import IdleTask
from wheelproof_lab.worlds.timer.system_timer import CLOCK_OF_A_WHEEL, TimerBench


def counters() -> Scenario:
    """Three threads count in two cells; only in one of them is a count ever lost."""
    lost, kept = sync.volatile(0, "lost"), sync.atomic_integer(0, "kept")
    expected = {"lost": 0, "kept": 0}

    def lose() -> None:
        expected["lost"] += 1
        lost.set(lost.get() + 1)

    def keep() -> None:
        expected["kept"] += 1
        kept.add_and_get(1)

    def check() -> None:
        assert lost.get() == expected["lost"]
        assert kept.get() == expected["kept"]

    return Scenario(
        threads={"a": [keep, lose], "b": [keep, keep], "c": [lose, keep, keep]}, check=check
    )


def test_operations_that_the_failure_does_not_need_are_left_out() -> None:
    found = explore(make(counters)).counterexample
    assert found is not None
    assert found.threads == ("a", "c")
    assert [step.text.partition("(")[0] for step in found.steps] == [
        "lost.get", "lost.get", "lost.set", "lost.set",
    ]  # fmt: skip
    assert found.left_out == (("a", 1), ("b", 1), ("b", 2), ("c", 2), ("c", 3))
    assert len(found.deviations) == 1


def test_the_schedule_of_a_part_replays_it() -> None:
    program = make(counters)
    found = explore(program).counterexample
    assert found is not None
    assert "-w0.2.3.5.6-" in found.schedule
    part, _ = decode(program, found.schedule)
    assert part.without == {0, 2, 3, 5, 6}
    again = explore(program, Options(engine=Engine.REPLAY, schedule=found.schedule)).counterexample
    assert again == found


def test_actions_that_are_no_list_stay() -> None:
    def build() -> Scenario:
        whole = counters()
        other = sync.volatile(0, "other")
        return Scenario(threads={**whole.threads, "d": partial(other.set, 1)}, check=whole.check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.threads == ("a", "c", "d")


def test_a_check_that_does_not_hold_for_parts_of_the_program_makes_nothing_smaller() -> None:
    def build() -> Scenario:
        cell = sync.volatile(0, "cell")

        def add() -> None:
            cell.set(cell.get() + 1)

        def check() -> None:
            assert cell.get() == 3, f"{cell.get()} after 3 increments"

        adds: list[Action] = [add]
        return Scenario(threads={"a": adds, "b": adds, "c": adds}, check=check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.left_out == ()


def test_another_kind_of_failure_does_not_count() -> None:
    def build() -> Scenario:
        one, two = sync.lock("one"), sync.lock("two")
        cell = sync.volatile(0, "cell")

        def nest(first: sync.Lock, second: sync.Lock) -> None:
            with first, second:
                pass

        def race() -> None:
            before = cell.get()
            cell.set(before + 1)
            if cell.get() != before + 1:
                raise ValueError

        forth, back = partial(nest, one, two), partial(nest, two, one)
        return Scenario(threads={"a": [forth, race], "b": [back, race]})

    program = make(build)
    found = explore(program).counterexample
    assert found is not None
    kinds = {
        FailureKind.DEADLOCK: (("a", 2), ("b", 2)),
        FailureKind.EXCEPTION: (("a", 1), ("b", 1)),
    }
    assert found.left_out == kinds[found.failure.kind]


class _Queue:
    """A queue that wakes a taker only if it was empty, so that the second of two sleeps on."""

    def __init__(self) -> None:
        self._lock = sync.lock("queue")
        self._arrived = sync.condition(self._lock, "arrived")
        self._items = 0

    def put(self) -> None:
        with self._lock:
            self._items += 1
            if self._items == 1:
                self._arrived.notify()

    def take(self) -> None:
        with self._lock:
            while not self._items:
                self._arrived.wait()
            self._items -= 1

    def look(self) -> None:
        with self._lock:
            assert self._items >= 0


@pytest.mark.parametrize("putters", [{"putter": 2}, {"putter 1": 1, "putter 2": 1}])
@pytest.mark.parametrize("takers_first", [True, False])
def test_a_lost_wake_up_keeps_those_who_put(putters: dict[str, int], takers_first: bool) -> None:
    """Without a producer every run of a taker fails, of a correct queue as well."""

    def build() -> Scenario:
        queue = _Queue()
        takers: dict[str, Body] = {name: [queue.take] for name in ("taker 1", "taker 2")}
        putting: dict[str, Body] = {name: [queue.put] * many for name, many in putters.items()}
        threads = takers | putting if takers_first else putting | takers
        return Scenario(threads={**threads, "looker": [queue.look, queue.look]})

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.LOST_WAKEUP
    assert found.left_out == (("looker", 1), ("looker", 2))


def test_operations_that_belong_together_are_left_out_together() -> None:
    def build() -> Scenario:
        queue, lost = _Queue(), sync.volatile(0, "lost")

        def lose() -> None:
            lost.set(lost.get() + 1)

        def check() -> None:
            assert lost.get() == 2

        return Scenario(threads={"a": [queue.take, lose], "b": [queue.put, lose]}, check=check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.left_out == (("a", 1), ("b", 1))


def test_a_part_has_to_fail_by_the_same_check() -> None:
    """Without the second write of `a`, another assertion fails before the one that did."""

    def build() -> Scenario:
        begun, ended = sync.volatile(0, "begun"), sync.volatile(0, "ended")

        def race() -> None:
            ended.set(ended.get() + 1)

        def check() -> None:
            assert begun.get() == 0 or ended.get() > 0, "nothing ended"
            assert begun.get() == ended.get(), "lost"

        begin: list[Action] = [partial(begun.set, 2)]
        return Scenario(threads={"a": [*begin, race], "b": [race]}, check=check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert found.failure.message.startswith("AssertionError: lost")
    assert found.left_out == ()


def crowd(timer_class: type[SystemTimer]) -> Scenario:
    """Two threads add three tasks and advance twice."""
    bench = TimerBench(timer_class)
    bench.task(1)
    bench.at(1)
    return Scenario(
        threads={
            "one": [
                partial(bench.add, IdleTask(0)),
                bench.advance,
                partial(bench.add, IdleTask(1)),
            ],
            "two": [partial(bench.add, IdleTask(0)), bench.advance],
        },
        check=bench.check,
    )


@pytest.mark.slow
def test_a_bug_of_the_timer_needs_three_operations_of_five() -> None:
    timer_class = find_bug(BUGS, "poll-outside-lock").timer_class
    crowded = program("crowd", partial(crowd, timer_class), plain_fields=CLOCK_OF_A_WHEEL)
    found = explore(crowded).counterexample
    assert found is not None
    assert len(found.left_out) == 2
    assert len(found.deviations) <= 2
