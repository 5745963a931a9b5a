"""The schema and the page come from the definitions and say the same as the parser."""

from collections.abc import Mapping
from typing import cast

from wheelproof_lab.publish import formats as page
from wheelproof_spec.app.cli import main
from wheelproof_spec.app.recorded import LINES
from wheelproof_spec.base.codec.json_schema import json_schema
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.resources import checkout_directory
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.components.registry import definitions


def _objects(schema: object) -> list[Mapping[str, object]]:
    found: list[Mapping[str, object]] = []
    if isinstance(schema, dict):
        items = cast(dict[str, object], schema)
        if items.get("type") == "object":
            found.append(items)
        found += [one for value in items.values() for one in _objects(value)]
    elif isinstance(schema, list):
        found += [one for value in cast(list[object], schema) for one in _objects(value)]
    return found


def test_every_object_is_closed_and_says_what_it_requires() -> None:
    objects = _objects(json_schema(LINES.shapes))
    assert len(objects) > 100
    # A mapping says what its names and its values are, and how many there may be.
    mappings = [one for one in objects if "propertyNames" in one]
    assert all(isinstance(one["additionalProperties"], dict) for one in mappings)
    assert all("maxProperties" in one for one in mappings)
    closed = [one for one in objects if one not in mappings]
    assert all(one["additionalProperties"] is False for one in closed)
    assert all("required" in one for one in closed)


def test_the_page_is_up_to_date() -> None:
    checkout = checkout_directory()
    assert checkout is not None
    assert (checkout / "docs" / "formats.md").read_text(encoding="utf-8") == page.render()


def test_a_name_means_the_same_in_every_component() -> None:
    meant: dict[str, tuple[object, object]] = {}
    for definition in definitions():
        for operation in definition.operations_on(Wire.RECORDED):
            meaning = (operation.call, operation.returns)
            assert meant.setdefault(operation.name, meaning) == meaning
    actions = [action for definition in definitions() for action in definition.actions]
    assert len({action.action for action in actions}) == len(actions)


def test_the_verb_prints_it() -> None:
    assert main(["schema", "print"]) == ExitCode.PASS
    assert main(["schema", "validate"]) == ExitCode.USAGE
