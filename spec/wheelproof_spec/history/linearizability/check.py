"""Linearizability of a recorded history: does some order of effects explain every answer?

An operation takes effect at one moment of the closed interval from its invocation to its return.
Each object is judged by itself, which is enough (M. Herlihy and J. Wing, "Linearizability", TOPLAS
1990). The objects' searches take turns: the first object that fails ends the check. The search
keeps the SET of possible states of the model, not one state, so a model may leave a choice open.

An operation that never returned, or whose effect is not known, may take effect at any time after
its invocation, or never. An operation that waits for others takes effect twice: its request gives
it a place among the waiters, and its follow-up gives the answer.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Generic, TypeVar

from wheelproof_spec.base.results.verdicts import Verdict, overall
from wheelproof_spec.history.linearizability.calls import (
    UNKNOWN,
    Call,
    Event,
    MalformedHistoryError,
    calls_of,
)
from wheelproof_spec.history.linearizability.model import Model, Sequential
from wheelproof_spec.history.linearizability.search import TURN, Search

State = TypeVar("State", bound=Hashable)
Op = TypeVar("Op")
Res = TypeVar("Res")

__all__ = [
    "Explanation",
    "Judgement",
    "MalformedHistoryError",
    "Model",
    "Sequential",
    "check_history",
]

_PATIENCE: Final = 4
"""The limit of each search for an explanation, as a multiple of the search that failed."""
_AT_LEAST: Final = 20_000


class Effect(Enum):
    """The kind of a call's effect in an order."""

    WHOLE = ""
    REQUEST = "request of "
    FOLLOW_UP = "answer to "


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment(Generic[Op, Res]):
    """One effect in a linearization, and the possible states of the object after it."""

    call: Call[Op, Res]
    effect: Effect
    states: tuple[Hashable, ...]

    def __str__(self) -> str:
        return f"{self.effect.value}{self.call}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Generic[Op, Res]):
    """The reason why a history is not linearizable.

    The first `prefix` events of the history are linearizable: the order `order`, for example, leads
    to one of `states`. No order explains the return of `call`. That is event `prefix`, counted from
    0, unless the search for it was cut short. Then it is event `call.returned`, which comes later,
    and it is not known whether the returns in between have an order.
    """

    object: Hashable
    prefix: int
    order: tuple[Moment[Op, Res], ...]
    states: tuple[Hashable, ...]
    call: Call[Op, Res]

    @property
    def is_exact(self) -> bool:
        """Whether the return of `call` is the first one that no order explains."""
        return self.call.returned == self.prefix

    def __str__(self) -> str:
        where = "" if self.object is None else f" of {self.object}"
        before = ", ".join(map(str, self.order[-_SHOWN:])) or "nothing"
        if len(self.order) > _SHOWN:
            before = f"{len(self.order) - _SHOWN} effects and then {before}"
        states = " or ".join(map(_short, self.states))
        later = "" if self.is_exact else "after more events "
        return (
            f"the first {self.prefix} events{where} are linearizable, for example as {before}, "
            f"which gives {states}; no order explains that {later}then {self.call}"
        )


_SHOWN: Final = 12
"""How many effects before the failure the message lists."""


def _short(state: Hashable) -> str:
    text = repr(state)
    return text if len(text) <= 200 else f"{text[:200]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement(Generic[Op, Res]):
    """The result of a check: PASS, FAIL, or INCONCLUSIVE if the bound was hit.

    `explanation` is for the first object that fails, and `configurations` counts the configurations
    that were tried. `linearizations` has one for each object that passes; they are made when they
    are asked for, which few do.
    """

    verdict: Verdict
    make_linearizations: Callable[[], Mapping[Hashable, tuple[Moment[Op, Res], ...]]]
    explanation: Explanation[Op, Res] | None
    configurations: int

    @property
    def linearizations(self) -> Mapping[Hashable, tuple[Moment[Op, Res], ...]]:
        """Return a linearization for each object that passes."""
        return self.make_linearizations()


def check_history(
    model: Model[State, Op, Res],
    events: Sequence[Event[Op, Res]],
    *,
    max_configurations: int | None = None,
) -> Judgement[Op, Res]:
    """Judge a history, whose events are in the order in which they happened.

    With `max_configurations` the search gives up an object after that many (None: never). Raises
    MalformedHistoryError for events that no program can have recorded.
    """
    parts: dict[Hashable, list[Call[Op, Res]]] = {}
    for call in calls_of(events):
        parts.setdefault(model.object_of(call.operation), []).append(call)
    turn = TURN if max_configurations is None else max(1, min(TURN, max_configurations))
    searches = {name: Search(model, calls) for name, calls in parts.items()}
    turns = {name: search.turns(turn) for name, search in searches.items()}
    verdicts = dict.fromkeys(searches, Verdict.INCONCLUSIVE)
    explanation: Explanation[Op, Res] | None = None
    while turns and explanation is None:
        for name in list(turns):
            search = searches[name]
            verdicts[name] = next(turns[name])
            if verdicts[name] is Verdict.FAIL:
                explanation = _explain(model, name, parts[name], search, max_configurations)
                break
            if verdicts[name] is Verdict.PASS or (
                max_configurations is not None and search.tried >= max_configurations
            ):
                del turns[name]
    return Judgement(
        verdict=overall([Verdict.PASS, *verdicts.values()]),
        make_linearizations=lambda: {
            name: _order(searches[name], parts[name])
            for name, verdict in verdicts.items()
            if verdict is Verdict.PASS
        },
        explanation=explanation,
        configurations=sum(search.tried for search in searches.values()),
    )


def _explain(
    model: Model[State, Op, Res],
    name: Hashable,
    calls: Sequence[Call[Op, Res]],
    failed: Search[State, Op, Res],
    limit: int | None,
) -> Explanation[Op, Res]:
    """Find the first return that makes the history impossible; later events cannot repair it.

    The events before the furthest event of the failed search are possible. So the search begins
    there, with steps that double. A search that gives up leaves a gap, but no wrong answer.
    """
    patience = max(_AT_LEAST, _PATIENCE * failed.tried)
    limit = patience if limit is None else min(limit, patience)
    returning = {call.returned: call for call in calls if call.returned is not None}
    returns = sorted(returning)
    # The first `possible` returns have an order; the first `impossible` + 1 have none.
    possible, impossible = returns.index(failed.furthest), len(returns) - 1
    stride, stuck, best = 1, len(returns), failed
    while possible < min(impossible, stuck):
        middle = min(possible + stride, min(impossible, stuck)) - 1
        search = Search(model, _first(calls, returns[middle] + 1))
        verdict = search.run(limit)
        if verdict is Verdict.PASS:
            possible, stride, best = middle + 1, 2 * stride, search
            continue
        stride = max(1, (middle - possible + 1) // 2)
        if verdict is Verdict.FAIL:
            impossible = middle
        else:
            stuck = middle
    prefix = returns[possible]
    order = _order(best, _first(calls, prefix))
    return Explanation(
        object=name,
        prefix=prefix,
        order=order,
        states=order[-1].states if order else (model.initial_state(),),
        call=returning[returns[impossible]],
    )


def _first(calls: Sequence[Call[Op, Res]], events: int) -> list[Call[Op, Res]]:
    """Return the calls as they are known after the first `events` events of the history."""
    return [
        call
        if call.returned is None or call.returned < events
        else replace(call, returned=None, result=UNKNOWN)
        for call in calls
        if call.invoked < events
    ]


def _order(
    search: Search[State, Op, Res], calls: Sequence[Call[Op, Res]]
) -> tuple[Moment[Op, Res], ...]:
    known = {call.number: call for call in calls}
    requested: set[int] = set()
    moments: list[Moment[Op, Res]] = []
    for call, is_last, states in search.order():
        effect = Effect.FOLLOW_UP if call.number in requested else Effect.WHOLE
        if not is_last:
            effect = Effect.REQUEST
            requested.add(call.number)
        after = tuple(sorted(states, key=repr))
        moments.append(Moment(call=known[call.number], effect=effect, states=after))
    return tuple(moments)
