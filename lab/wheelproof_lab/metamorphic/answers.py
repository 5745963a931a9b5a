"""Driven cases with a faulty answer, to see which clause the judge of driven calls names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Protocol, cast

from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import CaseJudge, RefusedError, UnjudgeableError, judge_outcome
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import JsonObject, MalformedError

Outcome = JsonObject | RefusedError
"""A driver's answer to a call, or its refusal."""

_REFUSAL = RefusedError("IllegalArgument", "faulty")


class Answers(Protocol):
    """A function from operation and fields to the fields of the answer; see `ServedComponent`."""

    def __call__(self, operation: str, fields: JsonObject, /) -> JsonObject:
        """Return the answer; raises RefusedError."""
        ...


class DrivenCase:
    """A case with the reference's answer to each of its calls."""

    def __init__(
        self, wire: DrivenWire[Request, object], calls: Sequence[Request], answer: Answers
    ) -> None:
        """Make the calls."""
        self._wire = wire
        self._calls = calls
        self._outcomes: list[Outcome] = []
        for call in calls:
            try:
                self._outcomes.append(answer(call.name_on_the_wire(), dict(call.fields())))
            except RefusedError as refusal:
                self._outcomes.append(refusal)

    def judged(self, judge: CaseJudge[Request, object]) -> Violation | None:
        """Return the violation in the answers of the reference."""
        return self._judged(judge, self._outcomes)

    def faults(self, dice: Random) -> Iterator[Mapping[int, Outcome]]:
        """Yield every fault of one answer, or two consecutive answers."""
        words = self._words()
        for place, outcome in enumerate(self._outcomes):
            for other in _faulty(outcome, words, dice):
                yield {place: other}
        for place, (one, other) in enumerate(pairwise(self._outcomes)):
            if not isinstance(one, RefusedError) and not isinstance(other, RefusedError):
                for pair in (_moved(other, one)[::-1], _moved(one, other)):
                    yield dict(enumerate(pair, start=place))

    def violation(
        self, judge: CaseJudge[Request, object], fault: Mapping[int, Outcome]
    ) -> Violation | None:
        """Return the violation in the case with some answers replaced; `judge` is a new judge."""
        outcomes = (fault.get(place, outcome) for place, outcome in enumerate(self._outcomes))
        return self._judged(judge, outcomes)

    def _judged(
        self, judge: CaseJudge[Request, object], outcomes: Iterable[Outcome]
    ) -> Violation | None:
        for call, outcome in zip(self._calls, outcomes, strict=True):
            if judge.as_possible(call) != call:
                # From here on the driver would get other calls, and its answers are not known.
                return None
            try:
                seen = (
                    outcome
                    if isinstance(outcome, RefusedError)
                    else self._wire.parse_answer(outcome, call)
                )
                violation = judge_outcome(judge, call, seen)
            except (MalformedError, UnjudgeableError):
                # This is not a valid answer: the driver fails, not the component.
                return None
            if violation is not None:
                return violation
        return None

    def _words(self) -> list[str]:
        """Return the strings of all answers, to be used as other names and outcomes."""
        found = {word for outcome in self._outcomes for word in _strings_of(outcome)}
        return sorted(found) or ["nobody"]


def _strings_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast(list[object], value):
            yield from _strings_of(item)
    elif isinstance(value, Mapping):
        for key, item in cast(Mapping[str, object], value).items():
            yield from (key, *_strings_of(item))


def _moved(source: JsonObject, target: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return two answers after all events of `source` have moved to `target`: sooner or later.

    Events are reported in lists, and in mappings by name.
    """
    left, more = dict(source), dict(target)
    for name, value in source.items():
        there = target.get(name)
        if isinstance(value, list) and isinstance(there, list | None):
            left[name] = []
            more[name] = [*cast(list[object], there or []), *cast(list[object], value)]
        elif isinstance(value, Mapping) and isinstance(there, Mapping | None):
            left[name] = {}
            more[name] = {**cast(JsonObject, there or {}), **cast(JsonObject, value)}
    return left, more


def _faulty(outcome: Outcome, words: Sequence[str], dice: Random) -> Iterator[Outcome]:
    if isinstance(outcome, RefusedError):
        yield {}
        return
    yield _REFUSAL
    for name, value in outcome.items():
        for other in _others(value, words, dice):
            yield {**outcome, name: other}


def _others(value: object, words: Sequence[str], dice: Random) -> Iterator[object]:
    """Yield different values of the same kind."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, max(value - 1, 0), 10 * value + 7)
    elif isinstance(value, str):
        yield dice.choice(words)
    elif isinstance(value, list):
        items = cast(list[object], value)
        yield from ([*items, *items], items[::-1], items[1:], items[:-1])
        yield [*items, dice.choice(words)]
        for place, item in enumerate(items):
            for other in _others(item, words, dice):
                yield [*items[:place], other, *items[place + 1 :]]
    elif isinstance(value, Mapping):
        fields = cast(Mapping[str, object], value)
        yield {dice.choice(words): item for item in fields.values()}
        yield {**fields, dice.choice(words): dice.choice(words)}
        for name, item in fields.items():
            yield {key: kept for key, kept in fields.items() if key != name}
            for other in _others(item, words, dice):
                yield {**fields, name: other}
