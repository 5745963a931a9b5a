"""The answers of a right timer: the steps of a vector, and a check of existing vectors.

All right timers lie between two (standard 1.7). One runs a task that is due already within its add,
the other one in the next advance. An answer that both give is fixed, any other answer is open.
"""

from collections.abc import Iterable, Sequence
from typing import cast

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent
from wheelproof_spec.base.contract import TimerContract, contract_of, is_contract
from wheelproof_spec.base.history.lines import Vector, VectorStep
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Size,
    TimerCall,
    TimerConfig,
    TimerExpectation,
    TimerObservation,
)
from wheelproof_spec.components.timer.model import Entry, HeapTimer, TimerOperation, timer_of

TimerStep = VectorStep[TimerCall, TimerExpectation]
Ran = tuple[Entry, ...]
"""The entries that ran, in order."""


def perform(
    timer: HeapTimer, call: TimerOperation, *, at_once: bool
) -> tuple[Ran, TimerObservation]:
    """Make `call` as a right timer does; return the entries that ran, and the observation.

    `at_once` says whether an add runs what is due already.
    """
    cancelled = call.task in timer.due_times() if isinstance(call, Cancel) else None
    size = len(timer.entries()) if isinstance(call, Size) else None
    nothing_ran = timer.copy()
    nothing_ran.judge(call, TimerObservation())
    ran: Ran = ()
    if isinstance(call, Advance) or (at_once and isinstance(call, Add)):
        due = (entry for entry in nothing_ran.entries() if entry.due_ms <= nothing_ran.now_ms)
        ran = tuple(sorted(due, key=lambda entry: (entry.due_ms, entry.task)))
    fired = tuple(entry.task for entry in ran)
    seen = TimerObservation(fired=fired, cancelled=cancelled, size=size)
    violation = timer.judge(call, seen)
    assert violation is None
    return ran, seen


def timer_steps(
    contract: TimerContract, config: TimerConfig, calls: Sequence[TimerCall]
) -> tuple[TimerStep, ...] | None:
    """Return the steps of a case with its answers; None if the contract leaves one of them open."""
    early, late = timer_of(config, contract), timer_of(config, contract)
    steps: list[TimerStep] = []
    pending: tuple[Ran, Ran] = ((), ())
    for call in calls:
        if isinstance(call, Reset):
            continue
        ran_early, seen = perform(early, call, at_once=True)
        ran_late, seen_late = perform(late, call, at_once=False)
        answers = (seen.cancelled, seen.size)
        if answers != (seen_late.cancelled, seen_late.size) or _runs_twice(pending[0], call):
            return None
        pending = (pending[0] + ran_early, pending[1] + ran_late)
        known = early.due_times() == late.due_times()
        steps.append(_step(call, seen, pending if known else None))
        if known:
            pending = ((), ())
    return tuple(steps)


def _runs_twice(pending: Ran, call: TimerCall) -> bool:
    """Tell whether the call adds a task again that may or may not have run."""
    return isinstance(call, Add) and any(entry.task == call.task for entry in pending)


def _step(call: TimerCall, seen: TimerObservation, ran: tuple[Ran, Ran] | None) -> TimerStep:
    """Return a step; `ran` has what each timer ran since the last step that lists runs."""
    expected = TimerExpectation(cancelled=seen.cancelled, size=seen.size)
    if isinstance(call, Add | Advance) and ran is not None:
        expected = _fired(*ran)
    return VectorStep(
        op=call.name_on_the_wire(),
        args=ABSENT if isinstance(call, Size) else call,
        expect=ABSENT if expected == TimerExpectation() else expected,
    )


def _fired(early: Ran, late: Ran) -> TimerExpectation:
    names = tuple(entry.task for entry in early)
    times = [entry.due_ms for entry in early]
    if early == late and len(set(times)) == len(times):
        return TimerExpectation(fired=names)
    return TimerExpectation(fired=tuple(sorted(names)), any_order=True)


def timer_flags(config: TimerConfig, calls: Iterable[TimerCall]) -> tuple[str, ...]:
    """Return the flags that describe the case."""
    span_ms = config.tick_ms * max(config.wheel_size, 2)
    found: set[str] = set()
    added: set[str] = set()
    now_ms = config.start_ms
    if config.wheel_size == 1:
        found.add("WheelOfOneBucket")
    for call in calls:
        match call:
            case Add(task=task, delay_ms=delay_ms):
                found |= _flags_of_delay(delay_ms, span_ms, config.tick_ms)
                found |= {"AddAgain"} if task in added else set()
                found |= {"Rounding"} if (now_ms + delay_ms) % config.tick_ms else set()
                added.add(task)
            case Cancel(task=task):
                found.add("Cancel" if task in added else "CancelInVain")
            case Advance(to_ms=to_ms):
                found |= {"Jump"} if to_ms - now_ms > span_ms else set()
                found |= {"LongJump"} if to_ms - now_ms > _MANY_TICKS * config.tick_ms else set()
                now_ms = to_ms
            case Size():
                found.add("Size")
            case _:
                continue
    return tuple(sorted(found))


_MANY_TICKS = 100_000
_LONGEST_MS = 2**61


def _flags_of_delay(delay_ms: int, span_ms: int, tick_ms: int) -> set[str]:
    flags: set[str] = set()
    if delay_ms < 0:
        flags.add("NegativeDelay")
    if delay_ms < tick_ms:
        flags.add("DueAtOnce")
    if delay_ms >= span_ms:
        flags.add("Overflow")
    if delay_ms > _LONGEST_MS:
        flags.add("LongestDelay")
    return flags


def disagreement(vector: Vector[object, object]) -> str | None:
    """Return why a timer vector disagrees with its contracts, or None if it agrees."""
    config = vector.config
    if not isinstance(config, TimerConfig):
        return f"the component {vector.component!r} has no contracts here"
    for name in vector.profiles:
        if not is_contract(name):
            return f"there is no profile {name!r}"
        steps = cast(tuple[TimerStep, ...], vector.steps)
        calls = [Size() if isinstance(step.args, Absent) else step.args for step in steps]
        if timer_steps(contract_of(name), config, calls) != steps:
            return f"the profile {name!r} says something else"
    return None
