"""The time of processors that this program and all that it has started have had, on Linux."""

import os
import threading
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PARENT, _TIMES, _BEGAN = 3, slice(13, 15), 21
_EVERY_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Cpu:
    """Seconds, of Java and of everything else."""

    java: float
    others: float

    def __sub__(self, before: "Cpu") -> "Cpu":
        return Cpu(self.java - before.java, self.others - before.others)


class FamilyMeter:
    """Adds up the processes of a family, those that ended included, as far as they were seen.

    Whoever waits for a process that has ended may be nobody of the family: so its time is what was
    seen last, at most `_EVERY_SECONDS` before.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, str], tuple[str, float]] = {}
        self._looking = threading.Lock()

    def cpu(self) -> Cpu:
        """Return what this process and all below it have had until now."""
        with self._looking:
            self._seen |= _family()
            spent = dict.fromkeys(("java", "others"), 0.0)
            for name, seconds in self._seen.values():
                spent["java" if name == "java" else "others"] += seconds
            return Cpu(spent["java"], spent["others"])

    @contextmanager
    def watching(self) -> Generator[None]:
        """Look again and again."""
        ended = threading.Event()

        def look() -> None:
            while not ended.wait(_EVERY_SECONDS):
                self.cpu()

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _family() -> dict[tuple[int, str], tuple[str, float]]:
    """Return name and seconds of each process of the family, by its number and its beginning."""
    children: dict[int, list[int]] = defaultdict(list)
    found: dict[int, tuple[str, str, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            before, _, after = path.read_text().rpartition(")")
        except OSError:
            continue
        number, comm = before.split(" (", 1)
        words = [number, comm, *after.split()]
        children[int(words[_PARENT])].append(int(number))
        found[int(number)] = words[_BEGAN], comm, sum(map(int, words[_TIMES])) / _TICKS
    family: dict[tuple[int, str], tuple[str, float]] = {}
    waiting = [os.getpid()]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        if pid in found:
            began, name, seconds = found[pid]
            family[pid, began] = name, seconds
    return family
