"""Loads the manifest of models and the files that it includes."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.entry import Entry, is_list, is_table
from wheelproof_spec.tlc.manifest.model import Kind, Model
from wheelproof_spec.tlc.manifest.reader import BASE, ModelReader

SCHEMA = "wheelproof.manifest/1"

_SECTIONS = (BASE, *Kind)
_TABLE = re.compile(rf"\s*\[\s*({'|'.join(_SECTIONS)})\s*\.\s*\"?([\w-]+)\"?\s*\]")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")
_TOML_LINE = re.compile(r"at line (\d+)")


def load_manifest(path: Path, *, pinning: bool = False) -> list[Model]:
    """Return the models of the manifest at `path` and of those that it includes, in their order.

    Included files are named relative to the manifest. With `pinning` the numbers that TLC
    measures may be missing. Raises InputRejectedError.
    """
    documents = _documents(path)
    reader = ModelReader(path, library=_library(documents), pinning=pinning)
    for part, text in documents.items():
        for entry in _entries(part, text):
            reader.read(entry)
    return reader.models


def library(path: Path) -> tuple[Path, ...]:
    """Return the folders in which TLC finds the modules of the manifest at `path`.

    Raises InputRejectedError.
    """
    return _library(_documents(path))


def _library(documents: Iterable[Path]) -> tuple[Path, ...]:
    parents = (part.parent.resolve() for part in documents)
    folders = (folder for parent in parents for folder in (parent, parent / "models"))
    return tuple(dict.fromkeys(folder for folder in folders if any(folder.glob("*.tla"))))


def _documents(path: Path) -> dict[Path, str]:
    """Return the text of the manifest and of each file that it includes."""
    documents = {path: _read(path)}
    for name in _included(path, _parsed(path, documents[path])):
        part = path.parent / name
        documents[part] = _read(part)
        if "include" in _parsed(part, documents[part]):
            raise InputRejectedError(
                str(part), None, "an included file includes others", f"include them in {path.name}"
            )
    return documents


def _entries(path: Path, text: str) -> list[Entry]:
    """Return the tables of one file in their order."""
    document = _parsed(path, text)
    blocks = _blocks(text)
    entries: list[Entry] = []
    for section in _SECTIONS:
        tables = document.get(section, {})
        if not is_table(tables) or any((section, name) not in blocks for name in tables):
            remedy = f"begin each with [{section}.NAME]"
            raise InputRejectedError(str(path), None, f"'{section}' is no set of tables", remedy)
        entries += (
            Entry(path, section, name, blocks[section, name], table)
            for name, table in tables.items()
        )
    return sorted(entries, key=lambda entry: entry.line)


def _blocks(text: str) -> dict[tuple[str, str], dict[str, int]]:
    """Return for each table its line, under "", and the line of each of its keys."""
    blocks: dict[tuple[str, str], dict[str, int]] = {}
    block: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        table, key = _TABLE.match(line), _KEY.match(line)
        if table is not None:
            block = blocks[table[1], table[2]] = {"": number}
        elif key is not None:
            block.setdefault(key[1], number)
    return blocks


def _parsed(path: Path, text: str) -> Mapping[str, object]:
    try:
        document: Mapping[str, object] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) if found else None
        raise InputRejectedError(str(path), line, f"no TOML: {error}", "repair it") from error
    _check_document(path, document)
    return document


def _included(path: Path, document: Mapping[str, object]) -> tuple[str, ...]:
    value = document.get("include", [])
    names = tuple(item for item in value if isinstance(item, str)) if is_list(value) else ()
    if not is_list(value) or len(names) != len(value):
        raise InputRejectedError(
            str(path), None, "'include' is no list of files", "name each file as a string"
        )
    return names


def _read(path: Path) -> str:
    if not path.is_file():
        raise InputRejectedError(
            str(path), None, "there is no such manifest", "name one with --manifest"
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputRejectedError(str(path), None, f"unreadable ({error})", "repair it") from error


def _check_document(path: Path, document: Mapping[str, object]) -> None:
    unknown = sorted(document.keys() - {"schema", "include", *_SECTIONS})
    if unknown:
        raise InputRejectedError(
            str(path),
            None,
            f"unknown key {unknown[0]!r}",
            f"allowed are schema, include and the tables of {', '.join(_SECTIONS)}",
        )
    if document.get("schema") != SCHEMA:
        raise InputRejectedError(
            str(path), None, f"the schema is not {SCHEMA}", f'begin with schema = "{SCHEMA}"'
        )
