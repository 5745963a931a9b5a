"""The state of the judge of a pool's history: loans, requests, and the sum of the loans."""

from dataclasses import dataclass, field

CLOSED = "Closed"
EXHAUSTED = "Exhausted"
TOO_LARGE = "IllegalArgument"
INTERRUPTED = "Interrupted"

MOST_NAMES = 100_000
"""The maximum number of names of buffers that were given back and are remembered."""


class Returned:
    """The names of the buffers that were given back at some time.

    What comes after the first `MOST_NAMES` is taken to have been given back before.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()

    def add(self, buffer: str) -> None:
        """Remember a buffer that was given back."""
        if len(self._names) < MOST_NAMES:
            self._names.add(buffer)

    def __contains__(self, buffer: str) -> bool:
        return len(self._names) >= MOST_NAMES or buffer in self._names


@dataclass(slots=True, eq=False)
class Loan:
    """A buffer that is lent."""

    size: int
    process: str
    """The process that got it."""
    odd: bool = False
    """Whether it was lent wrongly, or nobody knows whether it has been given back: then the right
    answers to its returns are unknown."""
    returning: int = 0
    """The number of calls of deallocate under way for it."""
    returned: bool = False

    @property
    def certain(self) -> int:
        """The bytes that are lent for certain with this loan."""
        return 0 if self.odd else self.size


@dataclass(slots=True)
class Request:
    """A call of allocate under way."""

    call: int
    size: int
    certain: int
    """The maximum of bytes lent for certain while the call was under way."""
    possible: int
    """The maximum of bytes that can have been lent when the call began, without the call."""
    patient_until_ms: int
    """Before this time the call may not be refused for exhausted memory."""
    alone: bool = True
    """Whether no other request was open at the same time."""
    met_grant: bool = False
    """Whether another request that was open at the same time got memory."""


@dataclass(slots=True)
class BusyPeriod:
    """A period in which a request is always open, and its refusals without a clear reason.

    A request that is refused for exhausted memory may have waited behind another one, but not all
    requests that are open at one time can have waited behind each other.
    """

    excused: bool = False
    """Whether the period has an event that can explain the refusals."""
    refused: list[int] = field(default_factory=list[int])
    """The indices of those refusals."""


@dataclass(slots=True)
class Ledger:
    """The bytes lent, for certain and at most, and the bounds for open calls that ask for it."""

    total: int
    certain: int = 0
    possible: int = 0
    looks: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def change(self, certain: int, possible: int) -> None:
        """Change the bounds by these bytes."""
        self.certain += certain
        self.possible += possible
        for call, (least, most) in self.looks.items():
            self.looks[call] = (min(least, self._least()), max(most, self._most()))

    def look(self, call: int) -> None:
        """Record that a call of available_memory began."""
        self.looks[call] = (self._least(), self._most())

    def _least(self) -> int:
        return max(self.total - self.possible, 0)

    def _most(self) -> int:
        return self.total - self.certain
