"""How a run can go wrong."""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from wheelproof_spec.engines.explore.model import ModelThread
from wheelproof_spec.engines.explore.waits import Wait, circle_of, waits_of

_OURS = Path(__file__).parent
"""Where the frames of the checker are, which explain nothing."""


class FailureKind(StrEnum):
    """What went wrong."""

    EXCEPTION = "exception"
    CHECK = "failed check"
    NOT_LINEARIZABLE = "not linearizable"
    BROKEN_GUARD = "broken guard"
    DATA_RACE = "data race"
    DEADLOCK = "deadlock"
    LOST_WAKEUP = "lost wake-up"
    UNFINISHED = "unfinished threads"
    NEVER_ENDS = "no end"
    LIVELOCK = "livelock"
    STARVATION = "starvation"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong in a run, in which thread (None: in no single one), in words.

    `waits` is the wait-for graph, if nobody could make a step.
    """

    kind: FailureKind
    thread: str | None
    message: str
    waits: tuple[Wait, ...] = ()

    @classmethod
    def of_exception(cls, kind: FailureKind, thread: str | None, error: BaseException) -> Self:
        """Return the failure that an exception is."""
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [one for one in frames if Path(one.filename).parent != _OURS] or frames
        where = "".join(f" ({one.name}, line {one.lineno}: {one.line})" for one in theirs[-1:])
        # Under pytest more lines may follow, with addresses that differ from run to run.
        first_line = str(error).partition("\n")[0]
        said = f": {first_line}" if first_line else ""
        return cls(kind=kind, thread=thread, message=f"{type(error).__name__}{said}{where}")

    def sentence(self) -> str:
        """Return it as one line."""
        place = "" if self.thread is None else f" in {self.thread}"
        return f"{self.kind.value}{place}: {self.message}"


def failure_of_stuck_threads(
    stuck: Sequence[ModelThread], threads: Mapping[int, ModelThread]
) -> Failure:
    """Return the failure of a run in which nobody can make a step, with the wait-for graph.

    Threads that wait for each other in a circle are a deadlock. Without a circle, one that waits on
    a condition has missed its wake-up, and whoever else is stuck is just unfinished.
    """
    waits = waits_of(stuck, threads)
    circle = circle_of(stuck, threads)
    if circle:
        kind = FailureKind.DEADLOCK
    elif any(wait.on_condition for wait in waits):
        kind = FailureKind.LOST_WAKEUP
    else:
        kind = FailureKind.UNFINISHED
    told = f"; circle: {' -> '.join([*circle, circle[0]])}" if circle else ""
    message = "; ".join(map(str, waits)) + told
    return Failure(kind=kind, thread=None, message=message, waits=waits)
