"""TLA+ values as typed Python values, and their printer.

TLC prints one value in several ways (a record is a function on strings, a sequence a function on
1..n, an interval a set), so `make_function` and the parser keep one form for each value, and two
values are equal in Python exactly when they are equal in TLA+:

======================  ===================================
TLA+                    Python
======================  ===================================
TRUE, 3, "s"            bool, int, str
model value             `ModelValue`
set, interval           frozenset
sequence, tuple         tuple
record                  `Record`, fields sorted by name
any other function      `Function`, pairs sorted by argument
======================  ===================================

TLC refuses sets that mix Booleans with integers, so Python's ``True == 1`` merges nothing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelValue:
    """A value without structure, named in the cfg; equal to itself alone."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A function on a non-empty set of strings; build it with `make_function`."""

    pairs: tuple[tuple[str, "Value"], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function that is neither a record nor a sequence; build it with `make_function`."""

    pairs: tuple[tuple["Value", "Value"], ...]


Value: TypeAlias = (
    "bool | int | str | ModelValue | frozenset[Value] | tuple[Value, ...] | Record | Function"
)
State: TypeAlias = Mapping[str, Value]
"""The value of each variable."""

_FIELD_NAME = re.compile(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*")
_STRING_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"}


def make_function(pairs: Iterable[tuple[Value, Value]]) -> Value:
    """Return the function with these argument-value pairs in its one form.

    Raises ValueError when an argument occurs twice.
    """
    mapping = dict(pairs_list := list(pairs))
    if len(mapping) != len(pairs_list):
        raise ValueError("an argument of the function occurs twice")
    arguments = mapping.keys()
    if all(type(argument) is int for argument in arguments) and arguments == set(
        range(1, len(mapping) + 1)
    ):
        return tuple(mapping[index] for index in range(1, len(mapping) + 1))
    fields = [(name, value) for name, value in mapping.items() if isinstance(name, str)]
    if len(fields) == len(mapping) and all(_FIELD_NAME.fullmatch(name) for name, _ in fields):
        return Record(pairs=tuple(sorted(fields, key=lambda field: field[0])))
    return Function(pairs=tuple(sorted(mapping.items(), key=lambda pair: sort_key(pair[0]))))


def entries(value: Value) -> tuple[tuple[Value, Value], ...] | None:
    """Return the argument-value pairs of a function of any form, or None for another value."""
    if isinstance(value, tuple):
        return tuple(enumerate(value, start=1))
    if isinstance(value, Record | Function):
        return value.pairs
    return None


def sort_key(value: Value) -> tuple[int, int, str]:
    """Return a key of a total order: integers by size, then everything else as printed."""
    if isinstance(value, int) and not isinstance(value, bool):
        return (0, value, "")
    return (1, 0, show(value))


def show(value: Value) -> str:
    """Print `value` as TLA+, sets and functions in a fixed order."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            return _show_string(value)
        case ModelValue():
            return value.name
        case frozenset():
            return "{" + ", ".join(show(item) for item in sorted(value, key=sort_key)) + "}"
        case tuple():
            return "<<" + ", ".join(show(item) for item in value) + ">>"
        case Record():
            return "[" + ", ".join(f"{name} |-> {show(item)}" for name, item in value.pairs) + "]"
        case Function():
            return (
                "("
                + " @@ ".join(f"{show(argument)} :> {show(item)}" for argument, item in value.pairs)
                + ")"
            )


def show_state(state: State) -> str:
    """Print `state` as a TLA+ conjunction, variables in alphabetical order."""
    return "\n".join(f"/\\ {name} = {show(value)}" for name, value in sorted(state.items()))


def _show_string(text: str) -> str:
    return '"' + "".join(_STRING_ESCAPES.get(character, character) for character in text) + '"'
