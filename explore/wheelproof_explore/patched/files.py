"""The files that a run uses, as CPython tells of them, and their state before it, brought back."""

import inspect
import os
import stat
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import cast

from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.runtime import ControlledRuntime

_CHANGING: Mapping[str, Sequence[tuple[int, int | None]]] = {
    "os.chdir": (),
    "os.chmod": ((0, 2),),
    "os.link": ((1, 3),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, None),),
}
"""Events of CPython that say that files change: where they have a path, and what it begins at."""
_OF_IMPORTS = (".py", ".pyc", ".so")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_IN_NO_FILE = (":memory:", "")
"""Databases that SQLite keeps to itself."""
_WHOLE = 1 << 20
"""Files that are larger are compared by their size alone."""


@dataclass(frozen=True, slots=True)
class _There:
    """What was at a path: its mode, what a file contains or a link names, and a file's time."""

    mode: int
    content: bytes = b""
    is_whole: bool = True
    changed_ns: int = 0

    @property
    def format(self) -> int:
        return stat.S_IFMT(self.mode)


class Files:
    """The uses of files by the runs of an exploration, as CPython's audit events tell of them.

    Those that no step says are noted in `blind`, unless nothing is seen. What a run has changed is
    brought back when it ends, so that the next one begins with what the first one found.
    """

    def __init__(self, blind: dict[str, None] | None) -> None:
        self._blind: dict[str, None] = {} if blind is None else blind
        self._unseen: dict[str, None] = {}
        self._written = False
        # What was there before the first change in the run, by the path.
        self._before: dict[str, _There | None] = {}
        self._folder = ""
        # Whether the event under way is one of our own.
        self.is_looking = False

    def note(self, runtime: ControlledRuntime, paths: Sequence[str], *, writes: bool) -> None:
        """Note a use of files by the running thread; of the working directory, without a path."""
        self.is_looking = True
        try:
            if writes and not paths:
                self._folder = self._folder or str(Path.cwd())
            for path in paths if writes else ():
                if path not in self._before:
                    self._before[path] = _what_is_at(path)
        finally:
            self.is_looking = False
        thread = runtime.current
        if thread is not None and not thread.uses_files:
            where = call_stack(inspect.currentframe())
            self._unseen[f"what uses files, without a step of its own: {where}"] = None
        self._written |= writes
        if self._written:
            # Who only reads need not be seen, as long as nobody writes.
            self._blind.update(self._unseen)

    def undo(self) -> None:
        """Undo what the run that has ended has changed."""
        if self._folder:
            os.chdir(self._folder)
            self._folder = ""
        # A folder is there longer than what is in it.
        for path, before in sorted(self._before.items(), reverse=True):
            with suppress(OSError):
                _take_away(Path(path), before)
        for path, before in sorted(self._before.items()):
            with suppress(OSError):
                _put_back(Path(path), before)
        for path, before in self._before.items():
            if _what_is_at(path) != before or (before is not None and not before.is_whole):
                self._blind[f"{path}, which a run leaves behind for the next one"] = None
        self._before.clear()


def _what_is_at(path: str) -> _There | None:
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return _There(found.st_mode, os.fsencode(Path(path).readlink()))
        if not stat.S_ISREG(found.st_mode):
            return _There(found.st_mode)
        is_whole = found.st_size < _WHOLE
        content = Path(path).read_bytes() if is_whole else b""
        return _There(found.st_mode, content, is_whole, found.st_mtime_ns)
    except OSError:
        return None


def _take_away(path: Path, before: _There | None) -> None:
    """Remove what is of another kind than before."""
    now = _what_is_at(str(path))
    if now is not None and (before is None or now.format != before.format):
        path.rmdir() if stat.S_ISDIR(now.format) else path.unlink()


def _put_back(path: Path, before: _There | None) -> None:
    now = _what_is_at(str(path))
    if before is None or not before.is_whole or now == before:
        return
    if stat.S_ISLNK(before.format):
        path.unlink(missing_ok=True)
        path.symlink_to(os.fsdecode(before.content))
        return
    if stat.S_ISDIR(before.format) and now is None:
        path.mkdir()
    elif stat.S_ISREG(before.format):
        if now is None or now.content != before.content:
            path.write_bytes(before.content)
        os.utime(path, ns=(before.changed_ns, before.changed_ns))
    path.chmod(stat.S_IMODE(before.mode))


_watched: list[Files] = []
_hooked: list[bool] = []


@contextmanager
def files_watched(blind: dict[str, None] | None) -> Generator[Files]:
    """Watch, inside the block, what the runs do to files."""
    if not _hooked:
        # An audit hook cannot be removed.
        sys.addaudithook(_hook)
        _hooked.append(True)
    _watched.append(Files(blind))
    try:
        yield _watched[-1]
    finally:
        _watched.pop()


def _hook(event: str, args: tuple[object, ...]) -> None:
    if not _watched or (event != "open" and event not in _CHANGING):
        return
    runtime, files = running(), _watched[-1]
    if runtime is None or files.is_looking:
        return
    places = _CHANGING.get(event, ((0, None),))
    paths = [_whole_path(args[path], -1 if at is None else args[at]) for path, at in places]
    if event == "os.chdir":
        files.note(runtime, (), writes=True)
    elif event != "open":
        if any(paths):
            files.note(runtime, [path for path in paths if path], writes=True)
    elif paths[0] and not paths[0].endswith(_OF_IMPORTS):
        files.note(runtime, paths, writes=bool(cast("int", args[2]) & _WRITING))


def _whole_path(path: object, at: object) -> str:
    """Return a path from the root, as the working directory may change; empty if it is none."""
    if not isinstance(path, str | bytes | PurePath) or path in _IN_NO_FILE:
        # A number of an open file, for one.
        return ""
    relative = Path(path if isinstance(path, PurePath) else os.fsdecode(path))
    if type(at) is int and at >= 0 and not relative.is_absolute():
        # Who removes a tree of folders names what is inside beside the number of its folder.
        return str(Path(f"/proc/self/fd/{at}").readlink() / relative)
    return str(relative.absolute())
