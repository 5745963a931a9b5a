"""Two timers that keep a contract exactly: one runs a due task at once, one in the next advance.

All timers of the contract lie between these two (standard 1.7): an answer that both give is
fixed, any other answer is open. Both are the oracle's timer, and run the tasks that it has as due.
"""

from collections import Counter
from collections.abc import Sequence

from wheelproof_spec.base.calls import Advance
from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.components.timer.oracle import HeapTimer

Ran = tuple[tuple[TaskId, int], ...]
"""The tasks that ran, in order, each with the time at which it was due."""


def ideal_timer(contract: TimerContract, config: TimerConfig) -> HeapTimer[TaskId]:
    """Return the oracle's timer for a case."""
    return HeapTimer(tick_ms=config.tick_ms, start_ms=config.start_ms, contract=contract)


def perform(
    timer: HeapTimer[TaskId], call: TimerCall, *, eager: bool
) -> tuple[Ran, TimerObservation]:
    """Make `call`, run the due tasks, and return them with the observation of the call.

    `eager` says whether an add runs a task that is due already.
    """
    cancelled: bool | None = None
    size: int | None = None
    match call:
        case Add(task=task, delay_ms=delay_ms):
            timer.add(task, delay_ms)
        case Cancel(task=task):
            cancelled = timer.cancel(task)
        case Advance(to_ms=to_ms):
            timer.advance_to(to_ms)
        case _:
            size = timer.size()
    advanced = isinstance(call, Advance)
    ran = _due(timer) if advanced or (eager and isinstance(call, Add)) else ()
    fired = tuple(task for task, _ in ran)
    violation = timer.observe(fired, advanced=advanced)
    assert violation is None
    return ran, TimerObservation(fired=fired, cancelled=cancelled, size=size)


def fired_adds(
    contract: TimerContract, config: TimerConfig, calls: Sequence[TimerCall], *, eager: bool
) -> frozenset[tuple[TaskId, int]]:
    """Return which adds have run after `calls`: each task with the number of its add, from 1."""
    timer = ideal_timer(contract, config)
    adds: Counter[TaskId] = Counter()
    found: set[tuple[TaskId, int]] = set()
    for call in calls:
        if isinstance(call, Add):
            adds[call.task] += 1
        ran, _ = perform(timer, call, eager=eager)
        found |= {(task, adds[task]) for task, _ in ran}
    return frozenset(found)


def _due(timer: HeapTimer[TaskId]) -> Ran:
    due = sorted((due_ms, task) for task, due_ms in timer.due_times().items())
    return tuple((task, due_ms) for due_ms, task in due if due_ms <= timer.now_ms)
