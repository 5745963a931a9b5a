"""The one listing of an input, for `check` and `stream`.

Python lists a folder by the bytes of its names. Java does not find a file whose name the locale
cannot hold, and skips what is no file; so neither Java nor Spark lists a folder here.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from wheelproof_spec.base.errors import InputRejectedError, UsageError

FORMATS = "JSON Lines, plain or packed with gzip or zstd, or Parquet"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """What changes when the content of a file changes.

    A program can set back the time of change `mtime_ns`, but not `ctime_ns`, the time of change of
    the file's record. The number of the device is left out: it changes with a restart.
    """

    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0


NO_FILE = FileState()
"""The state of what is no regular file or cannot be looked at: it is one quarantined line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file of the input: its name for people and tables, its path, its state."""

    name: str
    path: Path
    state: FileState


class Input(Protocol):
    """A folder of files, on this machine or elsewhere."""

    def files(self) -> Sequence[FoundFile]:
        """Return the files of the folder and those below it, by name; hidden ones are left out."""
        ...

    def bring(self, file: FoundFile) -> FoundFile | None:
        """Make a file readable for the workers, and return it; None if it is gone."""
        ...


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A folder on this machine; the pipeline writes to `output`, which is no part of an input."""

    folder: Path
    output: Path

    def files(self) -> Sequence[FoundFile]:
        """Return the files, and as files also pipes, dead links, and folders without permission.

        Raises InputRejectedError if there is no such folder, UsageError if the output is reached.
        """
        _require_folder(self.folder)
        return sorted(self._found(), key=lambda file: file.name)

    def bring(self, file: FoundFile) -> FoundFile | None:
        """Return the file as it is now; it is here already."""
        if file.state == NO_FILE:
            return file
        try:
            return replace(file, state=_state(file.path.stat()))
        except OSError:
            return None

    def _found(self) -> Iterator[FoundFile]:
        reserved = _identities(self.output)
        seen = set[_Identity]()
        # Folders come before links to them, so that a new link does not rename their files.
        folders, links = [self.folder], list[Path]()
        while folders or links:
            folder = folders.pop() if folders else links.pop(0)
            try:
                identity = _identity(folder.stat())
                if identity in seen:
                    continue
                seen.add(identity)
                paths = sorted(folder.iterdir())
            except OSError:
                yield self._file(folder, NO_FILE)
                continue
            for path in paths:
                if path.name.startswith((".", "_")):
                    continue
                try:
                    status, linked = path.stat(), path.is_symlink()
                    places = path.resolve(strict=True).parents if linked else ()
                    around = {_identity(status), *(_identity(place.stat()) for place in places)}
                except OSError:
                    yield self._file(path, NO_FILE)
                    continue
                if not reserved.isdisjoint(around):
                    raise UsageError(
                        f"{shown(path)} leads to the output, whose tables would be read as input; "
                        "remove it from the input, or name another output"
                    )
                if stat.S_ISDIR(status.st_mode):
                    (links if linked else folders).append(path)
                else:
                    yield self._file(path, _state(status))

    def _file(self, path: Path, state: FileState) -> FoundFile:
        return FoundFile(name=named(path.relative_to(self.folder)), path=path, state=state)


def named(path: Path) -> str:
    """Return the name of a file for people and tables: no two files have the same.

    Bytes that are not text are escaped as `\\xff`, and so a backslash is two of them.
    """
    return os.fsencode(path.as_posix()).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def shown(path: Path) -> str:
    """Return a path for a message that every terminal can print."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def outside(output: Path, source: Path) -> Path:
    """Return the resolved input, a folder outside of the output.

    Raises InputRejectedError if there is no such folder, UsageError if one is inside of the other.
    """
    source = source.resolve()
    if output.is_relative_to(source):
        raise UsageError(f"{output} is inside of the input; name another output")
    if source.is_relative_to(output):
        raise UsageError(f"the input {source} is inside of the output; name another output")
    _require_folder(source)
    return source


def _require_folder(folder: Path) -> None:
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "does not exist"
        raise InputRejectedError(str(folder), None, problem, f"name a folder of {FORMATS}")


_Identity = tuple[int, int]
"""Device and inode: the same for all paths to a folder, by links or mounts."""


def _identity(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _identities(output: Path) -> frozenset[_Identity]:
    """Return the identities of the output, and of what is in it."""
    places = (output, *output.iterdir()) if output.is_dir() else ()
    return frozenset(_identity(place.stat()) for place in places)


def _state(status: os.stat_result) -> FileState:
    if not stat.S_ISREG(status.st_mode):
        return NO_FILE
    return FileState(
        size=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
    )
