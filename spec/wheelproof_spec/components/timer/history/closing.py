"""What the close of a timer changes: who is refused, who never runs, who has to (standard 1.16)."""

from wheelproof_spec.base.calls import AdvanceClock
from wheelproof_spec.base.history.lines import HistoryOp
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, TimerClause
from wheelproof_spec.components.timer.history.lateness import Lateness
from wheelproof_spec.components.timer.history.task import Phase, Task
from wheelproof_spec.components.timer.history.tasks import Tasks
from wheelproof_spec.components.timer.history.violations import (
    advanced_after_close,
    ran_after_close,
    refused_while_open,
    taken_in_after_close,
)

_Op = HistoryOp[object]


class Closing:
    """The first call of close, and the first that returned."""

    def __init__(self, tasks: Tasks, lateness: Lateness, tally: Tally) -> None:
        self._tasks = tasks
        self._lateness = lateness
        self._tests = tally.tests
        self._has_begun = False
        self._ended: int | None = None
        self._owed: list[tuple[Task, int, Violation | None]] = []
        """The tasks that had been submitted when close was called, or were overdue by then.

        With each, the index at which its add had returned: one that is added again owes no more.
        """

    def begin(self, op: _Op) -> None:
        """Record that a close was called: what was submitted before has to run nevertheless."""
        if self._has_begun:
            return
        self._has_begun = True
        for task in self._tasks.known.values():
            overdue = self._lateness.overdue(task)
            if overdue or self._tasks.never_ran(task, op.index):
                self._owed.append((task, task.settled, overdue))

    def end(self, index: int) -> None:
        """Record that a close returned: what waits then never runs."""
        if self._ended is not None:
            return
        self._ended = index
        for task in self._tasks.known.values():
            task.waited_at_close = task.phase is Phase.WAITING

    def left(self, index: int) -> Violation | None:
        """Return the violation if all is quiet, and a task that has to run never did."""
        known = self._tasks.known
        if self._owed or not self._has_begun:
            self._tests(TimerClause.NOTHING_LEFT_BEHIND)
        if not self._has_begun:
            each = (
                self._tasks.never_ran(task, index) or self._lateness.overdue(task)
                for task in known.values()
            )
            return next(filter(None, each), None)
        for task, settled, overdue in self._owed:
            if known.get(task.name) is not task:
                continue
            violation = self._tasks.never_ran(task, index)
            if violation is None and task.phase is Phase.DUE and task.settled == settled:
                violation = overdue
            if violation is not None:
                return violation
        return None

    def is_too_late_for(self, asked: _Op) -> bool:
        """Tell whether a call had to be refused: a close had returned before it began."""
        return self._ended is not None and self._ended < asked.index

    def taken(self, asked: _Op) -> Violation | None:
        """Return the violation by an add or an advance that was not refused, if it had to be."""
        if not self._is_tested(asked):
            return None
        value = asked.value
        return (
            taken_in_after_close(value.task) if isinstance(value, Add) else advanced_after_close()
        )

    def refused(self, asked: _Op) -> Violation | None:
        """Return the violation by a call that was refused as closed, if nobody had called close."""
        self._tests(TimerClause.REFUSES_ONLY_AFTER_CLOSE)
        if isinstance(asked.value, Add | AdvanceClock):
            self._is_tested(asked)
        return None if self._has_begun else refused_while_open(asked.f)

    def ran(self, task: Task) -> Violation | None:
        """Return the violation by a task that ran, if it waited when a close had returned."""
        if not task.waited_at_close or not self._tests(TimerClause.REFUSES_AFTER_CLOSE):
            return None
        return ran_after_close(task.name)

    def _is_tested(self, asked: _Op) -> bool:
        """Tell whether a call had to be refused, and count the clause as tested."""
        return self.is_too_late_for(asked) and self._tests(TimerClause.REFUSES_AFTER_CLOSE)
