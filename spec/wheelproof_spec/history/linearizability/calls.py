"""Histories of public operations: their invocations, and how they ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, TypeVar

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode

Op = TypeVar("Op", covariant=True)
Res = TypeVar("Res", covariant=True)
AnyOp = TypeVar("AnyOp")
AnyRes = TypeVar("AnyRes")


class Unknown(Enum):
    """The type of UNKNOWN, the answer of an operation whose answer was not seen."""

    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return self.value


UNKNOWN: Final = Unknown.UNKNOWN


class MalformedHistoryError(WheelproofSpecError):
    """The error of a history whose event `event`, counted from 0, cannot come there."""

    exit_code = ExitCode.INPUT_REJECTED

    def __init__(self, event: int, problem: str) -> None:
        super().__init__(f"event {event + 1} of the history: {problem}")
        self.event = event
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Invoked(Generic[Op]):
    """The event that a process, which makes one call at a time, calls an operation."""

    process: str
    operation: Op


@dataclass(frozen=True, slots=True)
class Returned(Generic[Res]):
    """The event that the process's call has returned."""

    process: str
    result: Res


@dataclass(frozen=True, slots=True)
class Failed:
    """The event that the process's call has ended without any effect."""

    process: str


@dataclass(frozen=True, slots=True)
class Lost:
    """The event that the process's call has no known end: it takes effect at any time, or never.

    The process may make another call. Calls under way at the end of the history are lost as well.
    """

    process: str


Event = Invoked[AnyOp] | Returned[AnyRes] | Failed | Lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[Op, Res]):
    """A call with the places of its events in the history; without an end `returned` is None."""

    number: int
    process: str
    operation: Op
    result: Res | Unknown
    invoked: int
    returned: int | None

    def __str__(self) -> str:
        result = "" if self.returned is None else f" = {self.result!r}"
        return f"{self.process}: {self.operation}{result}"


def calls_of(events: Sequence[Event[AnyOp, AnyRes]]) -> Iterator[Call[AnyOp, AnyRes]]:
    """Yield the calls in the order of their invocations; those that failed are left out.

    Raises MalformedHistoryError if a process answers without a call, or calls during one.
    """
    ends = _ends(events)
    for place, event in enumerate(events):
        if not isinstance(event, Invoked):
            continue
        end = ends.get(place)
        last = None if end is None else events[end]
        if isinstance(last, Failed):
            continue
        returned = end if isinstance(last, Returned) else None
        yield Call(
            number=place,
            process=event.process,
            operation=event.operation,
            result=last.result if isinstance(last, Returned) else UNKNOWN,
            invoked=place,
            returned=returned,
        )


def _ends(events: Sequence[Event[AnyOp, AnyRes]]) -> dict[int, int]:
    """Return the place of each call's end, by the place of its invocation."""
    open_calls: dict[str, int] = {}
    ends: dict[int, int] = {}
    for place, event in enumerate(events):
        process = event.process
        if isinstance(event, Invoked):
            if process in open_calls:
                raise MalformedHistoryError(place, f"{process} calls while its last call runs")
            open_calls[process] = place
        elif process not in open_calls:
            raise MalformedHistoryError(place, f"{process} has no call that could end")
        else:
            ends[open_calls.pop(process)] = place
    return ends
