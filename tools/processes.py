"""Child processes that never outlive this one: each leads a process group that is always ended."""

import math
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import IO

_GRACE_SECONDS = 10
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A command with the name under which it is reported."""

    name: str
    command: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a job ended: its exit code, all that it printed, and its wall time in seconds."""

    job: Job
    exit_code: int
    output: str
    seconds: float


def run_shown(command: Sequence[str], *, directory: Path, environment: Mapping[str, str]) -> int:
    """Run `command` with this process's output and return its exit code."""
    process = _start(command, directory, environment, None)
    try:
        return _exit_code(process.wait())
    finally:
        _end(process)


def run_quiet(
    command: Sequence[str], *, directory: Path, environment: Mapping[str, str]
) -> Outcome:
    """Run `command`, show nothing, and return its outcome."""
    job = Job(name=command[0], command=command)
    return next(run_together([job], limit=1, directory=directory, environment=environment))


def run_together(
    jobs: Iterable[Job],
    *,
    limit: int,
    directory: Path,
    environment: Mapping[str, str],
    until: float = math.inf,
) -> Generator[Outcome]:
    """Run `jobs`, at most `limit` at once, and yield each outcome as soon as it is known.

    A job is asked for when it can start. What still runs at `until`, a time of `time.monotonic`, is
    ended without an outcome.
    """
    waiting = iter(jobs)
    running: list[_Running] = []
    try:
        while time.monotonic() < until:
            free = islice(waiting, limit - len(running))
            running.extend(_Running(job, directory, environment) for job in free)
            if not running:
                return
            for finished in [one for one in running if one.process.poll() is not None]:
                running.remove(finished)
                yield finished.outcome()
            time.sleep(_POLL_SECONDS)
    finally:
        for one in running:
            _end(one.process)


def last_lines(text: str, count: int = 15) -> str:
    """Return the last `count` lines of `text` that are not blank."""
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])


def end_on_signals() -> None:
    """Let SIGTERM and SIGHUP unwind the stack as Ctrl-C does, so that the children are ended."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


class _Running:
    def __init__(self, job: Job, directory: Path, environment: Mapping[str, str]) -> None:
        self._job = job
        self._started = time.monotonic()
        self._output = _temporary_file()
        self.process = _start(job.command, directory, environment, self._output)

    def outcome(self) -> Outcome:
        seconds = time.monotonic() - self._started
        with self._output as output:
            output.seek(0)
            text = output.read().decode(errors="replace")
        code = _exit_code(self.process.wait())
        return Outcome(job=self._job, exit_code=code, output=text, seconds=seconds)


def _temporary_file() -> IO[bytes]:
    return tempfile.TemporaryFile()


def _start(
    command: Sequence[str],
    directory: Path,
    environment: Mapping[str, str],
    output: IO[bytes] | None,
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=None if output is None else subprocess.STDOUT,
        start_new_session=True,
    )


def _exit_code(status: int) -> int:
    """Return the exit code as a shell does: 128 + n for a child killed by signal n."""
    return status if status >= 0 else 128 - status


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group of `process` if its leader still runs; interrupt first, to let it tidy up."""
    if process.poll() is not None:
        return
    try:
        _signal(process, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_SECONDS)
    finally:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
