"""What is said of a run in which nobody can make a step."""

from collections.abc import Callable

from support.explore.exploring import explored
from wheelproof import sync
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.program import Scenario
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.state_queue import (
    MENDED_STATE_QUEUE,
    STATE_QUEUE_OF_TLC,
)


def _failure(build: Callable[[], Scenario]) -> Failure:
    found = explored(build).counterexample
    assert found is not None
    return found.failure


def _hold(lock: sync.Lock, then: Callable[[], object]) -> Callable[[], None]:
    def work() -> None:
        with lock:
            then()

    return work


def test_a_deadlock_names_who_waits_for_whom_and_the_circle() -> None:
    def build() -> Scenario:
        one, other = sync.lock("one"), sync.lock("other")
        return Scenario(
            threads={
                "a": _hold(one, _hold(other, lambda: None)),
                "b": _hold(other, _hold(one, lambda: None)),
                "bystander": _hold(one, lambda: None),
            }
        )

    failure = _failure(build)
    assert failure.kind is FailureKind.DEADLOCK
    assert "a waits to acquire other, held by b" in failure.message
    assert "b waits to acquire one, held by a" in failure.message
    assert failure.message.endswith("circle: a -> b -> a")
    assert {wait.thread: wait.for_threads for wait in failure.waits}["a"] == ("b",)


def test_a_circle_may_go_through_any_of_several_holders() -> None:
    """A writer waits for two readers, and the second of them for a lock that the writer holds."""

    def build() -> Scenario:
        lock, shared = sync.lock("lock"), sync.read_write_lock("shared")
        second_reads = sync.volatile(False, "second reads")

        def first() -> None:
            with shared.read:
                gate.acquire()

        def second() -> None:
            with shared.read:
                second_reads.set(True)
                with lock:
                    pass

        def write() -> None:
            with lock:
                if second_reads.get():
                    with shared.write:
                        pass

        gate = sync.lock("gate")
        gate.acquire()
        return Scenario(threads={"first": first, "second": second, "writer": write})

    found = explored(build)
    assert found.deadlocks > 0


def test_a_missed_wake_up_is_told_from_those_who_wait_for_the_sleeper() -> None:
    def build() -> Scenario:
        lock, outer = sync.lock("lock"), sync.lock("outer")
        changed = sync.condition(lock, "changed")

        def sleep() -> None:
            with outer, lock:
                changed.wait()

        return Scenario(threads={"sleeper": sleep, "next": _hold(outer, lambda: None)})

    failure = _failure(build)
    assert failure.kind is FailureKind.LOST_WAKEUP
    assert failure.message.startswith("sleeper waits on changed and nobody will notify it")
    assert [wait.on_condition for wait in failure.waits] == [True, False]


def test_a_lock_that_nobody_gives_back_leaves_threads_unfinished() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        return Scenario(threads={"a": lambda: _drop(lock.acquire()), "b": _hold(lock, _nothing)})

    failure = _failure(build)
    assert failure.kind is FailureKind.UNFINISHED
    assert failure.message == "b waits to acquire lock, held by a, which has ended"


def test_a_lock_that_the_set_up_holds() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        lock.acquire()
        return Scenario(threads={"a": _hold(lock, _nothing)})

    failure = _failure(build)
    assert failure.kind is FailureKind.UNFINISHED
    assert failure.message == "a waits to acquire lock, held by the set-up"


def test_two_threads_that_join_each_other() -> None:
    def build() -> Scenario:
        handles: list[sync.Thread] = []
        handles.append(sync.thread(lambda: _drop(handles[1].join()), "first"))
        handles.append(sync.thread(lambda: _drop(handles[0].join()), "second"))
        for handle in handles:
            handle.start()
        return Scenario(threads={"bystander": _nothing})

    failure = _failure(build)
    assert failure.kind is FailureKind.DEADLOCK
    assert failure.message == (
        "first waits for second to end; second waits for first to end; "
        "circle: first -> second -> first"
    )


def test_the_queue_of_tlc_loses_a_wake_up() -> None:
    """It hung this project's tests."""
    found = explore(STATE_QUEUE_OF_TLC)
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.LOST_WAKEUP
    assert len(found.counterexample.deviations) == 1


def test_with_a_note_it_does_not() -> None:
    found = explore(MENDED_STATE_QUEUE)
    assert found.verdict() is Verdict.PASS
    assert found.classes == 7


def _nothing() -> None:
    return


def _drop(value: object) -> None:
    del value
