"""The sequential specification of a purgatory: its operations, and effects with guards.

`LedgerPurgatory` is the one place that says what the calls of a purgatory mean. Each effect is a
method; where an outcome may be wrong, a guard names the clause that it breaks. DelayedOperation.tla
has the same effects: Submit, MakeTrue, Complete, Expire, Cancel, Answer, Notify. It has three uses:

- `oracle` judges driven cases. It makes all effects of a call before the next call. Then no
  operation is owed any more.
- `history.search` looks for a linearization of calls that overlap: there the effects of the calls
  take turns.
- The laboratory compares its states, and the effects between them, with those that TLC finds in
  DelayedOperation.tla (its verb `graph`).

A call that may complete operations begins and ends. When it begins, it finds operations. Those
whose predicate holds are *owed*: they have to end before all calls have ended. An operation that is
handed in is found for certain once it is watched.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from enum import Enum
from typing import NamedTuple, Self

from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.component import (
    CheckAndComplete,
    Checked,
    Completed,
    Condition,
    ForceComplete,
    Key,
    OperationId,
    PurgatoryClause,
    TryCompleteElseWatch,
)

CompletingCall = TryCompleteElseWatch | CheckAndComplete | ForceComplete
"""A call that may complete operations: it begins and ends."""


class Outcome(Enum):
    """How an operation has ended."""

    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class Pending(NamedTuple):
    """An operation that was handed in and has not ended."""

    keys: tuple[Key, ...]
    """The keys under which calls find it."""
    conditions: tuple[Condition, ...]
    due_ms: int | None = None
    """When its time is out, in milliseconds; None if it has no time-out."""
    watched: bool = False
    """Whether it is surely in the list of each key."""


class _Ended(NamedTuple):
    outcome: Outcome
    answered: bool = False
    """Whether on_complete has run."""
    notified: bool = False
    """Whether on_expiration has run."""


class _Call(NamedTuple):
    call: CompletingCall
    completed: frozenset[OperationId] = frozenset()


class LedgerPurgatory:
    """A purgatory on which every effect is instantaneous. The clock moves only by `move_clock`."""

    # The search for a linearization makes many copies, and slots make these quick.
    __slots__ = ("_calls", "_ended", "_now_ms", "_owed", "_pending", "_tally", "_true")

    def __init__(self, *, start_ms: int = 0, tally: Tally | None = None) -> None:
        """Make a purgatory without operations, whose clock shows `start_ms` milliseconds.

        `tally` counts the tested clauses; its known limits are not judged.
        """
        self._tally = tally or Tally()
        self._now_ms = start_ms
        self._true: frozenset[Condition] = frozenset()
        self._pending: dict[OperationId, Pending] = {}
        """The operations that have not ended, in the order in which they were handed in."""
        self._ended: dict[OperationId, _Ended] = {}
        self._calls: dict[int, _Call] = {}
        """The calls under way, by number."""
        self._owed: tuple[OperationId, ...] = ()
        """The pending operations that calls have found and have to end."""

    def copy(self) -> Self:
        """Return a purgatory in the same state."""
        other = object.__new__(type(self))
        other._tally, other._now_ms, other._true = self._tally, self._now_ms, self._true
        other._pending, other._ended = self._pending.copy(), self._ended.copy()
        other._calls, other._owed = self._calls.copy(), self._owed
        return other

    def key(self) -> Hashable:
        """Return what two purgatories have in common if no effect can tell them apart."""
        operations = frozenset(self._pending.items()), frozenset(self._ended.items())
        calls = frozenset([(number, call.completed) for number, call in self._calls.items()])
        return self._now_ms, self._true, operations, calls, frozenset(self._owed)

    def __str__(self) -> str:
        ended = [f"{name} {one.outcome.value}" for name, one in sorted(self._ended.items())]
        return f"[{', '.join([*(f'{name} pending' for name in sorted(self._pending)), *ended])}]"

    @property
    def now_ms(self) -> int:
        """The time that the purgatory's clock shows, in milliseconds."""
        return self._now_ms

    @property
    def pending(self) -> Mapping[OperationId, Pending]:
        """The operations that have not ended, in the order in which they were handed in."""
        return self._pending

    @property
    def true(self) -> frozenset[Condition]:
        """The conditions that are true."""
        return self._true

    @property
    def owed(self) -> tuple[OperationId, ...]:
        """The pending operations that calls have found and have to end, in the order of trying."""
        return self._owed

    def outcome(self, name: OperationId) -> Outcome | None:
        """Return how an operation has ended, if it has."""
        ended = self._ended.get(name)
        return None if ended is None else ended.outcome

    def waiting(self, key: Key) -> list[OperationId]:
        """Return the operations that a call for this key surely finds, the first watched first."""
        return [name for name, one in self._pending.items() if one.watched and key in one.keys]

    def holds(self, name: OperationId) -> bool:
        """Tell whether a pending operation can end."""
        return not self._true.isdisjoint(self._pending[name].conditions)

    # Effects that are always right

    def hand_in(self, name: OperationId, operation: Pending) -> None:
        """Hand in a new operation (Submit); one that was forced before that has ended already."""
        if name not in self._ended:
            self._pending[name] = operation

    def make_true(self, condition: Condition) -> None:
        """Make a condition true, for good; nothing is triggered (MakeTrue)."""
        self._true |= {condition}

    def watch(self, name: OperationId) -> None:
        """Let an operation be in the list of each key; then it is tried once more (2.4)."""
        one = self._pending.get(name)
        if one is not None and not one.watched:
            self._pending[name] = one._replace(watched=True)
            self._owe([name] if self.holds(name) else [])

    def move_clock(self, to_ms: int) -> None:
        """Move the clock to `to_ms` milliseconds; it never goes back."""
        self._now_ms = max(self._now_ms, to_ms)

    def begin(self, number: int, call: CompletingCall) -> None:
        """Let a call begin; it owes the operations that it finds and that can end (2.4 - 2.6)."""
        self._calls[number] = _Call(call)
        match call:
            case TryCompleteElseWatch(operation=name):
                self._owe([name] if name in self._pending and self.holds(name) else [])
            case CheckAndComplete(key=key):
                self._owe([name for name in self.waiting(key) if self.holds(name)])
            case ForceComplete(operation=name):
                self._owe([name] if name in self._pending else [])

    def owe_cancels(self, key: Key) -> None:
        """Let cancel_for_key find whoever waits: it has to be cancelled, or to end otherwise."""
        self._owe(self.waiting(key))

    def give_up(self, key: Key) -> None:
        """Cancel the time-outs of whoever waits for a key, as Kafka does (2.9)."""
        for name in self.waiting(key):
            one = self._pending[name]
            left = tuple(other for other in one.keys if other != key)
            self._pending[name] = one._replace(keys=left, due_ms=None)

    def _owe(self, names: Iterable[OperationId]) -> None:
        self._owed += tuple(name for name in names if name not in self._owed)

    # Effects with guards

    def forbids_end(self, name: OperationId) -> PurgatoryClause | None:
        """Return the clause that any end of an operation breaks, if so: it ends once (2.1)."""
        return None if name in self._pending else PurgatoryClause.COMPLETES_AT_MOST_ONCE

    def able(self, name: OperationId) -> list[int]:
        """Return the calls under way that may complete an operation."""
        return [number for number, under_way in self._calls.items() if self._can(under_way, name)]

    def _can(self, under_way: _Call, name: OperationId) -> bool:
        match under_way.call:
            case ForceComplete(operation=forced):
                # Its caller may force it before it is handed in.
                return forced == name and name not in self._ended
            case TryCompleteElseWatch(operation=tried):
                return tried == name and name in self._pending and self.holds(name)
            case CheckAndComplete(key=key):
                one = self._pending.get(name)
                return one is not None and key in one.keys and self.holds(name)

    def complete(self, name: OperationId, number: int) -> Violation | None:
        """Let a call under way complete an operation (Complete)."""
        under_way = self._calls[number]
        if not self._can(under_way, name):
            clause = self.forbids_end(name) or PurgatoryClause.COMPLETES_FOR_A_REASON
            call = under_way.call.name_on_the_wire()
            why = f"{call} completed {name}, which it may not complete (standard {clause.rule})"
            return clause.broken(f"{name} is not completed", f"{name} was completed", why)
        self._calls[number] = under_way._replace(completed=under_way.completed | {name})
        self._end(name, Outcome.COMPLETED)
        return None

    def expire(self, name: OperationId, last: Pending | None = None) -> Violation | None:
        """Let an operation expire, after `last` if one call lets both expire (Expire)."""
        one = self._pending.get(name)
        if self._tally.tests(PurgatoryClause.EXPIRES_IN_TIME):
            violation = self._in_time(name, one, last)
            if violation is not None:
                return violation
        clause = self.forbids_end(name)
        if clause is not None:
            why = f"{name} expired, but had ended before (standard {clause.rule})"
            return clause.broken(f"{name} does not expire", f"{name} expired", why)
        self._end(name, Outcome.EXPIRED)
        return None

    def _in_time(
        self, name: OperationId, one: Pending | None, last: Pending | None
    ) -> Violation | None:
        clause = PurgatoryClause.EXPIRES_IN_TIME
        if one is None or one.due_ms is None:
            observed, reason = f"{name} expired", f"{name} expired, but has no time-out any more"
            return clause.broken("only operations with a time-out expire", observed, reason)
        if one.due_ms > self._now_ms:
            expected, observed = f"{name} expires at {one.due_ms} ms", f"{name} expired"
            why = f"{name} expired at {self._now_ms} ms, but is due at {one.due_ms} ms"
            return clause.broken(expected, observed, why)
        if last is None or last.due_ms is None or last.due_ms <= one.due_ms:
            return None
        return clause.broken(
            "time-outs expire in the order of their due times",
            f"{name} expired later",
            f"{name}, due at {one.due_ms} ms, expired after one that is due at {last.due_ms} ms "
            "(standard 1.9)",
        )

    def cancel(self, name: OperationId) -> Violation | None:
        """Cancel an operation: it never completes (Cancel)."""
        if name not in self._pending:
            return PurgatoryClause.CANCELS_WHO_WAITS.broken(
                f"{name} is not cancelled",
                f"{name} was cancelled",
                f"{name} was cancelled, but was not waiting",
            )
        self._end(name, Outcome.CANCELLED)
        return None

    def _end(self, name: OperationId, outcome: Outcome) -> None:
        self._pending.pop(name, None)
        self._ended[name] = _Ended(outcome)
        if name in self._owed:
            self._owed = tuple(other for other in self._owed if other != name)

    def answer(self, name: OperationId) -> Violation | None:
        """Let the on_complete of an operation run (Answer)."""
        ended = self._ended.get(name)
        if ended is not None and not ended.answered and ended.outcome is not Outcome.CANCELLED:
            self._ended[name] = ended._replace(answered=True)
            return None
        return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(
            f"the on_complete of {name} does not run",
            f"the on_complete of {name} ran",
            f"the on_complete of {name} ran, but it had run already, or {name} had not ended",
        )

    def notify(self, name: OperationId) -> bool:
        """Let the on_expiration of an operation run; return whether it may (Notify, 2.2)."""
        ended = self._ended.get(name)
        if ended is None or ended.outcome is not Outcome.EXPIRED:
            return False
        if ended.notified or not ended.answered:
            return False
        self._ended[name] = ended._replace(notified=True)
        return True

    def end(self, number: int, answer: Completed | Checked | None) -> Violation | None:
        """Let a call end with this answer; None stands for any answer."""
        call, mine = self._calls.pop(number)
        if isinstance(call, TryCompleteElseWatch):
            self.watch(call.operation)
        if answer is None:
            return None
        wrong = self._judge_answer(call, mine, answer)
        if wrong is not None or all(self._ended[name].answered for name in mine):
            return wrong
        return PurgatoryClause.COMPLETES_AT_MOST_ONCE.broken(
            f"on_complete has run when {call.name_on_the_wire()} returns",
            "on_complete has not run",
            f"{call.name_on_the_wire()} returned before the on_complete of {', '.join(mine)} ran",
        )

    def _judge_answer(
        self, call: CompletingCall, mine: Collection[OperationId], answer: Completed | Checked
    ) -> Violation | None:
        if isinstance(answer, Checked):
            count, clause = answer.count, PurgatoryClause.COUNTS_COMPLETED
            if count is None or not self._tally.tests(clause) or count == len(mine):
                return None
            completed = ", ".join(sorted(mine)) or "nothing"
            why = f"check_and_complete returned {count}, but the call completed {completed}"
            return clause.broken(f"count: {len(mine)}", f"count: {count}", why)
        clause = PurgatoryClause.ANSWERS_TRULY
        # Whoever forces in vain comes too late: the operation has ended.
        in_vain = isinstance(call, ForceComplete) and not mine and call.operation not in self._ended
        if not self._tally.tests(clause) or (answer.completed is bool(mine) and not in_vain):
            return None
        told = answer.completed
        name = "its operation" if isinstance(call, CheckAndComplete) else call.operation
        did = (
            f"{name} had not ended"
            if in_vain
            else f"it {'ended' if mine else 'did not end'} {name}"
        )
        why = f"{call.name_on_the_wire()} returned {str(told).lower()}, but {did}"
        return clause.broken(f"completed: {bool(mine) or in_vain}", f"completed: {told}", why)

    # What is still to come

    def overdue(self) -> tuple[OperationId, int] | None:
        """Return who is due, and has not expired, with its due time: the first of them."""
        due = [(one.due_ms, name) for name, one in self._pending.items() if one.due_ms is not None]
        first = min(due, key=lambda one: one[0], default=None)
        return None if first is None or first[0] > self._now_ms else (first[1], first[0])
