"""The processes of a program that we start: how much memory they use, and how they are ended.

The program leads its own session, so that one signal ends its process group. Where the system has
`/proc`, a process that left the group is found by its parents, or, once they have ended, by a mark
in its environment. Elsewhere only the group is ended.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

MARK = "WHEELPROOF_DRIVER"
"""The environment variable that marks every process started by a program under test."""

_PROCESSES = Path("/proc")
_MEBIBYTE = 1024 * 1024
_MOST_ROUNDS = 100
"""The most searches for processes that were started while others were being killed."""


def marked_environment() -> dict[str, str]:
    """Return an environment for a program under test, with a unique mark."""
    return {**os.environ, MARK: f"{os.getpid()}-{os.urandom(8).hex()}"}


def memory_mb(leader: int) -> int:
    """Return the resident memory of the group and its descendants in MiB; 0 if it is unknown."""
    if not _PROCESSES.is_dir():
        return 0
    known = {process.number: process for process in _running()}
    pages = sum(process.pages for process in known.values() if _belongs(process, leader, known))
    return pages * os.sysconf("SC_PAGE_SIZE") // _MEBIBYTE


def kill(leader: int) -> None:
    """Kill all processes of the group that `leader` leads, which need not run any more."""
    _send(leader, signal.SIGKILL)


def end(process: "subprocess.Popen[bytes]", grace_s: float, mark: str) -> None:
    """End `process` and all its descendants; kill them after `grace_s` seconds."""
    leader = process.pid
    # Before any process ends: a process whose parent has ended cannot be found by its parent.
    escaped = {one.identity for one in _descendants(leader)}
    try:
        _send(leader, signal.SIGTERM)
        process.wait(grace_s)
    except subprocess.TimeoutExpired:
        pass
    finally:
        # Also after a clean end of the leader: it may have left other processes behind.
        kill(leader)
        process.wait()
        _end_escaped(escaped, f"{MARK}={mark}".encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Process:
    number: int
    state: bytes
    parent: int
    group: int
    started: int
    pages: int

    @property
    def identity(self) -> tuple[int, int]:
        """The number and the start time: unique even if the number is used again."""
        return self.number, self.started

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """Return the process of a folder in `/proc`; None if it is gone."""
        try:
            # The program's name stands in brackets and may contain anything, brackets included.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
        except OSError:
            return None
        return cls(
            number=int(folder.name),
            state=fields[0],
            parent=int(fields[1]),
            group=int(fields[2]),
            started=int(fields[19]),
            pages=int(fields[21]),
        )


def _running() -> Iterator[_Process]:
    for folder in _PROCESSES.glob("[0-9]*"):
        process = _Process.read(folder)
        if process is not None and process.state != b"Z":
            yield process


def _descendants(leader: int) -> Iterator[_Process]:
    known = {process.number: process for process in _running()}
    for process in known.values():
        if process.number != leader and _belongs(process, leader, known):
            yield process


def _belongs(process: _Process, leader: int, known: Mapping[int, _Process]) -> bool:
    """Tell whether a process or one of its ancestors is in the leader's group."""
    seen: set[int] = set()
    above: _Process | None = process
    while above is not None and above.number not in seen:
        if above.group == leader:
            return True
        seen.add(above.number)
        above = known.get(above.parent)
    return False


def _end_escaped(escaped: set[tuple[int, int]], marked: bytes) -> None:
    for _ in range(_MOST_ROUNDS):
        left = [one for one in _running() if one.identity in escaped or _has(one, marked)]
        if not left:
            return
        for process in left:
            try:
                os.kill(process.number, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                escaped.discard(process.identity)


def _has(process: _Process, marked: bytes) -> bool:
    try:
        environment = (_PROCESSES / str(process.number) / "environ").read_bytes()
    except OSError:
        return False
    return marked in environment.split(b"\0")


def _send(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        # No process is left, or (on macOS) only a process that has ended already.
        return
