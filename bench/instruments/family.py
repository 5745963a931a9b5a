"""The time of processors that this program and all that it has started have had, on Linux."""

import os
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES = 3, slice(13, 17)


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds, of Java and of everything else."""

    java: float
    others: float

    def __sub__(self, before: "Cpu") -> "Cpu":
        return Cpu(self.java - before.java, self.others - before.others)


def family_cpu() -> Cpu:
    """Return what this process and those below it have had, with their children that have ended."""
    children: dict[int, list[int]] = defaultdict(list)
    seconds: dict[int, tuple[str, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
        except OSError:
            continue
        number, comm = before.split(" (", 1)
        words = [number, comm, *after.split()]
        children[int(words[_PARENT])].append(int(number))
        seconds[int(number)] = comm, sum(map(int, words[_TIMES])) / _TICKS
    java = others = 0.0
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        name, spent = seconds.get(pid, ("", 0.0))
        java, others = (java + spent, others) if name == "java" else (java, others + spent)
    return Cpu(java, others)
