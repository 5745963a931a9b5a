"""Runs cells, each in a process of its own that cannot take the others with it."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.engines.detect.budget import TIMES_THE_BUDGET
from wheelproof_spec.engines.detect.cells import (
    SEEN,
    Cell,
    End,
    Found,
    Outcome,
    read_outcome,
    read_outcomes,
)
from wheelproof_spec.engines.detect.usage import usage_of

START_S = 20
"""What a process may take beyond its budget, in seconds of CPU time."""
STUCK_S = 60
"""How long all threads have to sleep before they are stuck: longer than any engine waits."""
LOOK_S = 2.0
TIMES_BUSY = 4
"""How many times the limit of CPU time the clock may show: others use the machine as well."""
MOST_STUCK = 2
"""After how many cells that were ended at their limit a chain is given up."""
_LONG = frozenset({"TLC", "proof", "state graph"})
"""What does a whole piece of work, however long it takes: CPU time shows nothing."""
_LONGEST_STORY = 4_000


def limit_of(cell: Cell) -> int:
    """Return the CPU time of a cell that does not end, in seconds: many times the budget."""
    return START_S + TIMES_THE_BUDGET * cell.seconds


@dataclass(slots=True)
class _Watch:
    """Sees, by CPU time, that a cell does not end; by the clock, nothing is shown."""

    cell: Cell
    process: int
    begin: float = field(default_factory=time.monotonic)
    asleep: float | None = None
    ticks: int = -1

    def look(self) -> Found | None:
        """Return how the cell ends, if it is to be ended now."""
        usage, now, limit = usage_of(self.process), time.monotonic(), limit_of(self.cell)
        asleep = usage.sleeps and usage.ticks == self.ticks
        self.asleep = (self.asleep or now) if asleep else None
        self.ticks = usage.ticks
        if usage.seconds > limit and self.cell.engine not in _LONG:
            return self._endless(f"it had not ended after {limit} s of CPU time")
        if self.asleep is not None and now - self.asleep > STUCK_S:
            return self._endless(f"it is stuck: all its threads slept for {STUCK_S} s")
        if now - self.begin > TIMES_BUSY * limit:
            return Found(end=End.HANGS, story=f"it had not ended after {TIMES_BUSY * limit} s")
        return None

    def _endless(self, story: str) -> Found:
        # The reference ends: one that does not is altered, and seen.
        return Found(end=End.FOUND if self.cell.subject else End.HANGS, story=story)


def run_chains(
    chains: Sequence[Sequence[Cell]],
    command: Callable[[Cell], Sequence[str]],
    *,
    jobs: int,
    results: Path | None,
    tell: Callable[[Outcome, int], None],
) -> list[list[Outcome]]:
    """Run each chain of cells until one of it has seen something; return the outcomes of each.

    A chain is given up, too, once MOST_STUCK cells of it were ended at their limit.

    `command` is the process of a cell, which prints its outcome as its last line; `results` gets
    each outcome as soon as it is known, so that a run that was ended goes on where it was. `tell`
    hears of each, and how many chains are left.
    """
    known = {} if results is None else {one.cell: one for one in read_outcomes(results)}
    if results is not None:
        results.write_bytes(b"".join(map(format_line, known.values())))
    one_at_a_time = threading.Lock()
    left = len(chains)
    children = _Children()

    def note(outcome: Outcome) -> None:
        known[outcome.cell] = outcome
        if results is not None:
            with results.open("ab") as stream:
                stream.write(format_line(outcome))
        tell(outcome, left)

    def run(chain: Sequence[Cell]) -> list[Outcome]:
        nonlocal left
        found: list[Outcome] = []
        for cell in chain:
            if cell not in known:
                outcome = children.run(cell, command(cell))
                with one_at_a_time:
                    note(outcome)
            found.append(known[cell])
            ends = [one.found.end for one in found]
            if ends[-1] in SEEN or ends.count(End.HANGS) == MOST_STUCK:
                break
        with one_at_a_time:
            left -= 1
        return found

    with ThreadPoolExecutor(jobs) as threads:
        waiting = [threads.submit(run, chain) for chain in chains]
        try:
            ended = wait(waiting, return_when=FIRST_EXCEPTION).done
            return [future.result() for future in waiting if future in ended]
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            children.end()
            raise


class _EndedError(Exception):
    """The run was ended, so there is no outcome."""


class _Children:
    """The processes that run now. Each leads a group of its own, so Ctrl-C does not reach it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._ended = False

    def run(self, cell: Cell, command: Sequence[str]) -> Outcome:
        """Return how a cell ended; raises _EndedError once `end` was called."""
        begin = time.monotonic()
        process = self._start(command)
        try:
            said, complaint, found = _watched(process, cell)
            outcome = _told(said)
            if found is None:
                story = complaint.decode(errors="replace")[-_LONGEST_STORY:]
                found = Found(end=End.ERROR, story=story or "it ended, and said nothing")
        finally:
            self._end(process)
        if self._ended:
            raise _EndedError
        milliseconds = round(1_000 * (time.monotonic() - begin))
        return outcome or Outcome(cell=cell, found=found, milliseconds=milliseconds)

    def end(self) -> None:
        """End those that run, and start no more."""
        with self._lock:
            self._ended = True
            for process in self._running:
                _kill_group(process)

    def _start(self, command: Sequence[str]) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._ended:
                raise _EndedError
            process = subprocess.Popen(
                [sys.executable, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
            self._running.add(process)
            return process

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        with self._lock:
            self._running.remove(process)
        _kill_group(process)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _watched(process: "subprocess.Popen[bytes]", cell: Cell) -> tuple[bytes, bytes, Found | None]:
    """Return what a process says, or how it is to be ended."""
    watch = _Watch(cell, process.pid)
    while True:
        try:
            return *process.communicate(timeout=LOOK_S), None
        except subprocess.TimeoutExpired:
            found = watch.look()
            if found is not None:
                return b"", b"", found


def _told(said: bytes) -> Outcome | None:
    with contextlib.suppress(MalformedError, IndexError):
        return read_outcome(said.splitlines()[-1])
    return None


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
