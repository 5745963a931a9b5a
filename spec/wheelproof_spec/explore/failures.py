"""How a run can go wrong, and who waits for whom when it cannot go on."""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from wheelproof_spec.explore.conditions import WakeUp
from wheelproof_spec.explore.model import ModelThread

_OURS = Path(__file__).parent
"""Where the frames of the checker are, which explain nothing."""


class FailureKind(StrEnum):
    """What went wrong."""

    EXCEPTION = "exception"
    CHECK = "failed check"
    DEADLOCK = "deadlock"
    LOST_WAKEUP = "lost wake-up"
    UNFINISHED = "unfinished threads"
    NEVER_ENDS = "no end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong in a run, in which thread (None: in no single one), in words."""

    kind: FailureKind
    thread: str | None
    message: str

    @classmethod
    def of_exception(cls, kind: FailureKind, thread: str | None, error: BaseException) -> Self:
        """Return the failure that an exception is."""
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [one for one in frames if Path(one.filename).parent != _OURS] or frames
        where = "".join(f" ({one.name}, line {one.lineno}: {one.line})" for one in theirs[-1:])
        said = f": {error}" if str(error) else ""
        return cls(kind=kind, thread=thread, message=f"{type(error).__name__}{said}{where}")

    def sentence(self) -> str:
        """Return it as one line."""
        place = "" if self.thread is None else f" in {self.thread}"
        return f"{self.kind.value}{place}: {self.message}"


def failure_of_stuck_threads(
    stuck: Sequence[ModelThread], threads: Mapping[int, ModelThread]
) -> Failure:
    """Return the failure of a run in which nobody can make a step; the message says who waits."""
    waits = [_wait(thread, threads) for thread in stuck]
    cycle = _cycle(stuck)
    if cycle:
        kind = FailureKind.DEADLOCK
    elif any(isinstance(thread.pending, WakeUp) for thread in stuck):
        kind = FailureKind.LOST_WAKEUP
    else:
        kind = FailureKind.UNFINISHED
    names = [threads[number].name for number in cycle]
    circle = f"; circle: {' -> '.join([*names, names[0]])}" if names else ""
    return Failure(kind=kind, thread=None, message="; ".join(waits) + circle)


def _wait(thread: ModelThread, threads: Mapping[int, ModelThread]) -> str:
    operation = thread.pending
    if operation is None:
        return f"{thread.name} has not begun"
    if isinstance(operation, WakeUp):
        return f"{thread.name} waits on {operation.condition.name} and nobody will notify it"
    holders = ", ".join(threads[number].name for number in operation.holders())
    held = f", held by {holders}" if holders else ""
    return f"{thread.name} waits to {operation.describe()}{held}"


def _cycle(stuck: Sequence[ModelThread]) -> list[int]:
    """Return the numbers of threads that wait for each other in a circle, if any do."""
    waits_for = {
        thread.number: thread.pending.holders()[:1] if thread.pending is not None else ()
        for thread in stuck
    }
    for start in waits_for:
        path: list[int] = []
        here = start
        while here not in path:
            path.append(here)
            following = waits_for.get(here, ())
            if not following:
                break
            here = following[0]
        else:
            return path[path.index(here) :]
    return []
