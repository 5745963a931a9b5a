"""Runs cells, each in its own process, so that one that crashes or hangs harms no other."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from wheelproof_lab.detect.mutation.budget import TIMES_THE_BUDGET
from wheelproof_lab.detect.mutation.cells import (
    SEEN,
    Cell,
    End,
    Found,
    Outcome,
    read_outcome,
    read_outcomes,
)
from wheelproof_lab.detect.mutation.usage import usage_of
from wheelproof_spec.base import process_group
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.strict_json import MalformedError

START_S = 20
"""The CPU time that a process may use beyond its budget, in seconds."""
STUCK_S = 60
"""How long all threads must sleep to count as stuck, in seconds: longer than any engine waits."""
LOOK_S = 2.0
TIMES_BUSY = 4
"""The wall-clock limit, in multiples of the CPU limit: other processes use the machine too."""
MOST_STUCK = 2
"""The number of cells ended at their limit after which a chain is given up."""
_LONG = frozenset({"TLC", "proof", "state graph"})
"""The engines that finish one piece of work, however long it takes: CPU time shows nothing."""
_LONGEST_STORY = 4_000


def limit_of(cell: Cell) -> int:
    """Return the CPU time after which a cell counts as endless, in seconds: many budgets."""
    return START_S + TIMES_THE_BUDGET * cell.seconds


@dataclass(slots=True)
class _Watch:
    """A watch on a process: CPU time or sleep shows that it never ends; the clock shows nothing."""

    cell: Cell
    process: int
    begin: float = field(default_factory=time.monotonic)
    asleep: float | None = None
    ticks: int = -1

    def look(self) -> Found | None:
        """Return the result of the cell if its process must be ended now, else None."""
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
        # The unaltered reference ends: an altered one that does not end counts as found.
        return Found(end=End.FOUND if self.cell.subject else End.HANGS, story=story)


def run_chains(
    chains: Sequence[Sequence[Cell]],
    command: Callable[[Cell], Sequence[str]],
    *,
    jobs: int,
    results: Path | None,
    tell: Callable[[Outcome, int], None],
) -> list[list[Outcome]]:
    """Run each chain until one of its cells has seen something; return the outcomes per chain.

    A chain is also given up once MOST_STUCK of its cells were ended at their limit.

    `command` gives the command of a cell's process, which prints its outcome as its last line. Each
    outcome is written to `results` at once, so that an interrupted run can resume. `tell` is called
    with each new outcome and the number of chains that are left.
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
    """The error of a cell that has no outcome because the run was ended."""


class _Children:
    """The running processes. Each leads its own process group, so Ctrl-C does not reach it."""

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
        """Kill the running processes, and start no more."""
        with self._lock:
            self._ended = True
            for process in self._running:
                process_group.kill(process.pid)

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
        process_group.kill(process.pid)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _watched(process: "subprocess.Popen[bytes]", cell: Cell) -> tuple[bytes, bytes, Found | None]:
    """Return the two outputs of a process, or the result with which it must be ended."""
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
