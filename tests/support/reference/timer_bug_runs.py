"""Runs of the timer in a chosen order, one or more for each known bug, and what comes of them."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from support.reference.interleaving import MAKE, Interleaving, Step
from support.reference.timer import NO_WAIT, Bench
from wheelproof.errors import RejectedExecutionError
from wheelproof.sync import DeferredExecutor, use_runtime, volatile
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof_spec.fuzz.hooks import (
    InstrumentedRuntime,
    StepLimit,
    StepLimitExceededError,
)

_NOTHING: list[str] = []
_STEPS_ENOUGH_FOR_ANY_ADVANCE = 10_000
_TAKE_LIST = Step("TimerTaskList.monitor", "__enter__")
_TAKE_TIMER = Step("SystemTimer.lock", "__enter__")
_TAKE_WHEEL = Step("TimingWheel.monitor", "__enter__")
_BIND = Step("TimerTask.monitor", "__enter__")
_SET_LIST = Step("TimerTaskEntry.list", "set")
_COUNT = Step("SystemTimer.task_counter", "add_and_get")
_OFFER = Step("DelayQueue.lock", "__enter__")
_MAKE_WHEEL = Step("TimingWheel.monitor", MAKE)


def cancel_through_a_list_that_has_changed(timer_class: type[SystemTimer]) -> object:
    """Cancel has read the upper bucket; the entry moves down; an adder joins it there."""
    with Interleaving() as interleaving:
        bench = Bench(timer_class, wheel_size=4)
        moved = bench.add("moved", 5)
        canceller = interleaving.run(moved.cancel)
        assert canceller.until(_TAKE_LIST)
        assert bench.advance_to(4) == []
        adder = interleaving.run(lambda: bench.add("joined", 1))
        assert adder.until(_SET_LIST)
        canceller.until(_TAKE_LIST)
        adder.finish()
        canceller.finish()
        return bench.advance_to(5), bench.timer.size()


def cancel_between_two_lists(timer_class: type[SystemTimer]) -> object:
    """The reaper has taken the entry out of the upper bucket; now it is cancelled."""
    with Interleaving() as interleaving:
        bench = Bench(timer_class, wheel_size=4)
        task = bench.add("cancelled", 5)
        bench.clock.advance_to(5)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(_COUNT)
        cancelled = task.cancel()
        reaper.finish()
        return cancelled, bench.run_submitted()


def add_while_the_overflow_wheel_is_made(timer_class: type[SystemTimer]) -> object:
    """One adder makes the overflow wheel, another one needs it, and the wheel above."""
    with Interleaving() as interleaving:
        bench = Bench(timer_class, wheel_size=4)
        maker = interleaving.run(lambda: bench.add("made", 5))
        assert maker.until(_MAKE_WHEEL)
        user = interleaving.run(lambda: bench.add("used", 20))
        user.until(_TAKE_WHEEL)
        maker.finish()
        try:
            user.finish()
        except AttributeError:
            return "half-built"
        return bench.advance_to(20)


def flush_without_end(timer_class: type[SystemTimer]) -> object:
    """A task is due; whoever advances may make many steps, but not endlessly many."""
    limit = StepLimit(_STEPS_ENOUGH_FOR_ANY_ADVANCE)
    with use_runtime(InstrumentedRuntime(ThreadsRuntime(), limit)):
        bench = Bench(timer_class)
        bench.add("due", 1)
        try:
            return bench.advance_to(1)
        except StepLimitExceededError:
            return "no end"


def advance_between_set_expiration_and_offer(timer_class: type[SystemTimer]) -> object:
    """One adder has not offered its bucket yet; another has joined the bucket and returned."""
    with Interleaving() as interleaving:
        bench = Bench(timer_class)
        bench.clock.advance_to(5)
        first = interleaving.run(lambda: bench.add("first", 0))
        assert first.until(_OFFER)
        interleaving.run(lambda: bench.add("second", 0)).finish()
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        reaper.until(_TAKE_TIMER)
        # Kafka's reaper has given up here; the reference's waits for the lock, behind the adder.
        submitted = bench.run_submitted()
        first.finish()
        reaper.finish()
        return submitted + bench.run_submitted()


def add_between_poll_and_lock(timer_class: type[SystemTimer]) -> object:
    """A slow adder links into an earlier bucket than the one that the reaper has found due.

    At 8 ms the reaper flushes the upper bucket of 8 to 11 ms, and its entry of 11 ms comes down
    into the bucket of the slow adder's entry of 7 ms.
    """
    with Interleaving() as interleaving:
        bench = Bench(timer_class, wheel_size=4)
        bench.add("nine", 9)
        bench.add("eleven", 11)
        bench.add("four", 4)
        assert bench.advance_to(4) == ["four"]
        bench.clock.advance_to(7)
        adder = interleaving.run(lambda: bench.add("seven", 0))
        assert adder.until(_BIND)
        bench.clock.advance_to(8)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(_TAKE_TIMER)
        adder.finish()
        reaper.finish()
        return [bench.run_submitted(), *(bench.advance_to(time_ms) for time_ms in (9, 10, 11))]


class _AnnouncingExecutor(DeferredExecutor):
    """A deferred executor whose submission is a step of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._step = volatile(None, "executor")

    def submit(self, task: Callable[[], None]) -> None:
        self._step.get()
        super().submit(task)


def cancel_between_test_and_submission(timer_class: type[SystemTimer]) -> object:
    """The reaper has found the task not cancelled; before it submits it, the task is cancelled."""
    with Interleaving() as interleaving:
        bench = Bench(timer_class, executor=_AnnouncingExecutor())
        task = bench.add("task", 1)
        bench.clock.advance_to(1)
        reaper = interleaving.run(lambda: bench.timer.advance_clock(NO_WAIT))
        assert reaper.until(Step("executor", "get"))
        cancelled = task.cancel()
        reaper.finish()
        return cancelled, bench.run_submitted()


class _RefusingExecutor(DeferredExecutor):
    """A deferred executor that refuses the first task."""

    _refused = False

    def submit(self, task: Callable[[], None]) -> None:
        if not self._refused:
            self._refused = True
            raise RejectedExecutionError("refused on purpose")
        super().submit(task)


def advance_over_a_refusal(timer_class: type[SystemTimer]) -> object:
    """The executor refuses the first of two tasks that are due; the next advance begins there."""
    bench = Bench(timer_class, executor=_RefusingExecutor())
    bench.add("refused", 1)
    bench.add("behind it", 1)
    with suppress(RejectedExecutionError):
        bench.advance_to(1)
    return bench.advance(), bench.timer.size()


def add_to_a_wheel_of_one_bucket(timer_class: type[SystemTimer]) -> object:
    """The task lies ahead, beyond every level's only bucket."""
    bench = Bench(timer_class, wheel_size=1)
    try:
        bench.add("ahead", 5)
    except RecursionError:
        return "no end"
    return bench.advance_to(5)


@dataclass(frozen=True, slots=True)
class Case:
    bug_id: str
    scenario: Callable[[type[SystemTimer]], object]
    broken: object
    right: object


CASES = (
    Case(
        "KAFKA-2226/stale-list",
        cancel_through_a_list_that_has_changed,
        broken=(_NOTHING, 1),
        right=(["joined"], 0),
    ),
    Case(
        "KAFKA-2226/no-cancelled-test",
        cancel_between_two_lists,
        broken=(True, ["cancelled"]),
        right=(True, _NOTHING),
    ),
    Case(
        "KAFKA-2112",
        add_while_the_overflow_wheel_is_made,
        broken="half-built",
        right=["made", "used"],
    ),
    Case("advance-after-flush", flush_without_end, broken="no end", right=["due"]),
    Case(
        "poll-outside-lock",
        advance_between_set_expiration_and_offer,
        broken=[],
        right=["first", "second"],
    ),
    Case(
        "poll-outside-lock",
        add_between_poll_and_lock,
        broken=[[], [], [], ["seven", "eleven", "nine"]],
        right=[["seven"], ["nine"], [], ["eleven"]],
    ),
    Case(
        "test-then-submit",
        cancel_between_test_and_submission,
        broken=(True, ["task"]),
        right=(False, ["task"]),
    ),
    Case(
        "refused-task-lost",
        advance_over_a_refusal,
        broken=(_NOTHING, 1),
        right=(["refused", "behind it"], 0),
    ),
    Case("one-bucket", add_to_a_wheel_of_one_bucket, broken="no end", right=["ahead"]),
)
