"""Linearizability of a recorded history: does some order of effects explain every answer?

An operation takes effect at one moment of the closed interval from its invocation to its return.
The search is that of J. Wing and C. Gong ("Testing and Verifying Concurrent Objects", JPDC 1993)
with G. Lowe's memory of what has been tried ("Testing for Linearizability", CPSP 2017): the set of
operations taken and what the model then holds. Objects are judged one by one, which is enough
(M. Herlihy and J. Wing, "Linearizability", TOPLAS 1990). Instead of one state of the model its
SET of possible states is carried along, so a model may leave a choice open.

An operation that never returned, or of which nobody knows whether it did anything, may take effect
at any time after its invocation, or never. An operation that waits for others takes effect twice:
its request, which gives it its place among those who wait, and its follow-up, which answers.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Generic, TypeVar

from wheelproof_spec.base.results.verdicts import Verdict, overall
from wheelproof_spec.engines.history.linearizability_calls import (
    UNKNOWN,
    Call,
    Event,
    MalformedHistoryError,
    Unknown,
    calls_of,
)

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")

__all__ = [
    "Explanation",
    "Judgement",
    "MalformedHistoryError",
    "Model",
    "check_history",
]


class Model(ABC, Generic[State, Op, Res]):
    """A sequential specification; its states are hashable values and never change.

    Most models define `initial_state` and `step` alone.
    """

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state before the first operation."""

    @abstractmethod
    def step(self, state: State, operation: Op, result: Res | Unknown) -> Iterable[State]:
        """Return every state after `operation`, if it may answer `result` in `state`; else nothing.

        UNKNOWN stands for any answer.
        """

    def object_of(self, operation: Op) -> Hashable:
        """Return which object it is an operation of; operations of different ones share nothing."""
        del operation
        return None

    def waits(self, operation: Op) -> bool:
        """Tell whether `operation` is a request and a follow-up rather than one step."""
        del operation
        return False

    def request(self, state: State, operation: Op, ticket: int) -> Iterable[State]:
        """Return every state after the request, which `ticket` tells from all other ones."""
        raise NotImplementedError(f"{operation!r} waits, but the model knows no requests")

    def follow_up(
        self, state: State, operation: Op, ticket: int, result: Res | Unknown
    ) -> Iterable[State]:
        """Return every state after the answer to a request; nothing if it may not be `result`."""
        raise NotImplementedError(f"{operation!r} waits, but the model knows no requests")


class Effect(Enum):
    """Which effect of a call an order lists."""

    WHOLE = ""
    REQUEST = "request of "
    FOLLOW_UP = "answer to "


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Generic[Op, Res]):
    """One effect in a linearization."""

    call: Call[Op, Res]
    effect: Effect

    def __str__(self) -> str:
        return f"{self.effect.value}{self.call}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Generic[Op, Res]):
    """Why a history is not linearizable.

    The first `prefix` events of the history are, in the order `order` for example, which leads to
    one of `states`; the next one, the return of `call`, is what no order explains.
    """

    object: Hashable
    prefix: int
    order: tuple[Moment[Op, Res], ...]
    states: tuple[Hashable, ...]
    call: Call[Op, Res]

    def __str__(self) -> str:
        where = "" if self.object is None else f" of {self.object}"
        before = ", ".join(map(str, self.order)) or "nothing"
        states = " or ".join(map(repr, self.states))
        return (
            f"the first {self.prefix} events{where} are linearizable, for example as {before}, "
            f"which gives {states}; no order explains that then {self.call}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Generic[Op, Res]):
    """The result of a check: PASS, FAIL, or INCONCLUSIVE if the bound was hit.

    `orders` has a linearization for each object that passes, `explanation` is for the first that
    fails, and `configurations` counts what was tried.
    """

    verdict: Verdict
    orders: Mapping[Hashable, tuple[Moment[Op, Res], ...]]
    explanation: Explanation[Op, Res] | None
    configurations: int


def check_history(
    model: Model[State, Op, Res],
    events: Sequence[Event[Op, Res]],
    *,
    max_configurations: int | None = None,
) -> Judgement[Op, Res]:
    """Judge a history, whose events are in the order in which they happened.

    With `max_configurations` the search gives up after that many (None: never). Raises
    MalformedHistoryError for events that no program can have recorded.
    """
    parts: dict[Hashable, list[Call[Op, Res]]] = {}
    for call in calls_of(events):
        parts.setdefault(model.object_of(call.operation), []).append(call)
    orders: dict[Hashable, tuple[Moment[Op, Res], ...]] = {}
    explanation: Explanation[Op, Res] | None = None
    verdicts = [Verdict.PASS]
    tried = 0
    for name, calls in parts.items():
        left = None if max_configurations is None else max_configurations - tried
        search = _Search(model, calls, left)
        verdicts.append(search.run())
        tried += search.tried
        match verdicts[-1]:
            case Verdict.PASS:
                orders[name] = search.order()
            case Verdict.FAIL:
                explanation = _explain(model, name, calls, max_configurations)
                break
            case _:
                pass
    return Judgement(
        verdict=overall(verdicts),
        orders=orders,
        explanation=explanation,
        configurations=tried,
    )


def _explain(
    model: Model[State, Op, Res],
    name: Hashable,
    calls: Sequence[Call[Op, Res]],
    limit: int | None,
) -> Explanation[Op, Res]:
    """Find the first return that makes the history impossible: more events never mend it."""
    returning = {call.returned: call for call in calls if call.returned is not None}
    returns = sorted(returning)
    possible, impossible = 0, len(returns) - 1
    while possible < impossible:
        middle = (possible + impossible) // 2
        search = _Search(model, _first(calls, returns[middle] + 1), limit)
        if search.run() is Verdict.PASS:
            possible = middle + 1
        else:
            impossible = middle
    prefix = returns[impossible]
    search = _Search(model, _first(calls, prefix), limit)
    search.run()
    return Explanation(
        object=name,
        prefix=prefix,
        order=search.order(),
        states=tuple(sorted(search.states(), key=repr)),
        call=returning[prefix],
    )


def _first(calls: Sequence[Call[Op, Res]], events: int) -> list[Call[Op, Res]]:
    """Return the calls as they are known after so many events of the history."""
    return [
        call
        if call.returned is None or call.returned < events
        else replace(call, returned=None, result=UNKNOWN)
        for call in calls
        if call.invoked < events
    ]


_NEVER: Final = float("inf")


@dataclass(slots=True)
class _Frame(Generic[State]):
    """A configuration of the search, and the calls that it has not yet tried to go on with.

    `taken` has two bits for each call: one for its first effect, both for its last.
    """

    taken: int
    states: frozenset[State]
    untried: list[int]
    chosen: int = -1


class _Search(Generic[State, Op, Res]):
    """The search over the calls of one object."""

    def __init__(
        self, model: Model[State, Op, Res], calls: Sequence[Call[Op, Res]], limit: int | None
    ) -> None:
        self._model = model
        self._calls = calls
        self._waits = [model.waits(call.operation) for call in calls]
        self._limit = limit
        self._left = sum(call.returned is not None for call in calls)
        self._stack: list[_Frame[State]] = []
        # The calls that have not taken their last effect, in the order of their invocations, as a
        # list linked both ways: taking one out and putting it back costs the same everywhere.
        self._next = [*range(1, len(calls) + 1), 0]
        self._previous = [len(calls), *range(len(calls))]
        self.tried = 0

    def run(self) -> Verdict:
        """Search; if it passes, `order` and `states` say how."""
        seen: set[tuple[int, frozenset[State]]] = set()
        self._push(0, frozenset({self._model.initial_state()}))
        while self._left:
            if self._limit is not None and self.tried >= self._limit:
                return Verdict.INCONCLUSIVE
            frame = self._stack[-1]
            if frame.untried:
                call = frame.untried.pop(0)
                configuration = self._after(frame, call)
                if configuration is not None and configuration not in seen:
                    seen.add(configuration)
                    self._take(frame, call)
                    self._push(*configuration)
                continue
            self._stack.pop()
            if not self._stack:
                return Verdict.FAIL
            self._undo(self._stack[-1])
        return Verdict.PASS

    def order(self) -> tuple[Moment[Op, Res], ...]:
        """Return the effects in the order that the search has reached."""
        return tuple(self._moment(frame) for frame in self._stack if frame.chosen >= 0)

    def states(self) -> frozenset[State]:
        """Return what the model may hold after that order."""
        return self._stack[-1].states

    def _push(self, taken: int, states: frozenset[State]) -> None:
        self.tried += 1
        self._stack.append(_Frame(taken, states, self._open_calls()))

    def _open_calls(self) -> list[int]:
        """Return the calls that may take effect next: all that nobody has to wait for.

        Those who have to return first come first, those who never do last.
        """
        calls, end = self._calls, len(self._calls)
        first_return = _NEVER
        found: list[tuple[float, int]] = []
        number = self._next[end]
        while number != end and calls[number].invoked < first_return:
            returned = calls[number].returned
            limit = _NEVER if returned is None else returned
            first_return = min(first_return, limit)
            found.append((limit, number))
            number = self._next[number]
        return [number for _, number in sorted(found)]

    def _after(self, frame: _Frame[State], number: int) -> tuple[int, frozenset[State]] | None:
        model, call = self._model, self._calls[number]
        bit = 1 << 2 * number
        following: set[State] = set()
        for state in frame.states:
            if not self._waits[number]:
                following.update(model.step(state, call.operation, call.result))
            elif frame.taken & bit:
                following.update(model.follow_up(state, call.operation, call.number, call.result))
            else:
                following.update(model.request(state, call.operation, call.number))
        if not following:
            return None
        mask = bit if self._is_first_of_two(frame, number) else 3 * bit
        return frame.taken | mask, frozenset(following)

    def _is_first_of_two(self, frame: _Frame[State], number: int) -> bool:
        return self._waits[number] and not frame.taken >> 2 * number & 1

    def _take(self, frame: _Frame[State], number: int) -> None:
        frame.chosen = number
        if not self._is_first_of_two(frame, number):
            self._next[self._previous[number]] = self._next[number]
            self._previous[self._next[number]] = self._previous[number]
            self._left -= self._calls[number].returned is not None

    def _undo(self, frame: _Frame[State]) -> None:
        number, frame.chosen = frame.chosen, -1
        if not self._is_first_of_two(frame, number):
            self._next[self._previous[number]] = number
            self._previous[self._next[number]] = number
            self._left += self._calls[number].returned is not None

    def _moment(self, frame: _Frame[State]) -> Moment[Op, Res]:
        number = frame.chosen
        effect = Effect.WHOLE
        if self._waits[number]:
            first = self._is_first_of_two(frame, number)
            effect = Effect.REQUEST if first else Effect.FOLLOW_UP
        return Moment(call=self._calls[number], effect=effect)
