"""Named cases that are rows of a table: ``cases.toml`` beside the module that reads it.

A case has a `name`, possibly a `limit` that it needs, its configuration as `reset`, and `calls`,
each with its `op` and its arguments in the form that a driver gets. `usual` has the default
arguments of `reset` and of each operation. A row with `each` stands for one call per number; a pair
in `each` is a range, both ends included. The number replaces every `{}` in the arguments.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.tables import Row, read_document
from wheelproof_spec.base.component import CallT, ComponentDefinition, SeenT
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.base.suite import Scenario

_OP = "op"
_EACH = "each"
_PLACE = "{}"


def read_cases(
    module: str, definition: ComponentDefinition[CallT, SeenT]
) -> tuple[Scenario[CallT], ...]:
    """Return the cases of ``cases.toml`` beside `module`; raises MalformedError."""
    table = read_document(module, "cases.toml")
    limits = {str(limit): limit for limit in definition.limits or ()}
    wire, usual = DrivenWire(definition), cast(Mapping[str, Row], table["usual"])

    def made(op: str, said: Row) -> CallT:
        arguments = {**usual.get(op, {}), **said}
        if op == "reset":
            content: JsonObject = {"component": definition.name, "config": arguments}
        else:
            content = {"args": arguments} if arguments else {}
        return wire.parse_call(op, content)

    return tuple(
        Scenario(
            name=str(row["name"]),
            limit=limits[str(row["limit"])] if "limit" in row else None,
            calls=(
                made("reset", cast(Row, row.get("reset", {}))),
                *(made(op, said) for op, said in _calls(row)),
            ),
        )
        for row in cast(list[Row], table["case"])
    )


def _calls(row: Row) -> Iterator[tuple[str, Row]]:
    for call in cast(list[Row], row["calls"]):
        said = {name: value for name, value in call.items() if name not in (_OP, _EACH)}
        if _EACH in call:
            for number in _numbers(cast(list[object], call[_EACH])):
                yield str(call[_OP]), cast(Row, _filled(said, number))
        else:
            yield str(call[_OP]), said


def _numbers(each: list[object]) -> Iterator[int]:
    for item in each:
        first, last = cast(tuple[int, int], item if isinstance(item, list) else (item, item))
        yield from range(first, last + 1)


def _filled(value: object, number: int) -> object:
    match value:
        case str():
            return number if value == _PLACE else value.replace(_PLACE, str(number))
        case list():
            return [_filled(item, number) for item in cast(list[object], value)]
        case dict():
            items = cast(dict[str, object], value).items()
            return {name: _filled(item, number) for name, item in items}
        case _:
            return value
