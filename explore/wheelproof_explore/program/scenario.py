"""A scenario: the threads of one run, its invariants, and the check at its end."""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from wheelproof_explore.failures.problems import SilentActionError
from wheelproof_explore.program.properties import LeadsTo, Predicate, Wakes

Action = Callable[[], None]
Body = Action | Sequence[Action]
"""The work of a thread: one action, or a sequence of actions that can be left out one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A condition that holds between any two steps.

    `look` raises if it does not hold; it may read `cells` and no other shared state. The look is a
    step of a thread of its own, which reads all cells at once, so that no reduction can hide it.
    """

    name: str
    cells: Sequence[object]
    look: Action


class CheckedHistory(Protocol):
    """A record of public operations; see `public_operations.PublicOperations`."""

    def check(self) -> None:
        """Raise NotLinearizableError if the history has no linearization."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One run: what each thread does, what holds all the time and what holds at the end.

    `check` raises if the end is wrong; it is called when all threads have ended. A thread that is
    given as a list of operations may do without some of them: from a counterexample, those that it
    does not need are left out.

    Graph mode alone checks `leads_to`, `wakes`, and that each of `sometimes` holds in some state.
    """

    threads: Mapping[str, Body]
    check: Action | None = None
    invariants: Sequence[Invariant] = ()
    history: CheckedHistory | None = None
    sometimes: Mapping[str, Predicate] = field(default_factory=dict[str, Predicate])
    leads_to: Sequence[LeadsTo] = ()
    wakes: Sequence[Wakes] = ()

    def operations(self) -> tuple[tuple[str, int], ...]:
        """Return all operations that can be left out: a thread's name and a place in its list."""
        return tuple(
            (name, place)
            for name, body in self.threads.items()
            if not callable(body)
            for place in range(len(body))
        )

    def bodies(self, without: frozenset[int]) -> dict[str, Action]:
        """Return the action of each thread without the operations of these numbers.

        A thread without any operation left is omitted.
        """
        left_out = {
            operation for number, operation in enumerate(self.operations()) if number in without
        }
        bodies: dict[str, Action] = {}
        for name, body in self.threads.items():
            kept = (
                [body]
                if callable(body)
                else [action for place, action in enumerate(body) if (name, place) not in left_out]
            )
            if kept:
                bodies[name] = partial(_in_turn, kept)
        return bodies


def raises_if_wrong(check: Callable[[], object]) -> None:
    """Call a check; raises SilentActionError if it returns False, because a check has to raise."""
    if _result_of(check) is False:
        raise SilentActionError(check, "answers False, and a check has to raise")


def _in_turn(actions: Sequence[Action]) -> None:
    for action in actions:
        _result_of(action)


def _result_of(action: Callable[[], object]) -> object:
    result = action()
    if result is not None and isinstance(result, Awaitable | Generator):
        raise SilentActionError(
            action, "is a coroutine or a generator, so that a call does nothing"
        )
    return result
