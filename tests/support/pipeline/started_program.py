"""Starts the pipeline as a program of its own, meets it where it stops, and sees it end."""

import os
import select
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(__file__).with_name("stopping_program.py")
_TOO_LONG_SECONDS = 600
"""No claim about speed: a program that hangs fails its test instead of stopping all of them."""

_QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class Started:
    """A program that runs: the leader of a session of its own."""

    def __init__(self, process: "subprocess.Popen[str]", listener: socket.socket) -> None:
        self.process = process
        self._listener = listener

    def stopped(self) -> "Stopped":
        """Wait until the program stops at a place; fails if it ends instead."""
        ended = os.pidfd_open(self.process.pid)
        try:
            waited = [self._listener.fileno(), ended]
            ready, _, _ = select.select(waited, [], [], _TOO_LONG_SECONDS)
        finally:
            os.close(ended)
        assert ready, "it neither stops nor ends"
        assert ended not in ready, f"it ended instead of stopping: {self.process.wait()}"
        connection, _ = self._listener.accept()
        with connection.makefile("r") as said:
            place, pid = said.readline().split()
        return Stopped(connection, place, int(pid))

    def ended(self) -> tuple[int, str]:
        """Return the exit code and what was printed to standard error."""
        _, printed = self.process.communicate(timeout=_TOO_LONG_SECONDS)
        return self.process.returncode, printed

    def family(self) -> list[int]:
        """Return the processes of its session."""
        return members(self.process.pid)


class Stopped:
    """A process that waits for the test."""

    def __init__(self, connection: socket.socket, place: str, pid: int) -> None:
        self._connection = connection
        self.place = place
        self.pid = pid

    def goes_on(self) -> None:
        """Let it go on, or, if it is dead, forget it."""
        self._connection.close()


@contextmanager
def started(
    folder: Path, places: Sequence[str], words: Sequence[object], environment: Mapping[str, str]
) -> Generator[Started]:
    """Start `wheelproof WORDS`, which stops at `places`; nothing of it outlives this."""
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, PROGRAM, str(port), folder, ",".join(places), *map(str, words)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "JAVA_TOOL_OPTIONS": _QUICK_START, **environment},
            start_new_session=True,
        )
        try:
            yield Started(process, listener)
        finally:
            for pid in members(process.pid):
                _kill(pid)
            process.communicate()


def members(session: int) -> list[int]:
    """Return the processes of a session that have not ended."""
    return [pid for pid, _, its, state in _processes() if its == session and state != "Z"]


def parent_of(pid: int) -> int:
    """Return the parent of a process."""
    return next(parent for one, parent, _, _ in _processes() if one == pid)


def await_end(pids: Sequence[int]) -> None:
    """Return when the processes have ended, whoever their parents are."""
    for pid in pids:
        try:
            ended = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            ready, _, _ = select.select([ended], [], [], _TOO_LONG_SECONDS)
        finally:
            os.close(ended)
        assert ready, f"process {pid} goes on"


def _processes() -> list[tuple[int, int, int, str]]:
    """Return process, parent, session and state of all that run."""
    found: list[tuple[int, int, int, str]] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            # The program's name stands in brackets and may contain anything, brackets included.
            fields = (place / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(place.name), int(fields[1]), int(fields[3]), fields[0]))
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return
