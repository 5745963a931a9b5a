"""The processor time of this process and of all its descendants, on Linux."""

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
    """Seconds of processor time of Java, and of all other programs."""

    java: float
    others: float

    def __sub__(self, before: "Cpu") -> "Cpu":
        return Cpu(self.java - before.java, self.others - before.others)


class FamilyMeter:
    """A meter that adds up the processes of a family, with the ended ones that it has seen.

    The process that reaps an ended one may be outside the family. So the meter keeps the last time
    that it saw, at most `_EVERY_SECONDS` old.
    """

    def __init__(self) -> None:
        self._seen: dict[tuple[int, str], tuple[str, float]] = {}
        self._looking = threading.Lock()

    def cpu(self) -> Cpu:
        """Return the processor time of this process and all its descendants until now."""
        with self._looking:
            self._seen |= _family()
            spent = dict.fromkeys(("java", "others"), 0.0)
            for name, seconds in self._seen.values():
                spent["java" if name == "java" else "others"] += seconds
            return Cpu(spent["java"], spent["others"])

    @contextmanager
    def watching(self) -> Generator[None]:
        """Measure every `_EVERY_SECONDS` during the block."""
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
    """Return name and seconds of each process of the family, by its id and its start time."""
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
