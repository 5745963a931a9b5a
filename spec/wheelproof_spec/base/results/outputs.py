"""Checks, before any work, that outputs are no inputs, are several files, and can be written."""

import argparse
import contextlib
import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.publishing import STANDARD_OUTPUT

_REPORTS = ("json", "junit", "html")
"""The arguments with reports: their folders are not made, since a wrong one is a typing error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A file: its name on the command line, its path, and its place on a disk."""

    name: str
    path: str
    known: os.stat_result | None

    @property
    def is_folder(self) -> bool:
        return self.known is not None and stat.S_ISDIR(self.known.st_mode)

    @property
    def can_be_lost(self) -> bool:
        """Whether writing destroys something: a terminal or /dev/null may be written at will."""
        mode = self.known and self.known.st_mode
        return mode is None or stat.S_ISREG(mode) or stat.S_ISDIR(mode)

    def is_same(self, other: "_File") -> bool:
        if self.path == other.path:
            return True
        if self.known is None or other.known is None:
            return False
        return os.path.samestat(self.known, other.known)

    def is_inside(self, folder: "_File") -> bool:
        return (
            self.can_be_lost and folder.is_folder and Path(folder.path) in Path(self.path).parents
        )


def require_separate_files(
    arguments: argparse.Namespace, reads: Sequence[str], writes: Sequence[str]
) -> None:
    """Raise UsageError if an output would overwrite an input or another one, or has no folder.

    `reads` and `writes` name the arguments with the inputs and the outputs; `output/FILE` is a file
    in the folder that the argument `output` names. A file is the same under any name: a link,
    another path to it, standard output that is redirected to it. A file in a folder that is read
    is an input as well.
    """
    inputs = _stream("standard input", 0)
    for name in reads:
        argument, _, file = name.partition("/")
        value: object = getattr(arguments, argument, None)
        inputs += _inputs(value / file if isinstance(value, Path) and file else value)
    outputs = _stream("standard output", 1)
    for name in writes:
        path: Path | None = getattr(arguments, name, None)
        if path is None:
            continue
        output = _output(f"--{name.replace('_', '-')}", path)
        if name in _REPORTS and not _has_folder(path, arguments, writes):
            raise UsageError(f"{output.name} {path}: there is no folder {path.parent}; make it")
        for found in inputs:
            if output.is_inside(found):
                raise UsageError(
                    f"{output.name} {path} is inside of the input {found.name}; "
                    "name another place for the output"
                )
            if output.can_be_lost and output.is_same(found):
                raise UsageError(
                    f"{output.name} {path} would overwrite {found.name}, which is read; "
                    "name another file for the output"
                )
        for other in outputs:
            if output.can_be_lost and output.is_same(other):
                raise UsageError(
                    f"{output.name} and {other.name} are one file, {path}; name two files"
                )
        outputs.append(output)


def _has_folder(path: Path, arguments: argparse.Namespace, writes: Sequence[str]) -> bool:
    """Return whether the folder of a report is there, or is one that the verb makes."""
    others: Iterator[Path | None] = (
        getattr(arguments, name, None) for name in writes if name not in _REPORTS
    )
    made = [Path(os.path.realpath(other)) for other in others if other is not None]
    # Not `resolve`, which raises for a link to itself.
    folder = Path(os.path.realpath(path.parent))
    return folder.is_dir() or any(other in (folder, *folder.parents) for other in made)


def _output(name: str, path: Path) -> _File:
    if path == STANDARD_OUTPUT:
        return _File(name=name, path="-", known=None)
    return _file(name, str(path))


def _inputs(value: object) -> Iterator[_File]:
    """Yield the files that an argument names, some of them as patterns or in a command."""
    if isinstance(value, Path):
        yield _file(str(value), str(value))
    elif isinstance(value, str):
        for path in _named_in(value):
            found = _file(path, path)
            if found.known is not None:
                yield found
    elif isinstance(value, list | tuple):
        for each in cast(Sequence[object], value):
            yield from _inputs(each)


def _named_in(text: str) -> Iterator[str]:
    """Yield what may be a file in a pattern, in a command, or in `module:attribute`."""
    yield text
    pattern = Path(text)
    with contextlib.suppress(ValueError, OSError):
        # Not every text is a pattern.
        if pattern.name:
            anchor = Path(pattern.anchor)
            yield from map(str, anchor.glob(str(pattern.relative_to(anchor))))
    yield text.partition(":")[0].replace(".", "/") + ".py"
    with contextlib.suppress(ValueError):
        # A command that cannot be split is refused later, when it is started.
        yield from shlex.split(text)


def _file(name: str, path: str) -> _File:
    try:
        known = Path(path).stat()
    except (OSError, ValueError):
        known = None
    return _File(name=name, path=os.path.realpath(path), known=known)


def _stream(name: str, descriptor: int) -> list[_File]:
    """Return a standard stream if it is a file that can be lost."""
    try:
        known = os.fstat(descriptor)
    except OSError:
        return []
    return [_File(name=name, path=name, known=known)] if stat.S_ISREG(known.st_mode) else []
