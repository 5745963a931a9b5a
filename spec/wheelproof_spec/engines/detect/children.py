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

START_S = 60
"""What a process may take beyond its budget before it counts as one that hangs, in seconds."""
MOST_STUCK = 2
"""After how many cells that were ended at their limit a chain is given up."""
_LONGEST_STORY = 4_000


def limit_of(cell: Cell) -> int:
    """Return after how many seconds a cell that has not ended is ended."""
    return START_S + TIMES_THE_BUDGET * cell.seconds


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
            said, complaint = process.communicate(timeout=limit_of(cell))
            outcome = _told(said)
            story = complaint.decode(errors="replace")[-_LONGEST_STORY:]
            found = Found(end=End.ERROR, story=story or "it ended, and said nothing")
        except subprocess.TimeoutExpired:
            outcome = None
            found = Found(end=End.HANGS, story=f"it had not ended after {limit_of(cell)} s")
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


def _told(said: bytes) -> Outcome | None:
    with contextlib.suppress(MalformedError, IndexError):
        return read_outcome(said.splitlines()[-1])
    return None


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the process and whatever it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
