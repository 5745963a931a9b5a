"""What a call does to files and to environment variables, which no object of Python stands for.

All threads share them: `if not exists(path): mkdir(path)` is a race. All files are one thing here,
and so is the working directory: a call reads it, or writes it.
"""

import inspect
import io
import os
import stat
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import cast

from wheelproof_explore.failures.places import call_stack
from wheelproof_explore.instrument.outside import LOOKING_METHODS, Effect, Part, receiver_of
from wheelproof_explore.patched.primitives import running
from wheelproof_explore.runtime.runtime import ControlledRuntime

_NO_FILES = frozenset((
    "WCOREDUMP", "WEXITSTATUS", "WIFCONTINUED", "WIFEXITED", "WIFSIGNALED", "WIFSTOPPED",
    "WSTOPSIG", "WTERMSIG", "abort", "confstr", "cpu_count", "ctermid", "device_encoding",
    "fsdecode", "fsencode", "fspath", "get_blocking", "get_exec_path", "get_inheritable",
    "get_terminal_size", "getegid", "geteuid", "getgid", "getgrouplist", "getgroups", "getloadavg",
    "getlogin", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom", "getresgid",
    "getresuid", "getsid", "getuid", "isatty", "major", "makedev", "minor", "register_at_fork",
    "sched_get_priority_max", "sched_get_priority_min", "sched_getaffinity", "sched_yield",
    "strerror", "sysconf", "times", "ttyname", "umask", "uname", "urandom",
))  # fmt: skip
"""Functions of `os` that have nothing to do with files; the others write, or read as below."""
_READING = frozenset((
    "access", "fpathconf", "fstat", "fstatvfs", "fwalk", "getcwd", "getcwdb", "getxattr", "listdir",
    "listxattr", "lstat", "pathconf", "pread", "preadv", "read", "readlink", "readv", "scandir",
    "stat", "statvfs", "walk",
    # Of `os.path`.
    "abspath", "exists", "getatime", "getctime", "getmtime", "getsize", "isdir", "isfile",
    "isjunction", "islink", "ismount", "lexists", "realpath", "samefile", "sameopenfile",
    # Of `pathlib`.
    "absolute", "cwd", "glob", "group", "is_block_device", "is_char_device", "is_dir", "is_fifo",
    "is_file", "is_junction", "is_mount", "is_socket", "is_symlink", "iterdir", "owner",
    "read_bytes", "read_text", "resolve", "rglob",
))  # fmt: skip
_OF_PURE_PATHS = {name for kind in PurePath.__mro__ for name in vars(kind)} | {"expanduser", "home"}
"""Methods of paths that look at the name alone."""
_OF_PATH = frozenset(("genericpath", "ntpath", "posixpath"))
_VARIABLES = {"getenv": False, "getenvb": False, "putenv": True, "unsetenv": True}
"""Functions of `os` for environment variables, and whether they write."""
_PACKAGES: Mapping[str, bool] = {
    **dict.fromkeys(("filecmp", "glob"), False),
    **dict.fromkeys(
        (
            "_dbm", "_gdbm", "_posixshmem", "_sqlite3", "bz2", "configparser", "dbm", "fcntl",
            "fileinput", "gzip", "lzma", "mailbox", "mmap", "shelve", "shutil", "sqlite3",
            "tarfile", "tempfile", "zipfile",
        ),
        True,
    ),
}  # fmt: skip
"""Packages whose functions and objects have to do with files, and whether they may write."""
_IN_MEMORY = (io.StringIO, io.BytesIO)


class _System:
    """What all threads of a process share behind Python's back."""


FILES: Part = (_System(), "files", "")
VARIABLES: Part = (os.environ, "_Environ.", "_data")
"""The environment variables, as an access of `os.environ` has them."""


def system_parts(
    function: object, given: Iterable[object], named: Mapping[str, object]
) -> list[tuple[Part, bool]]:
    """Return what a call of a function that is not seen does to files and variables."""
    name, receiver = str(getattr(function, "__name__", "")), receiver_of(function)
    module = str(getattr(function, "__module__", None) or type(receiver).__module__)
    if module in ("os", "posix", "nt") and name in _VARIABLES:
        return [(VARIABLES, _VARIABLES[name])]
    effect = _effect_on_files(name, module.partition(".")[0], receiver)
    if function is open or (name == "open" and isinstance(receiver, PurePath)):
        effect = _effect_of_opening([*given], named, is_path=function is not open)
    handed = [_effect_of_file(value) for value in (*given, *named.values())]
    effect = max((effect, *handed))
    return [] if effect is Effect.NOTHING else [(FILES, effect is Effect.WRITES)]


def _effect_on_files(name: str, package: str, receiver: object) -> Effect:
    of_path = issubclass(type(receiver), PurePath) or (
        issubclass(type(receiver), type) and issubclass(cast("type", receiver), PurePath)
    )
    if of_path:
        return Effect.NOTHING if name in _OF_PURE_PATHS else _reads_or_writes(name)
    if receiver is not None and not issubclass(type(receiver), type):
        package = type(receiver).__module__.partition(".")[0]
        if package in _PACKAGES:
            looks = not _PACKAGES[package] or name in LOOKING_METHODS
            return Effect.READS if looks else Effect.WRITES
        return _effect_of_file(receiver)
    if package in ("os", "posix", "nt"):
        return Effect.NOTHING if name in _NO_FILES else _reads_or_writes(name)
    if package in _OF_PATH:
        return Effect.READS if name in _READING else Effect.NOTHING
    if package in _PACKAGES:
        return Effect.WRITES if _PACKAGES[package] else Effect.READS
    return Effect.NOTHING


def _reads_or_writes(name: str) -> Effect:
    return Effect.READS if name in _READING else Effect.WRITES


def _effect_of_opening(
    given: list[object], named: Mapping[str, object], *, is_path: bool
) -> Effect:
    place = 0 if is_path else 1
    mode = named.get("mode", given[place] if len(given) > place else "r")
    return Effect.WRITES if {*str(mode)} & {*"wax+"} else Effect.READS


def _effect_of_file(value: object) -> Effect:
    """Return what may be done through an open file; nothing if it is none, or one in memory."""
    kind = type(value)
    if not issubclass(kind, io.IOBase) or issubclass(kind, _IN_MEMORY):
        return Effect.NOTHING
    if value is sys.stdout or value is sys.stderr or value is sys.stdin:
        return Effect.NOTHING
    below: object = value
    while issubclass(type(below), io.TextIOWrapper):
        try:
            below = cast("io.TextIOWrapper", below).buffer
        except ValueError:
            # It was detached.
            return Effect.NOTHING
    if issubclass(type(below), _IN_MEMORY):
        return Effect.NOTHING
    return Effect.READS if issubclass(type(below), io.BufferedReader) else Effect.WRITES


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
    """What was at a path: the format of its mode, and what a file contains or a link names."""

    format: int
    content: bytes = b""
    is_whole: bool = True


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
        kind = stat.S_IFMT(found.st_mode)
        if stat.S_ISLNK(kind):
            return _There(kind, os.fsencode(Path(path).readlink()))
        if not stat.S_ISREG(kind):
            return _There(kind)
        is_whole = found.st_size < _WHOLE
        return _There(kind, Path(path).read_bytes() if is_whole else b"", is_whole)
    except OSError:
        return None


def _take_away(path: Path, before: _There | None) -> None:
    """Remove what is of another kind than before."""
    now = _what_is_at(str(path))
    if now is not None and (before is None or now.format != before.format):
        path.rmdir() if stat.S_ISDIR(now.format) else path.unlink()


def _put_back(path: Path, before: _There | None) -> None:
    if before is None or not before.is_whole or _what_is_at(str(path)) == before:
        return
    if stat.S_ISDIR(before.format):
        path.mkdir()
    elif stat.S_ISLNK(before.format):
        path.unlink(missing_ok=True)
        path.symlink_to(os.fsdecode(before.content))
    elif stat.S_ISREG(before.format):
        path.write_bytes(before.content)


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
