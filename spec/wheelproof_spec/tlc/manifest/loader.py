"""Loads the manifest of models and the files that it includes."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from wheelproof_spec.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.entry import ManifestEntry, is_list
from wheelproof_spec.tlc.manifest.model import Model

SCHEMA = "wheelproof.manifest/1"

_TABLE = re.compile(r"\s*\[\[\s*model\s*\]\]")
_KEY = re.compile(r"\s*\"?([\w-]+)\"?\s*=")
_TOML_LINE = re.compile(r"at line (\d+)")


def load_manifest(path: Path, *, pinning: bool = False) -> list[Model]:
    """Return the models of the manifest at `path` and of those that it includes, in their order.

    Included files are named relative to the manifest, and folders everywhere too. With `pinning`
    the numbers that TLC measures may be missing. Raises InputRejectedError.
    """
    models: list[Model] = []
    document = _add_models(models, path, path, pinning)
    for name in _included(path, document):
        part = path.parent / name
        if "include" in _add_models(models, path, part, pinning):
            raise InputRejectedError(
                str(part), None, "an included file includes others", f"include them in {path.name}"
            )
    return models


def _add_models(
    models: list[Model], manifest: Path, path: Path, pinning: bool
) -> Mapping[str, object]:
    """Add the models of one file and return what it says."""
    text = _read(path)
    document = _document(path, text)
    entries = document.get("model", [])
    blocks = _blocks(text)
    if not is_list(entries) or len(blocks) != len(entries):
        raise InputRejectedError(
            str(path), None, "the models are no [[model]] tables", "write one table a model"
        )
    for table, block in zip(entries, blocks, strict=True):
        entry = ManifestEntry(manifest, path, block, table, pinning)
        model = entry.model()
        if any(model.name == other.name for other in models):
            entry.reject("the name occurs twice", "rename one of the two", "name")
        models.append(model)
    return document


def _document(path: Path, text: str) -> Mapping[str, object]:
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


def _blocks(text: str) -> list[dict[str, int]]:
    """Return for each [[model]] table its line, under "", and the line of each of its keys."""
    blocks: list[dict[str, int]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        key = _KEY.match(line)
        if _TABLE.match(line):
            blocks.append({"": number})
        elif blocks and key is not None:
            blocks[-1].setdefault(key[1], number)
    return blocks


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
    unknown = sorted(document.keys() - {"schema", "include", "model"})
    if unknown:
        raise InputRejectedError(
            str(path),
            None,
            f"unknown key {unknown[0]!r}",
            "only schema, include and [[model]] are allowed",
        )
    if document.get("schema") != SCHEMA:
        raise InputRejectedError(
            str(path), None, f"the schema is not {SCHEMA}", f'begin with schema = "{SCHEMA}"'
        )
