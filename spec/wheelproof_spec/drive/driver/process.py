"""A driver's process: lines sent and received, bounded in time, length and memory.

One thread does all the work with non-blocking pipes. A call costs two system calls and a wait;
calls that are sent ahead share them. Whatever the program does, no function here waits longer than
its time-out or keeps more than a bounded amount of output.
"""

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from typing import IO

from wheelproof_spec.base import process_group
from wheelproof_spec.base.errors import UsageError, printable
from wheelproof_spec.drive.usual import MEMORY_MB, TIMEOUT_S

LONGEST_LINE = 1024 * 1024
"""The most bytes that a line may have."""

_CHUNK = 64 * 1024
_KEPT_LINES = 20
_KEPT_BYTES = 16 * 1024
_WATCH_S = 0.25
# More than a pipe holds, so that all output of a program before its end is read.
_DRAINED_CHUNKS = 32
_ENDED_WELL = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverLimits:
    """The limits of a driver: seconds for an answer, MiB of resident memory for all its processes.

    `start_s` is the limit for the first answer, if it is longer. `grace_s` is the time that the
    driver has to end by itself before it is killed.
    """

    timeout_s: float = TIMEOUT_S
    start_s: float = 20.0
    memory_mb: int = MEMORY_MB
    grace_s: float = 2.0


USUAL_LIMITS = DriverLimits()
"""The default limits: generous for a timer, even in a JVM on a busy machine."""


class DriverFailedError(Exception):
    """The driver crashed, did not answer in time, or printed a line that is no answer.

    `problem` is one sentence; `last_lines` are the last lines of its standard error.
    """

    def __init__(self, problem: str, last_lines: Sequence[str]) -> None:
        super().__init__(problem)
        self.problem = problem
        self.last_lines = tuple(last_lines)


class DriverSilentError(DriverFailedError):
    """The driver did not answer in time."""


class DriverProcess:
    """A running driver; the caller must call `end` in every case.

    The problem of a DriverFailedError completes the sentence "the driver ...".
    """

    def __init__(self, command: str, limits: DriverLimits) -> None:
        """Start `command`, split as a shell would, without a shell.

        Raises UsageError if it cannot be started.
        """
        self._limits = limits
        environment = process_group.marked_environment()
        self._mark = environment[process_group.MARK]
        self._process = _start(command, environment)
        self._input = _file(self._process.stdin)
        self._output = _file(self._process.stdout)
        self._errors = _file(self._process.stderr)
        self._unsent = b""
        self._received = bytearray()
        self._searched = 0
        self._last_errors = bytearray()
        self._next_watch = 0.0
        self._selector = selectors.DefaultSelector()
        for stream in (self._input, self._output, self._errors):
            os.set_blocking(stream.fileno(), False)
        self._selector.register(self._output, selectors.EVENT_READ, self._take_output)
        self._selector.register(self._errors, selectors.EVENT_READ, self._take_errors)

    def send(self, requests: bytes) -> None:
        """Send lines; bytes that do not fit into the pipe yet are sent during `receive`."""
        self._unsent += requests
        self._write()

    def receive(self, timeout_s: float) -> bytes:
        """Return the next line that the driver prints, without its end.

        Raises DriverFailedError, also after `timeout_s` seconds.
        """
        deadline = _Deadline(timeout_s)
        while (line := self._next_line()) is None:
            if not self._wait(deadline):
                where = "in the middle of a line" if self._received else "before it answered"
                raise self.failure(f"{self._how_it_ended()} {where}")
        return line

    def expect_end(self) -> None:
        """Close the driver's input; wait until it exits with code 0 and without further output.

        Raises DriverFailedError otherwise.
        """
        self._input.close()
        deadline = _Deadline(self._limits.timeout_s)
        while not self._received and self._wait(deadline):
            pass
        if self._received:
            raise self.failure("printed more after it had answered its last request")
        how = self._how_it_ended()
        if how != _ENDED_WELL:
            raise self.failure(f"{how} after it had answered its last request")

    def end(self) -> None:
        """End the process and all its descendants; a second call has no effect."""
        if self._output.closed:
            return
        try:
            process_group.end(self._process, self._limits.grace_s, self._mark)
        finally:
            self._selector.close()
            for stream in (self._input, self._output, self._errors):
                stream.close()

    def failure(self, problem: str) -> DriverFailedError:
        """Return the error for `problem`, with the last lines of the driver's standard error."""
        return DriverFailedError(problem, self.last_lines())

    def last_lines(self) -> tuple[str, ...]:
        """Return the last lines of the driver's standard error so far."""
        for _ in range(_DRAINED_CHUNKS):
            if not self._watches(self._errors) or not self._take_errors():
                break
        lines = bytes(self._last_errors).decode("utf-8", "backslashreplace").splitlines()
        return tuple(printable(line) for line in lines[-_KEPT_LINES:])

    def _write(self) -> None:
        try:
            sent = os.write(self._input.fileno(), self._unsent)
        except BlockingIOError:
            sent = 0
        except BrokenPipeError:
            # The driver ended or closed its input; `receive` and `expect_end` find out which.
            sent = len(self._unsent)
        self._unsent = self._unsent[sent:]
        if self._unsent and not self._watches(self._input):
            self._selector.register(self._input, selectors.EVENT_WRITE, self._write)
        elif not self._unsent and self._watches(self._input):
            self._selector.unregister(self._input)

    def _next_line(self) -> bytes | None:
        end = self._received.find(b"\n", self._searched)
        length = len(self._received) if end < 0 else end
        if length > LONGEST_LINE:
            raise self.failure(f"printed a line of more than {LONGEST_LINE:,} bytes")
        if end < 0:
            self._searched = length
            return None
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        self._searched = 0
        return line

    def _wait(self, deadline: "_Deadline") -> bool:
        """Wait for an event of the driver; return False if no more output can come."""
        if not self._watches(self._output):
            return False
        now = time.monotonic()
        if now >= deadline.at:
            problem = f"was silent for {deadline.timeout_s:g} s"
            raise DriverSilentError(problem, self.last_lines())
        if now >= self._next_watch:
            self._watch_memory()
            self._next_watch = now + _WATCH_S
        ready = self._selector.select(min(deadline.at - now, _WATCH_S))
        for key, _ in ready:
            react: Callable[[], object] = key.data
            react()
        # A child that the driver left behind may hold its standard output open.
        return bool(ready) or self._process.poll() is None or self._take_output()

    def _take_output(self) -> bool:
        chunk = self._read(self._output)
        self._received += chunk
        return bool(chunk)

    def _take_errors(self) -> bool:
        chunk = self._read(self._errors)
        self._last_errors += chunk
        del self._last_errors[:-_KEPT_BYTES]
        return bool(chunk)

    def _read(self, stream: FileIO) -> bytes:
        """Return the bytes that are available, at most one chunk; unregister an ended stream."""
        try:
            chunk = os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            return b""
        if not chunk:
            self._selector.unregister(stream)
        return chunk

    def _watches(self, stream: FileIO) -> bool:
        return stream in self._selector.get_map()

    def _watch_memory(self) -> None:
        used = process_group.memory_mb(self._process.pid)
        if used > self._limits.memory_mb:
            allowed = f"{self._limits.memory_mb:,} MiB"
            raise self.failure(f"uses {used:,} MiB of memory where {allowed} are allowed")

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(self._limits.grace_s)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        if code < 0:
            return f"was ended by signal {-code} ({signal.strsignal(-code)})"
        return _ENDED_WELL if code == 0 else f"ended with exit code {code}"


class _Deadline:
    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.at = time.monotonic() + timeout_s


def _start(command: str, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"the driver's command {command!r} has an open quotation") from error
    if not words:
        raise UsageError("the driver's command is empty; name a program")
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=environment,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"the driver {words[0]!r} cannot be started: {reason}; "
            "name a program that exists and may be executed"
        ) from error


def _file(stream: IO[bytes] | None) -> FileIO:
    if not isinstance(stream, FileIO):
        raise TypeError("an unbuffered pipe is expected")
    return stream
