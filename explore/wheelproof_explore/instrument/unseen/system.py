"""What a call does to the state of the process: files, environment variables, streams, warnings.

All threads share it, and no object of the program stands for it. `if not exists(path): mkdir(path)`
is a race. All files are one thing here, and so is the working directory: a call reads it, or writes
it.
"""

import gc
import io
import locale
import logging
import os
import socket
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import PurePath
from pkgutil import resolve_name
from types import BuiltinMethodType, FunctionType, ModuleType
from typing import cast
from warnings import catch_warnings

from wheelproof_explore.instrument.unseen.effects import Effect, receiver_of
from wheelproof_explore.instrument.unseen.foreign import LOOKING_METHODS
from wheelproof_explore.instrument.unseen.kinds import CONTAINERS
from wheelproof_explore.instrument.unseen.parts import Part, parts_of

_NO_FILES = frozenset((
    "WCOREDUMP", "WEXITSTATUS", "WIFCONTINUED", "WIFEXITED", "WIFSIGNALED", "WIFSTOPPED",
    "WSTOPSIG", "WTERMSIG", "abort", "confstr", "cpu_count", "ctermid", "device_encoding",
    "fsdecode", "fsencode", "fspath", "get_exec_path",
    "get_terminal_size", "getgrouplist", "getloadavg",
    "getlogin", "getpid", "getppid", "getrandom",
    "isatty", "major", "makedev", "minor", "register_at_fork",
    "sched_get_priority_max", "sched_get_priority_min", "sched_yield",
    "strerror", "sysconf", "times", "ttyname", "uname", "urandom",
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
    # Of the process.
    "get_blocking", "get_inheritable", "getegid", "geteuid", "getgid", "getgroups", "getpgid",
    "getpgrp", "getpriority", "getresgid", "getresuid", "getsid", "getuid", "sched_getaffinity",
))  # fmt: skip
_OF_PURE_PATHS = {name for kind in PurePath.__mro__ for name in vars(kind)} | {"expanduser", "home"}
"""Methods of paths that look at the name alone."""
_OF_PATH = frozenset(("genericpath", "ntpath", "posixpath"))
_VARIABLES = {"getenv": False, "getenvb": False, "putenv": True, "unsetenv": True}
"""Functions of `os` for environment variables, and whether they write."""
_READING_VARIABLES = frozenset(("expanduser", "expandvars", "home"))
_PACKAGES: Mapping[str, bool] = {
    **dict.fromkeys(("filecmp", "glob", "select", "selectors"), False),
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
_SWAPPING = frozenset(("__enter__", "__exit__", "start", "stop"))
"""Methods by which context managers put something in the place of what all threads use."""
_OF_INTERPRETER = frozenset((
    "_locale", "_signal", "_socket", "faulthandler", "gc", "locale", "signal", "socket", "sys",
))  # fmt: skip
_SWITCHING = frozenset(("alarm", "disable", "enable", "freeze", "signal", "unfreeze"))
"""Functions of these modules that change what all threads see, besides `set...`."""
_NOT_LASTING = frozenset[object]((
    gc.disable, gc.enable, gc.set_debug, gc.set_threshold, locale.setlocale,
    socket.setdefaulttimeout, sys.set_asyncgen_hooks, sys.set_coroutine_origin_tracking_depth,
    sys.set_int_max_str_digits, sys.setprofile, sys.setrecursionlimit, sys.setswitchinterval,
    sys.settrace,
))  # fmt: skip
"""Those of them that change the caller's own thread, or what each run finds as it was before."""
_LASTING: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(
        ("os", "posix"), ("nice", "sched_setaffinity", "setgid", "setpriority", "setuid", "umask")
    ),
    "_codecs": ("register", "register_error", "unregister"),
    "_csv": ("field_size_limit", "register_dialect", "unregister_dialect"),
    "atexit": ("register", "unregister"),
    "logging": ("addLevelName", "captureWarnings", "setLogRecordFactory", "setLoggerClass"),
    "time": ("tzset",),
}
"""Functions of other modules that change the process for good."""
_CONFIGURING = frozenset((
    "addFilter", "addHandler", "basicConfig", "dictConfig", "disable", "fileConfig",
    "removeFilter", "removeHandler", "setFormatter", "setLevel",
))  # fmt: skip
_LOGGING = frozenset((
    "callHandlers", "critical", "debug", "error", "exception", "fatal", "getEffectiveLevel",
    "handle", "hasHandlers", "info", "isEnabledFor", "log", "warn", "warning",
))  # fmt: skip
_OF_LOGGERS = ("disable", "disabled", "filters", "formatter", "handlers", "level", "propagate")
IN_MEMORY = (io.StringIO, io.BytesIO)
"""Streams that are not files."""


class _System:
    """What all threads of a process share behind Python's back."""


FILES: Part = (_System(), "files", "")
_WARNINGS: Part = (_System(), "warnings", "")
_INTERPRETER: Part = (_System(), "interpreter", "")
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
    parts = _of_process(name, module.partition(".")[0], receiver)
    if module.partition(".")[0] == "logging" and name in _LOGGING:
        here = logging.root if receiver is None else receiver
        # A message is made of these.
        told = (*given, *named.values()) if _is_written(name, here) else ()
        parts += ((part, False) for value in told for part, _ in parts_of(value, everything=True))
    if type(function) is FunctionType:
        # A function that was decorated by `patch`.
        for patch in cast("Sequence[object]", vars(function).get("patchings", ())):
            parts += swapped_by(patch)
    effect = _effect_on_files(name, module.partition(".")[0], receiver)
    if function is open or (name == "open" and isinstance(receiver, PurePath)):
        effect = _effect_of_opening([*given], named, is_path=function is not open)
    handed = [_effect_of_file(value) for value in (*given, *named.values())]
    effect = max((effect, *handed))
    return parts if effect is Effect.NOTHING else [*parts, (FILES, effect is Effect.WRITES)]


def lasts(function: object) -> bool:
    """Tell whether a function changes for all threads what no run finds as it was before.

    >>> import signal
    >>> lasts(signal.signal), lasts(sys.setrecursionlimit)
    (True, False)
    """
    receiver = receiver_of(function)
    if receiver is not None and not issubclass(type(receiver), ModuleType):
        return False
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    name = str(getattr(function, "__name__", ""))
    if name in _LASTING.get(package, ()):
        return True
    return package in _OF_INTERPRETER and _switches(name) and function not in _NOT_LASTING


def _switches(name: str) -> bool:
    return name.startswith("set") or name in _SWITCHING


def swapped_by(manager: object) -> list[tuple[Part, bool]]:
    """Return what a context manager of Python replaces for all threads."""
    kind = type(manager)
    if issubclass(kind, catch_warnings):
        return [(_WARNINGS, True)]
    if issubclass(kind, redirect_stdout | redirect_stderr):
        name = "stdout" if issubclass(kind, redirect_stdout) else "stderr"
        return [(attribute_of(sys, name), True)]
    mock = sys.modules.get("unittest.mock")
    if mock is None:
        return []
    if kind is vars(mock)["_patch_dict"]:
        named: object = vars(manager)["in_dict"]
        patched = resolve_name(named) if isinstance(named, str) else named
        return [((patched, type(patched).__name__, ""), True)]
    if kind is not vars(mock)["_patch"]:
        return []
    patch = cast("Mapping[str, object]", vars(manager))
    target = cast("Callable[[], object]", patch["getter"])()
    parts = [(attribute_of(target, str(patch["attribute"])), True)]
    for more in cast("Sequence[object]", patch["additional_patchers"]):
        parts += swapped_by(more)
    return parts


def attribute_of(holder: object, name: str) -> Part:
    """Return an attribute of a module, a class or an object, as accesses of it have it."""
    if issubclass(type(holder), ModuleType):
        return vars(holder), f"{cast('ModuleType', holder).__name__}.", name
    if issubclass(type(holder), type):
        kind = cast("type", holder)
        owner = next((one for one in kind.__mro__ if name in vars(one)), kind)
        return owner, f"{owner.__name__}.", name
    return holder, f"{type(holder).__name__}.", name


def _of_process(name: str, package: str, receiver: object) -> list[tuple[Part, bool]]:
    """Return what a call does to the streams, the warnings, the loggers and the interpreter."""
    if name in _SWAPPING and receiver is not None:
        return swapped_by(receiver)
    if package in ("_warnings", "warnings") and name != "formatwarning":
        show: object = vars(warnings)["_showwarnmsg_impl"]
        # Such as `append` of the list that records the warnings.
        recorded = parts_of(receiver_of(show), everything=False)
        return [(_WARNINGS, True), *((part, True) for part, _ in recorded)]
    if name in _READING_VARIABLES and (package in _OF_PATH or package == "pathlib"):
        return [(VARIABLES, False)]
    if package == "logging":
        return _of_loggers(name, receiver)
    if package in _OF_INTERPRETER:
        writes = _switches(name)
        return [(_INTERPRETER, writes)] if writes or name.startswith(("get", "is")) else []
    return []


def _of_loggers(name: str, receiver: object) -> list[tuple[Part, bool]]:
    here = logging.root if receiver is None else receiver
    parts: list[tuple[Part, bool]] = []
    if name in _CONFIGURING:
        parts += ((part, True) for part in _state_of_logger(here))
        parts += ((part, True) for part in _state_of_logger(logging.root.manager))
    elif name in _LOGGING:
        writes, propagates = _is_written(name, here), True
        while issubclass(type(here), logging.Logger):
            logger = cast("logging.Logger", here)
            parts += ((part, False) for part in _state_of_logger(logger))
            if writes and propagates:
                parts += _written_by_handlers(logger)
            propagates, here = propagates and logger.propagate, logger.parent
        parts += ((part, False) for part in _state_of_logger(logging.root.manager))
    return parts


def _is_written(name: str, logger: object) -> bool:
    """Tell whether a call of a logger gets to its handlers, as far as its name says the level."""
    if not issubclass(type(logger), logging.Logger) or name.startswith(("get", "has", "is")):
        return False
    level = {"exception": "ERROR", "warn": "WARNING"}.get(name, name.upper())
    number = logging.getLevelNamesMapping().get(level)
    return number is None or cast("logging.Logger", logger).isEnabledFor(number)


def _written_by_handlers(logger: logging.Logger) -> Iterator[tuple[Part, bool]]:
    """Yield what handlers write in memory: a stream, a list of records."""
    for handler in logger.handlers:
        # Those of pytest keep the records of every test.
        if type(handler).__module__.partition(".")[0] == "_pytest":
            continue
        held: list[object] = [*vars(handler).values()]
        for value in held:
            kind = type(value)
            if issubclass(kind, (*IN_MEMORY, *CONTAINERS, BuiltinMethodType)):
                yield from ((part, True) for part, _ in parts_of(value, everything=False))


def _state_of_logger(here: object) -> Iterator[Part]:
    for name in _OF_LOGGERS:
        value = vars(here).get(name)
        if value is not None:
            yield attribute_of(here, name)
        if issubclass(type(value), list):
            yield value, "list", ""


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
    if not issubclass(kind, io.IOBase) or issubclass(kind, IN_MEMORY):
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
    if issubclass(type(below), IN_MEMORY):
        return Effect.NOTHING
    return Effect.READS if issubclass(type(below), io.BufferedReader) else Effect.WRITES
