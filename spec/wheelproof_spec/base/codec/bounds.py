"""Bounds that a driver declares in `hello`: the part of the domain that it supports."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import cast

from wheelproof_spec.base.component import Request
from wheelproof_spec.base.strict_json import JsonObject, MalformedError, as_object, integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """The numbers that a field may have: both ends are included; None is no limit."""

    least: int | None = None
    most: int | None = None
    power_of_two: bool = False

    def holds(self, number: int) -> bool:
        """Tell whether a number is inside."""
        if self.power_of_two and (number < 1 or number & (number - 1)):
            return False
        return self.nearest(number) == number

    def nearest(self, number: int) -> int:
        """Return the number inside that replaces `number`: an end, or a smaller power of two."""
        if self.power_of_two:
            number = 1 << (max(number, 1).bit_length() - 1)
        if self.most is not None:
            number = min(number, self.most)
        return number if self.least is None else max(number, self.least)

    def __str__(self) -> str:
        words = [] if self.least is None else [f"at least {self.least}"]
        words += [] if self.most is None else [f"at most {self.most}"]
        return " and ".join([*words, *(["a power of two"] if self.power_of_two else [])])


Bounds = Mapping[str, Bound]
"""The bounds of the fields of a configuration and of the calls, by their names."""


def parse_bounds(value: JsonObject) -> Bounds:
    """Return the bounds of a component; raises MalformedError."""
    return {name: _bound(as_object(value[name], f"bounds {name!r} by")) for name in value}


def outside(bounds: Bounds, calls: Iterable[Request]) -> tuple[str, ...]:
    """Return in words which bounds these calls exceed, each with the first number that does so."""
    found: dict[str, int] = {}
    for call in calls:
        for name, value in _numbers(call.fields()):
            if name in bounds and not bounds[name].holds(value):
                found.setdefault(name, value)
    return tuple(f"{name} {value}, declared: {bounds[name]}" for name, value in found.items())


def _numbers(fields_of_call: Mapping[str, object]) -> Iterable[tuple[str, int]]:
    for part in fields_of_call.values():
        if isinstance(part, dict):
            content = cast(JsonObject, part)
            yield from ((name, one) for name, one in content.items() if isinstance(one, int))


def _bound(value: JsonObject) -> Bound:
    known = [field.name for field in fields(Bound)]
    for name in value:
        if name not in known:
            raise MalformedError(f"has a bound {name!r}; there are {', '.join(known)}")
    two = value.get("power_of_two", False)
    if not isinstance(two, bool):
        raise MalformedError("has 'power_of_two' that is neither true nor false")
    ends = {name: integer(value, name) for name in ("least", "most") if name in value}
    bound = Bound(**ends, power_of_two=two)
    if not all(bound.holds(number) for number in ends.values()):
        raise MalformedError("has a bound whose ends do not keep it")
    return bound
