"""The CPU time of a process and its descendants, and whether all of them sleep; on Linux."""

import contextlib
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROCESSES = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_RUNNABLE = frozenset("RD")


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The ticks of CPU time so far, with those of ended children; whether no thread can run."""

    ticks: int
    sleeps: bool

    @property
    def seconds(self) -> float:
        """Return the CPU time in seconds."""
        return self.ticks / _TICKS_PER_S


def usage_of(root: int) -> Usage:
    """Return the usage of a process and its descendants; without /proc: no ticks, no sleep."""
    ticks, sleeps = 0, True
    for process in _family(root):
        try:
            ticks += sum(map(int, _fields(process)[11:15]))
            threads = (_fields(thread)[0] for thread in (process / "task").iterdir())
            sleeps = sleeps and _RUNNABLE.isdisjoint(threads)
        except OSError:
            # The process has just ended, or there is no /proc: an unseen process may be running.
            sleeps = False
    return Usage(ticks=ticks, sleeps=sleeps)


def _family(root: int) -> Iterator[Path]:
    """Yield the process and all its descendants."""
    children = defaultdict[int, list[int]](list)
    for folder in _PROCESSES.glob("[0-9]*"):
        # A process that has just ended has no children any more.
        with contextlib.suppress(OSError):
            children[int(_fields(folder)[1])].append(int(folder.name))
    left = [root]
    while left:
        process = left.pop()
        left += children[process]
        yield _PROCESSES / str(process)


def _fields(folder: Path) -> list[str]:
    """Return the fields of a process or thread, from its state on; its name may hold blanks."""
    return (folder / "stat").read_text().rpartition(") ")[2].split()
