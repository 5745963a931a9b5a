"""The part of docs/sources/performance.md on memory: of what waits, and of many cancelled timers.

``python bench/memory.py SUBJECT COUNT`` measures one subject, as the sections below do, each time
in a process of its own: what was freed before would be used again and not be seen. Memory is what
is resident (Linux): with what the allocators keep for themselves, and with the locks of the
operating system.
"""

import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from instruments.contestants import (
    LONGEST_DELAY_MS,
    AsyncioContestant,
    Contestant,
    EmptyTask,
    HeapContestant,
    WheelContestant,
)
from instruments.section import Section, times
from instruments.stopwatch import garbage_collector
from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import MAX_MILLIS

_STATM = Path("/proc/self/statm")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_CHUNK = 1_000
"""So many timers are added before nine of ten of them are cancelled."""
_KEPT_ONE_OF = 10
_FEW = 100
_SECONDS = 600


class _Operation(DelayedOperation):
    """An operation that waits."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """Wait on."""
        return False

    def on_complete(self) -> None:
        """Do nothing."""

    def on_expiration(self) -> None:
        """Do nothing."""


def _timer() -> SystemTimer:
    return SystemTimer("bench", clock=ManualClock(), executor=DeferredExecutor())


def _purgatory() -> DelayedOperationPurgatory[_Operation]:
    return DelayedOperationPurgatory[_Operation]("bench", _timer(), reaper_enabled=False)


def _delays(count: int) -> list[int]:
    source = random.Random(1)
    return [source.randint(1, LONGEST_DELAY_MS) for _ in range(count)]


def _resident_bytes() -> int:
    return int(_STATM.read_text(encoding="ascii").split()[1]) * _PAGE_BYTES


def _grown(count: int, make: Callable[[int], object]) -> float:
    """Return the bytes that stay for each of `count` objects."""
    kept: list[object] = [None] * count
    before = _resident_bytes()
    for index in range(count):
        kept[index] = make(index)
    return (_resident_bytes() - before) / count


def _of_a_timer(count: int) -> float:
    timer, delays = _timer(), _delays(count)

    def add(index: int) -> EmptyTask:
        task = EmptyTask(delays[index])
        timer.add(task)
        return task

    return _grown(count, add)


def _of_an_operation(keys: Sequence[str]) -> float:
    purgatory, delays = _purgatory(), _delays(len(keys))

    def watch(index: int) -> _Operation:
        operation = _Operation(delays[index])
        purgatory.try_complete_else_watch(operation, (keys[index],))
        return operation

    return _grown(len(keys), watch)


def _of_a_purgatory(count: int, *, purged: bool) -> float:
    def make(_: int) -> DelayedOperationPurgatory[_Operation]:
        purgatory = _purgatory()
        if purged:
            purgatory.purge_completed()
        return purgatory

    return _grown(count, make)


def _of_a_late_timer(count: int) -> float:
    timers = [_timer() for _ in range(count)]

    def add(index: int) -> None:
        task = EmptyTask(MAX_MILLIS)
        timers[index].add(task)
        task.cancel()

    return _grown(count, add)


_SUBJECTS: dict[str, tuple[str, int, Callable[[int], float]]] = {
    "timer": ("a timer that waits", 1, _of_a_timer),
    "operation": (
        "an operation that waits, with others under one key",
        1,
        lambda count: _of_an_operation(["key"] * count),
    ),
    "key": (
        "an operation that waits, under a key of its own",
        1,
        lambda count: _of_an_operation([f"key {number}" for number in range(count)]),
    ),
    "purgatory": (
        "an empty purgatory and its timer",
        _FEW,
        lambda count: _of_a_purgatory(count, purged=False),
    ),
    "purged": (
        "the same after a purge, which makes all shards",
        _FEW,
        lambda count: _of_a_purgatory(count, purged=True),
    ),
    "late": (
        f"what an add of {MAX_MILLIS:,} ms and its cancel leave in a timer",
        _FEW,
        _of_a_late_timer,
    ),
}
"""Of each subject a name, how many times fewer of it are made, and the measurement."""

_CONTESTANTS: dict[str, Callable[[], Contestant]] = {
    "the wheel": WheelContestant,
    "heapq, cancelled entries stay": lambda: HeapContestant(compacts=False),
    "heapq, compacted when half is cancelled": HeapContestant,
    "asyncio": AsyncioContestant,
}


def _churn(make: Callable[[], Contestant], count: int) -> tuple[float, float]:
    """Return the bytes at the end, and the microseconds of an add and its cancel."""
    delays = _delays(count)
    contestant = make()
    doomed = [index for index in range(_CHUNK) if index % _KEPT_ONE_OF]
    before, began = _resident_bytes(), time.process_time_ns()
    for start in range(0, count, _CHUNK):
        contestant.fill(delays[start : start + _CHUNK])
        contestant.cancel(doomed)
        contestant.forget()
    spent = time.process_time_ns() - began
    return _resident_bytes() - before, spent / count / 1_000


def waiting(count: int, rounds: int) -> Section:
    """Measure the memory of what waits, and of what is empty."""
    rows = [
        (what, f"{_measured(subject, max(count // fewer, 1), rounds)[0]:,.0f}")
        for subject, (what, fewer, _) in _SUBJECTS.items()
    ]
    return Section(
        title="Memory of what waits",
        claim=f"Resident memory, of {count:,} objects or a hundredth of that, without what the"
        " caller has anyway: the delay and the keys. Tasks and operations have no attributes of"
        " their own. The monitors and cells of a timer are most of it. The 512 shards of a"
        " purgatory and the buckets of a wheel are made when they are first needed.",
        head=("", "bytes"),
        rows=tuple(rows),
    )


def cancelled(count: int, rounds: int) -> Section:
    """Compare the memory and the time of many timers of which most are cancelled."""
    found = {name: _measured(name, count, rounds) for name in _CONTESTANTS}
    (_, (our_bytes, our_time)), *others = found.items()
    fewer = [name for name, (size, _) in others if our_bytes < size]
    faster = [name for name, (_, spent) in others if our_time < spent]
    return Section(
        title=f"Memory of many timers, of which {100 - 100 // _KEPT_ONE_OF} % are cancelled",
        claim=f"{count:,} timers are added, {_CHUNK:,} at a time, and nine of ten of these are"
        " cancelled and dropped before the next. Resident memory at the end, and the processor time"
        " of an add with its share of cancels.",
        head=("", "MB", "us", "MB, the wheel / this", "us, the wheel / this"),
        rows=tuple(
            (
                name,
                f"{size / 1e6:.1f}",
                f"{spent:.2f}",
                times(our_bytes / size),
                times(our_time / spent),
            )
            for name, (size, spent) in found.items()
        ),
        notes=(
            f"In memory the wheel wins against: {', '.join(fewer) or 'none'}. In time against:"
            f" {', '.join(faster) or 'none'}.",
            "The wheel lets go of a timer in its cancel. A heap keeps it until it is due, or until"
            " a cancel clears the heap and walks over all timers.",
        ),
    )


def _measured(subject: str, count: int, rounds: int) -> tuple[float, float]:
    """Measure in processes of their own; return the medians."""
    command = (sys.executable, __file__, subject, str(count))
    told = [
        subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
        for _ in range(rounds)
    ]
    sizes, spent = zip(*(map(float, line.split()) for line in told), strict=True)
    return statistics.median(sizes), statistics.median(spent)


def main(arguments: Sequence[str]) -> int:
    """Measure one subject here, and print its bytes and its microseconds."""
    subject, count = arguments[0], int(arguments[1])
    with garbage_collector(enabled=False):
        if subject in _CONTESTANTS:
            print(*_churn(_CONTESTANTS[subject], count))
        else:
            print(_SUBJECTS[subject][2](count), 0.0)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
