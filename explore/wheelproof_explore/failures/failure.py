"""The ways in which a run can fail."""

import re
import traceback
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from wheelproof_explore.failures.places import is_checkers

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NUMBERS = re.compile(r"-?\d+(?:, -?\d+)*")


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
class WaitFor:
    """A node of the wait-for graph: a thread, what it waits to do, and which threads prevent that.

    `for_threads` is empty if the thread waits on a condition that no thread will notify any more.
    """

    thread: str
    doing: str
    for_threads: tuple[str, ...]
    on_condition: bool

    def __str__(self) -> str:
        if self.on_condition:
            return f"{self.thread} {self.doing} and nobody will notify it"
        if self.doing in {f"waits for {one} to end" for one in self.for_threads}:
            return f"{self.thread} {self.doing}"
        held = f", held by {', '.join(self.for_threads)}" if self.for_threads else ""
        return f"{self.thread} {self.doing}{held}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure of a run: its kind, its thread (None: no single one), and a message.

    `waits` is the wait-for graph, if no thread could make a step. `cause` is equal for failures
    that count as the same: where and why it was found, without names and numbers of the run.
    """

    kind: FailureKind
    thread: str | None
    message: str
    waits: tuple[WaitFor, ...] = ()
    cause: str = ""

    def is_like(self, other: Self | None) -> bool:
        """Tell whether another failure is the same: the same check failed for the same reason."""
        return other is not None and (self.kind, self.cause) == (other.kind, other.cause)

    @classmethod
    def of_exception(cls, kind: FailureKind, thread: str | None, error: BaseException) -> Self:
        """Return the failure for an exception."""
        frames = traceback.extract_tb(error.__traceback__)
        theirs = [frame for frame in frames if not is_checkers(frame.filename)] or frames
        where = (
            f" ({theirs[-1].name}, line {theirs[-1].lineno}: {_cut_short(theirs[-1].line or '')})"
            if theirs
            else ""
        )
        # Under pytest more lines may follow, with addresses that differ from run to run.
        first_line = str(error).partition("\n")[0]
        said = f": {first_line}" if first_line else ""
        path = " ".join(f"{frame.name}:{frame.lineno}" for frame in theirs)
        return cls(
            kind=kind,
            thread=thread,
            message=f"{type(error).__name__}{said}{where}",
            cause=f"{type(error).__name__}{_NUMBERS.sub('0', said)} {path}",
        )

    def sentence(self) -> str:
        """Return the failure as one line."""
        place = "" if self.thread is None else f" in {self.thread}"
        return f"{self.kind.value}{place}: {self.message}"


def _cut_short(line: str) -> str:
    """Return the first line of a statement, with the bracket closed that ends it."""
    closing = _CLOSING.get(line[-1:])
    return line if closing is None else f"{line}...{closing}"
