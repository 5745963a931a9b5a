"""Histories for the tests of the linearizability check, and a checker that tries everything."""

import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeVar

from wheelproof_spec.history.linearizability.calls import (
    Call,
    Event,
    Invoked,
    Lost,
    Returned,
    Unknown,
    calls_of,
)
from wheelproof_spec.history.linearizability.check import Model
from wheelproof_spec.history.linearizability.interleaved import Interleaved

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")


@dataclass(frozen=True, slots=True)
class Take:
    """Waits its turn, first come, first served, for a permit; answers how many are left."""


@dataclass(frozen=True, slots=True)
class Give:
    """Gives a permit back; answers None."""


_Line = tuple[int, tuple[int, ...]]


class Permits(Model[_Line, Take | Give, int | None]):
    """A fair semaphore: the state is the number of permits and the line of those who wait."""

    def initial_state(self) -> _Line:
        return 1, ()

    def step(
        self, state: _Line, operation: Take | Give, result: int | Unknown | None
    ) -> Iterable[_Line]:
        assert isinstance(operation, Give)
        return [(state[0] + 1, state[1])] if result is None or isinstance(result, Unknown) else []

    def waits(self, operation: Take | Give) -> bool:
        return isinstance(operation, Take)

    def request(self, state: _Line, operation: Take | Give, ticket: int) -> Iterable[_Line]:
        assert isinstance(operation, Take)
        return [(state[0], (*state[1], ticket))]

    def follow_up(
        self, state: _Line, operation: Take | Give, ticket: int, result: int | Unknown | None
    ) -> Iterable[_Line]:
        assert isinstance(operation, Take)
        permits, line = state
        if not permits or line[0] != ticket or not (result == permits - 1 or _unknown(result)):
            return []
        return [(permits - 1, line[1:])]


class _Semaphore:
    """The same semaphore, as an object that changes."""

    def __init__(self, permits: int, line: Sequence[int]) -> None:
        self.permits = permits
        self.line = list(line)

    def copy(self) -> "_Semaphore":
        return _Semaphore(self.permits, self.line)

    def key(self) -> Hashable:
        return self.permits, tuple(self.line)


class PermitsInPlace(Interleaved[_Semaphore, Take | Give, int | None]):
    """The model of that object."""

    def __init__(self) -> None:
        super().__init__(_Semaphore(1, ()))

    def waits(self, operation: Take | Give) -> bool:
        return isinstance(operation, Take)

    def effect(
        self, spec: _Semaphore, operation: Take | Give, result: int | Unknown | None
    ) -> Iterable[_Semaphore]:
        assert isinstance(operation, Give)
        spec.permits += 1
        return [spec] if result is None or _unknown(result) else []

    def first_effect(
        self, spec: _Semaphore, operation: Take | Give, ticket: int
    ) -> Iterable[_Semaphore]:
        assert isinstance(operation, Take)
        spec.line.append(ticket)
        return [spec]

    def last_effect(
        self, spec: _Semaphore, operation: Take | Give, ticket: int, result: int | Unknown | None
    ) -> Iterable[_Semaphore]:
        assert isinstance(operation, Take)
        if spec.line.pop(0) != ticket or not spec.permits:
            return []
        spec.permits -= 1
        return [spec] if result == spec.permits or _unknown(result) else []


def _unknown(result: object) -> bool:
    return isinstance(result, Unknown)


def random_history(
    draws: random.Random, operations: Sequence[Op], results: Sequence[Res], most: int
) -> list[Event[Op, Res]]:
    """Return a history of up to `most` calls in which anything is answered."""
    events: list[Event[Op, Res]] = []
    under_way: list[str] = []
    left = draws.randint(1, most)
    number = 0
    while left or under_way:
        if left and (not under_way or draws.random() < 0.5):
            number += 1
            left -= 1
            under_way.append(f"p{number}")
            events.append(Invoked(f"p{number}", draws.choice(operations)))
            continue
        process = under_way.pop(draws.randrange(len(under_way)))
        lost = draws.random() < 0.15
        events.append(Lost(process) if lost else Returned(process, draws.choice(results)))
    return events


def is_linearizable(model: Model[State, Op, Res], events: Sequence[Event[Op, Res]]) -> bool:
    """Try every subset of the open calls, and every order of all effects."""
    calls = list(calls_of(events))
    open_calls = [call for call in calls if call.returned is None]
    closed = [
        effect for call in calls if call.returned is not None for effect in _effects(model, call)
    ]
    chosen: list[list[tuple[Call[Op, Res], str]]] = [closed]
    for call in open_calls:
        effects = _effects(model, call)
        chosen = [[*some, *effects[:count]] for some in chosen for count in range(len(effects) + 1)]
    return any(
        _explains(model, order)
        for some in chosen
        for order in permutations(some)
        if _in_real_time(order)
    )


def longest_prefix(model: Model[State, Op, Res], events: Sequence[Event[Op, Res]]) -> int:
    """Return how many of the first events are linearizable."""
    return max(k for k in range(len(events) + 1) if is_linearizable(model, events[:k]))


def _effects(model: Model[State, Op, Res], call: Call[Op, Res]) -> list[tuple[Call[Op, Res], str]]:
    if model.waits(call.operation):
        return [(call, "request"), (call, "follow-up")]
    return [(call, "whole")]


def _in_real_time(order: Sequence[tuple[Call[Op, Res], str]]) -> bool:
    for place, (later, effect) in enumerate(order):
        for earlier, other in order[:place]:
            if later.returned is not None and later.returned < earlier.invoked:
                return False
            if earlier.number == later.number and (other, effect) == ("follow-up", "request"):
                return False
    return True


def _explains(model: Model[State, Op, Res], order: Sequence[tuple[Call[Op, Res], str]]) -> bool:
    states = {model.initial_state()}
    for call, effect in order:
        after: set[State] = set()
        for state in states:
            if effect == "whole":
                after.update(model.step(state, call.operation, call.result))
            elif effect == "request":
                after.update(model.request(state, call.operation, call.number))
            else:
                after.update(model.follow_up(state, call.operation, call.number, call.result))
        states = after
    return bool(states)
