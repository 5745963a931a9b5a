"""Detects a program that has used up its time, or that has stalled."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

STALLED_AFTER_S = 60.0
"""How long a program may do next to nothing, in seconds."""
_LEAST_WORK_S = 0.5
LOOK_EVERY_S = 5.0
"""The interval between two checks of a program, in seconds."""


class Watchdog:
    """Watches one process and calls `end` once: when its time is over, or when it stalls.

    A program that should compute, but uses less than half a second of processor time in a minute,
    waits for an event that never comes: TLC 2.15 does so at times (docs/findings.md). If the system
    does not report a process's time, only the time limit counts.
    """

    def __init__(self, pid: int, seconds: float, end: Callable[[], None]) -> None:
        """Watch the process `pid`, which may run for `seconds`."""
        self._pid = pid
        self._seconds = seconds
        self._end = end
        self._over = threading.Event()
        self.out_of_time = False
        self.stalled = False
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching; `end` is not called after this."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        left_s, idle_s, worked_s = self._seconds, 0.0, processor_seconds(self._pid)
        while left_s > 0:
            look_s = min(LOOK_EVERY_S, left_s)
            if self._over.wait(look_s):
                return
            left_s -= look_s
            now_s = processor_seconds(self._pid)
            idle_s += look_s
            if now_s is None or worked_s is None or now_s - worked_s >= _LEAST_WORK_S:
                idle_s, worked_s = 0.0, now_s
            if idle_s >= STALLED_AFTER_S:
                self.stalled = True
                self._end()
                return
        self.out_of_time = True
        self._end()


def processor_seconds(pid: int) -> float | None:
    """Return the processor time of a process in seconds; None if the system does not report it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")
