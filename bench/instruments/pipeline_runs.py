"""Files of recorded timer runs for the benchmark of the pipeline."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from recorded_runs import timer_lines

EVENTS_A_RUN = 100
_EVENTS_A_FILE = 500_000
_TEMPLATES = 50


def write_runs(
    folder: Path, events: int, seed: int, first: int = 0, events_a_run: int = EVENTS_A_RUN
) -> int:
    """Write runs with `events` lines or a little more; return the number of lines.

    Their names are numbers from `first` on. One run in fifty breaks a rule: if all passed, the
    benchmark would miss differing verdicts.
    """
    templates = [list(timer_lines(events_a_run // 2, seed + n)) for n in range(_TEMPLATES)]
    templates[-1] = _spoiled(templates[-1])
    numbers, written = count(first), 0
    while written < events:
        goal = min(written + _EVENTS_A_FILE, events)
        with (folder / f"{written:012}.jsonl").open("wb") as stream:
            while written < goal:
                number = next(numbers)
                lines = templates[number % _TEMPLATES]
                stream.writelines(_named(lines, b"h%d" % number))
                written += len(lines)
    return written


def write_one_run(folder: Path, events: int, seed: int) -> int:
    """Write one valid run with `events` lines or a little more; return the number of lines."""
    lines = 0
    with (folder / "one.jsonl").open("wb") as stream:
        for line in timer_lines(events * 3 // 5, seed):
            stream.write(line)
            lines += 1
    return lines


def _spoiled(lines: Sequence[bytes]) -> list[bytes]:
    """Return the lines with the first answer of a cancel inverted."""
    turned = {b"true": b"false", b"false": b"true"}
    found = list(lines)
    for at, line in enumerate(found):
        before, middle, after = line.partition(b'"cancelled":')
        if middle:
            answer = after[: after.index(b"}")]
            found[at] = before + middle + turned[answer] + after[len(answer) :]
            return found
    raise ValueError("no cancel in the run; take another seed")


def _named(lines: Sequence[bytes], name: bytes) -> Iterator[bytes]:
    field = b'"history":"%s"' % name
    return (line.replace(b'"history":"h"', field, 1) for line in lines)
