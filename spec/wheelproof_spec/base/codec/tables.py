"""Data files beside the module that reads them: tables in TOML, templates.

The files are the project's own: a mistake in one is a programming error.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import TypeVar, cast
from zipimport import zipimporter

from wheelproof_spec.base.codec.explain import build
from wheelproof_spec.base.codec.shapes import shape_of

RowT = TypeVar("RowT")
Row = Mapping[str, object]


def read_table(module: str, name: str) -> Mapping[str, Row]:
    """Return the tables of the file `name` beside `module`, by their names; lists are tuples."""
    return cast(Mapping[str, Row], _frozen(read_document(module, name)))


def read_rows(module: str, name: str, row: str, cls: type[RowT]) -> tuple[RowT, ...]:
    """Return each ``[[row]]`` of the file `name` beside `module`; raises MalformedError.

    `cls` is a dataclass that defines the fields of a row, as for the wire formats.
    """
    shape = shape_of(cls)
    rows = cast(list[object], read_document(module, name)[row])
    return tuple(cast(RowT, build(shape, found, row)) for found in rows)


def read_template(module: str, name: str) -> Template:
    """Return the text of the file `name` beside `module`, in which ``$name`` stands for a value."""
    return Template(_text(module, name))


def read_document(module: str, name: str) -> Row:
    """Return the document in the file `name` beside `module`; its lists stay lists, as in JSON."""
    return tomllib.loads(_text(module, name))


def _text(module: str, name: str) -> str:
    path = Path(module).with_name(name)
    try:
        return path.read_text(encoding="utf-8")
    except NotADirectoryError:
        # The module is in a wheel on the path, as with Spark's --py-files.
        archive = next(folder for folder in path.parents if folder.is_file())
        return zipimporter(str(archive)).get_data(str(path)).decode("utf-8")


def _frozen(value: object) -> object:
    match value:
        case dict():
            table = cast(dict[str, object], value)
            return {name: _frozen(item) for name, item in table.items()}
        case list():
            return tuple(_frozen(item) for item in cast(list[object], value))
        case _:
            return value
