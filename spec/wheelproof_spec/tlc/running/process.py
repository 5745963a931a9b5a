"""Runs a program in its own process group, and always ends the whole group."""

import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from wheelproof_spec.base import process_group
from wheelproof_spec.tlc.running.watchdog import Watchdog

LINE_LIMIT = 16 * 1024 * 1024
"""The most bytes that are taken as one line; a longer line arrives in pieces."""


class Ending(Enum):
    """How a run of a program ended."""

    EXITED = "exited"
    OUT_OF_TIME = "out of time"
    STALLED = "stalled"
    INTERRUPTED = "interrupted"
    NOT_STARTED = "not started"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """How a program ended; `exit_code` is negative when a signal ended it."""

    ending: Ending
    exit_code: int


class ProcessPool:
    """The programs that are running; `interrupt` ends all of them and refuses new ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._interrupted = False

    @property
    def interrupted(self) -> bool:
        """Whether `interrupt` was called."""
        return self._interrupted

    def interrupt(self) -> None:
        """End every program's process group; safe to call from any thread, and twice."""
        with self._lock:
            self._interrupted = True
            for process in self._running:
                _kill_group(process)

    def run(
        self,
        command: Sequence[str],
        folder: Path,
        seconds: float,
        consume: Callable[[Iterator[str]], None],
    ) -> ProcessResult:
        """Run `command` in `folder` for at most `seconds`; `consume` gets the lines of its output.

        Standard error is part of the output. Raises OSError when the program cannot be started.
        """
        with self._lock:
            if self._interrupted:
                return ProcessResult(ending=Ending.INTERRUPTED, exit_code=-signal.SIGKILL)
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        watchdog = Watchdog(process.pid, seconds, lambda: _kill_group(process))
        try:
            watchdog.start()
            if process.stdout is None:
                raise OSError("the program's output is no pipe")
            with process.stdout as stream:
                consume(_lines(stream))
            exit_code = process.wait()
        finally:
            watchdog.stop()
            self._end(process)
        return ProcessResult(ending=self._ending(watchdog), exit_code=exit_code)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            self._running.discard(process)
            _kill_group(process)
        process.wait()

    def _ending(self, watchdog: Watchdog) -> Ending:
        if self._interrupted:
            return Ending.INTERRUPTED
        if watchdog.stalled:
            return Ending.STALLED
        return Ending.OUT_OF_TIME if watchdog.out_of_time else Ending.EXITED


def _lines(stream: IO[bytes]) -> Iterator[str]:
    while line := stream.readline(LINE_LIMIT):
        yield line.decode("utf-8", "replace")


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill the group unless its leader is reaped: then the number may be another process's."""
    if process.poll() is None:
        process_group.kill(process.pid)
