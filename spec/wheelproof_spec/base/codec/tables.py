"""Tables that are data: TOML beside the module that reads it, as the manifest of models is."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

Row = Mapping[str, object]


def read_table(module: str, name: str) -> Mapping[str, Row]:
    """Return the rows of the file `name` beside `module`, by their names; its lists are tuples.

    A file of the project's own: what is wrong with it is an error of whoever wrote it last.
    """
    text = Path(module).with_name(name).read_text(encoding="utf-8")
    return cast(Mapping[str, Row], _frozen(tomllib.loads(text)))


def _frozen(value: object) -> object:
    match value:
        case dict():
            table = cast(dict[str, object], value)
            return {name: _frozen(item) for name, item in table.items()}
        case list():
            return tuple(_frozen(item) for item in cast(list[object], value))
        case _:
            return value
