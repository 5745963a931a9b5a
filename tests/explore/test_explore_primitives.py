"""What each primitive of the controlled runtime does, over all interleavings."""

from collections.abc import Callable
from functools import partial

import pytest

from support.explore.exploring import explored
from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import (
    Invariant,
    Scenario,
    Settings,
    TimeMode,
    choose,
    recorded,
)
from wheelproof_explore.runtime.read_write_lock import Holders, ModelReadWriteLock
from wheelproof_lab.graph.states.engine import explore_graph
from wheelproof_lab.graph.states.views import GraphProgram, View, ViewedRun


def _kind(build: Callable[[], Scenario], settings: Settings | None = None) -> FailureKind | None:
    found = explored(build, Settings() if settings is None else settings).counterexample
    return None if found is None else found.failure.kind


def test_a_lock_is_not_reentrant_and_a_monitor_is() -> None:
    def with_lock() -> Scenario:
        lock = sync.lock("lock")

        def twice() -> None:
            with lock, lock:
                pass

        return Scenario(threads={"a": twice})

    def with_monitor() -> Scenario:
        monitor = sync.monitor("monitor")

        def twice() -> None:
            with monitor, monitor:
                pass

        return Scenario(threads={"a": twice, "b": twice})

    assert _kind(with_lock) is FailureKind.DEADLOCK
    found = explored(with_monitor)
    assert found.failing_runs == 0
    assert (found.classes, found.depth) == (2, 4)


@pytest.mark.parametrize(
    ("among", "expected"),
    [
        (1, {("ab", "a"), ("ba", "b")}),
        (2, {("ab", "a"), ("ab", "b"), ("ba", "a"), ("ba", "b")}),
    ],
)
def test_whom_a_condition_wakes(among: int, expected: set[tuple[str, str]]) -> None:
    """Who waits, in order, and who is woken: the first, unless it may be any."""
    seen: set[tuple[str, str]] = set()

    def build() -> Scenario:
        lock = sync.lock("lock")
        changed = sync.condition(lock, "changed")
        waiting: list[str] = []
        woken: list[str] = []

        def wait(name: str) -> None:
            with lock:
                waiting.append(name)
                changed.wait()
                woken.append(name)

        def notify() -> None:
            with lock:
                if len(waiting) == 2:
                    changed.notify()

        def check() -> None:
            if woken:
                seen.add(("".join(waiting), "".join(woken)))

        threads = {"a": lambda: wait("a"), "b": lambda: wait("b"), "c": notify}
        return Scenario(threads=threads, check=check)

    settings = Settings(may_wait=frozenset({"a", "b"}), notify_among=among)
    assert explored(build, settings).failing_runs == 0
    assert seen == expected


@pytest.mark.parametrize(
    ("mode", "outcomes"),
    [
        (TimeMode.ANY, {True, False}),
        (TimeMode.CLOCK, {True, False}),
        (TimeMode.LAZY, {True}),
    ],
)
def test_a_timed_wait_may_time_out(mode: TimeMode, outcomes: set[bool]) -> None:
    seen: set[bool] = set()

    def build() -> Scenario:
        lock = sync.lock("lock")
        changed = sync.condition(lock, "changed")
        flag = [False]

        def wait() -> None:
            with lock:
                if not flag[0]:
                    seen.add(changed.wait(Millis(5)))

        def notify() -> None:
            with lock:
                flag[0] = True
                changed.notify()

        return Scenario(threads={"a": wait, "b": notify})

    assert explored(build, Settings(time=mode)).failing_runs == 0
    assert seen == outcomes


@pytest.mark.parametrize("mode", list(TimeMode))
def test_a_wait_with_a_deadline_ends_in_every_mode(mode: TimeMode) -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        never = sync.condition(lock, "never")

        def wait() -> None:
            deadline = sync.monotonic_ms() + 5
            with lock:
                while (left := deadline - sync.monotonic_ms()) > 0:
                    assert not never.wait(Millis(left))

        return Scenario(threads={"a": wait, "b": wait})

    assert _kind(build, Settings(time=mode, max_steps=200)) is None


def test_a_spurious_wakeup_finds_the_missing_loop() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        changed = sync.condition(lock, "changed")
        flag = [False]

        def wait_without_a_loop() -> None:
            with lock:
                if not flag[0]:
                    changed.wait()
                assert flag[0]

        def notify() -> None:
            with lock:
                flag[0] = True
                changed.notify()

        return Scenario(threads={"a": wait_without_a_loop, "b": notify})

    assert _kind(build) is None
    assert _kind(build, Settings(spurious_wakeups=1)) is FailureKind.EXCEPTION


@pytest.mark.parametrize("prefer_writers", [True, False])
def test_a_reader_that_waits_for_a_second_reader(prefer_writers: bool) -> None:
    """Two readers that need each other: fatal if a writer between them is preferred."""

    def build() -> Scenario:
        lock = sync.read_write_lock("rw", prefer_writers=prefer_writers)
        met = sync.thread(lambda: _enter(lock.read), "second")

        def first() -> None:
            with lock.read:
                met.start()
                met.join()

        return Scenario(threads={"first": first, "writer": lambda: _enter(lock.write)})

    expected = FailureKind.DEADLOCK if prefer_writers else None
    assert _kind(build) is expected


def test_a_read_write_lock_is_reentrant_and_may_be_downgraded() -> None:
    def build() -> Scenario:
        lock = sync.read_write_lock("rw", prefer_writers=True)
        value = sync.volatile(0, "value")

        def write() -> None:
            with lock.write, lock.write:
                value.set(1)
                view = lock.read
                view.__enter__()
            assert value.get() == 1
            view.__exit__(None, None, None)

        def overwrite() -> None:
            with lock.write:
                value.set(2)
                value.set(1)

        return Scenario(threads={"a": write, "b": overwrite})

    assert _kind(build) is None


@pytest.mark.parametrize("prefer_writers", [True, False])
def test_readers_that_wait_when_a_writer_leaves_go_before_the_next_writer(
    prefer_writers: bool,
) -> None:
    def build() -> ViewedRun:
        lock = sync.read_write_lock("rw", prefer_writers=prefer_writers)
        assert isinstance(lock, ModelReadWriteLock)
        threads = {"reader 1": lock.read, "reader 2": lock.read} | {
            f"writer {number}": lock.write for number in (1, 2)
        }

        def holders() -> Holders:
            return lock.state

        return ViewedRun(
            scenario=Scenario(
                threads={name: partial(_enter, one) for name, one in threads.items()}
            ),
            view=View(),
            invariants={
                "one writer or readers": lambda: not (holders().writer and holders().readers),
                "no writer before the admitted": lambda: (
                    not (holders().writer is not None and holders().admitted)
                ),
                "who is admitted or inside does not wait": lambda: (
                    not (holders().waiting_readers & (holders().admitted | holders().readers))
                ),
            },
            sometimes={
                "two are admitted": lambda: len(holders().admitted) == 2,
                "a writer waits for the admitted alone": lambda: bool(
                    holders().waiting_writers and holders().admitted and not holders().readers
                ),
                "a reader waits behind a waiting writer": lambda: bool(
                    holders().writer is None
                    and holders().readers
                    and holders().waiting_readers - holders().admitted
                ),
            },
        )

    graph = explore_graph(GraphProgram(name="rw", build=build))
    assert graph.failures == {}
    # Without preference a reader waits for a writer that is inside, and for nothing else.
    assert graph.unseen == (set() if prefer_writers else {"a reader waits behind a waiting writer"})


@pytest.mark.parametrize("side", ["read", "write"])
def test_a_side_that_is_not_held_cannot_be_left(side: str) -> None:
    def build() -> Scenario:
        lock = sync.read_write_lock("rw", prefer_writers=True)
        view = lock.read if side == "read" else lock.write

        def leave() -> None:
            with pytest.raises(RuntimeError, match=f"released the {side} side without holding it"):
                view.__exit__(None, None, None)

        return Scenario(threads={"a": leave})

    assert _kind(build) is None


def test_a_reader_may_not_ask_for_the_write_side() -> None:
    def build() -> Scenario:
        lock = sync.read_write_lock("rw", prefer_writers=True)

        def upgrade() -> None:
            with lock.read, lock.write:
                pass

        return Scenario(threads={"a": upgrade})

    assert _kind(build) is FailureKind.EXCEPTION


def test_a_thread_is_started_once_and_joined() -> None:
    def build() -> Scenario:
        done = sync.volatile(False, "done")
        child = sync.thread(lambda: done.set(True), "child")

        def parent() -> None:
            child.start()
            assert child.join()
            assert done.get()
            with pytest.raises(RuntimeError, match="once"):
                child.start()

        return Scenario(threads={"parent": parent})

    assert _kind(build) is None


def test_every_choice_is_tried() -> None:
    seen: set[tuple[int, int]] = set()

    def build() -> Scenario:
        return Scenario(threads={"a": lambda: seen.add((choose(2), choose(3)))})

    assert explored(build).classes == 6
    assert len(seen) == 6


def test_an_invariant_is_checked_between_any_two_steps() -> None:
    def build() -> Scenario:
        left, right = sync.volatile(0, "left"), sync.volatile(0, "right")

        def move() -> None:
            left.set(1)
            right.set(1)
            left.set(0)
            right.set(0)

        def look() -> None:
            assert (left.get(), right.get()) != (0, 1), "seen in between"

        invariant = Invariant(name="never 0 and 1", cells=(left, right), look=look)
        return Scenario(threads={"a": move}, invariants=[invariant])

    found = explored(build)
    assert (found.classes, found.failing_runs) == (5, 1)


def test_calls_and_returns_are_ordered_with_each_other_alone() -> None:
    def build() -> Scenario:
        def call() -> None:
            recorded("nothing", lambda: None)

        return Scenario(threads={"a": call, "b": call})

    # Overlapping, or one before the other: four events with the orders of call against return.
    assert explored(build).classes == 3


def _enter(view: sync.Monitor) -> None:
    with view:
        pass
