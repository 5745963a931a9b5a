"""Two timers that keep a contract exactly: one runs at once what is due, the other in its advance.

Between them lie all timers of the contract (semantics.md 1.7), so that whatever both answer alike
is the answer, and the rest is open.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.components.timer.calls import Add, Advance, Cancel, TimerCall, TimerConfig


@dataclass(slots=True)
class IdealTimer:
    """`eager` says whether an add runs a task that is due already; times in milliseconds."""

    contract: TimerContract
    config: TimerConfig
    eager: bool
    due_ms: dict[str, int] = field(default_factory=dict[str, int])
    """The tasks that wait, and when each of them is due."""
    now_ms: int = field(init=False)

    def __post_init__(self) -> None:
        self.now_ms = self.config.start_ms

    def perform(self, call: TimerCall) -> tuple["Ran", bool | int | None]:
        """Make `call`; return what ran, and what cancel or size answers."""
        match call:
            case Add(task=task, delay_ms=delay_ms):
                self.due_ms[task] = self.contract.due_ms(
                    self.now_ms + delay_ms, self.config.tick_ms
                )
                return self._run_due() if self.eager else (), None
            case Cancel(task=task):
                return (), self.due_ms.pop(task, None) is not None
            case Advance(to_ms=to_ms):
                self.now_ms = to_ms
                return self._run_due(), None
            case _:
                return (), len(self.due_ms)

    def _run_due(self) -> "Ran":
        due = sorted((due_ms, task) for task, due_ms in self.due_ms.items())
        ran = tuple((task, due_ms) for due_ms, task in due if due_ms <= self.now_ms)
        for task, _ in ran:
            del self.due_ms[task]
        return ran


Ran = tuple[tuple[str, int], ...]
"""The tasks that ran, in order, each with the time at which it was due."""


def fired_adds(
    contract: TimerContract, config: TimerConfig, calls: Sequence[TimerCall], *, eager: bool
) -> frozenset[tuple[str, int]]:
    """Return which adds have run after `calls`: each task with the number of its add, from 1."""
    timer = IdealTimer(contract, config, eager)
    adds: Counter[str] = Counter()
    found: set[tuple[str, int]] = set()
    for call in calls:
        if isinstance(call, Add):
            adds[call.task] += 1
        ran, _ = timer.perform(call)
        found |= {(task, adds[task]) for task, _ in ran}
    return frozenset(found)
