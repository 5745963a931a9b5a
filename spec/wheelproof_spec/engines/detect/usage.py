"""What a process and those it has started have used, and whether all of them sleep; on Linux."""

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
    """The ticks of CPU time so far, of those waited for as well; is no thread able to go on?"""

    ticks: int
    sleeps: bool

    @property
    def seconds(self) -> float:
        """Return the CPU time in seconds."""
        return self.ticks / _TICKS_PER_S


def usage_of(root: int) -> Usage:
    """Look at a process and all below it. Where there is no /proc, nothing is ever seen."""
    ticks, sleeps = 0, True
    for process in _family(root):
        try:
            ticks += sum(map(int, _fields(process)[11:15]))
            threads = (_fields(thread)[0] for thread in (process / "task").iterdir())
            sleeps = sleeps and _RUNNABLE.isdisjoint(threads)
        except OSError:
            # It has just ended, or there is no /proc: whoever cannot be seen may be at work.
            sleeps = False
    return Usage(ticks=ticks, sleeps=sleeps)


def _family(root: int) -> Iterator[Path]:
    """Yield the process, and whatever descends from it."""
    children = defaultdict[int, list[int]](list)
    for folder in _PROCESSES.glob("[0-9]*"):
        # One that has ended since has no children any more.
        with contextlib.suppress(OSError):
            children[int(_fields(folder)[1])].append(int(folder.name))
    left = [root]
    while left:
        process = left.pop()
        left += children[process]
        yield _PROCESSES / str(process)


def _fields(folder: Path) -> list[str]:
    """Return the fields of a process, or a thread, from its state on; its name may hold blanks."""
    return (folder / "stat").read_text().rpartition(") ")[2].split()
