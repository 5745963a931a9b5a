"""What the judge of a pool's history keeps: loans, requests, and what is lent in all."""

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Loan:
    """A buffer that is lent."""

    size: int
    odd: bool = False
    """Whether it was lent wrongly: nobody knows what its pool has noted, nor what is right now."""
    returning: int = 0
    """Calls of deallocate under way for it."""
    returned: bool = False

    @property
    def certain(self) -> int:
        """What is lent for certain with it, in bytes."""
        return 0 if self.odd else self.size


@dataclass(slots=True)
class Request:
    """A call of allocate under way."""

    call: int
    size: int
    certain: int
    """The most that was lent for certain while the call was under way."""
    possible: int
    """The most that can have been lent when it began, the only one to ask."""
    patient_until_ms: int
    """Before that it may not be told that memory is exhausted."""
    alone: bool = True
    """Whether nobody else asked for memory at the same time."""
    met_grant: bool = False
    """Whether somebody else got memory that asked for it at the same time."""


@dataclass(slots=True)
class BusyPeriod:
    """A time in which somebody always asks for memory: who was refused without a clear reason.

    Who is told that memory is exhausted may have waited behind somebody else, but not all of those
    who ask at one time can have waited behind each other.
    """

    excused: bool = False
    """Whether there is anything that the refusals could be explained with."""
    refused: list[int] = field(default_factory=list[int])
    """Where those refusals are."""


@dataclass(slots=True)
class Ledger:
    """What is lent, for certain and at most; the bounds that open looks at it have seen."""

    total: int
    certain: int = 0
    possible: int = 0
    looks: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def change(self, certain: int, possible: int) -> None:
        """Move the bounds by so much."""
        self.certain += certain
        self.possible += possible
        for call, (least, most) in self.looks.items():
            self.looks[call] = (min(least, self._least()), max(most, self._most()))

    def look(self, call: int) -> None:
        """available_memory is called."""
        self.looks[call] = (self._least(), self._most())

    def _least(self) -> int:
        return max(self.total - self.possible, 0)

    def _most(self) -> int:
        return self.total - self.certain
