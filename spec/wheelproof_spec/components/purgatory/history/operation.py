"""What the judge of a purgatory's history knows about one operation."""

from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER


@dataclass(slots=True, eq=False)
class Operation:
    """An operation; moments are indices of lines, times are in ms."""

    name: str
    keys: tuple[str, ...] = ()
    asked: int | None = None
    """When it was handed in."""
    settled: int | None = None
    """When the call that handed it in had returned."""
    refused: bool = False
    """Whether that call was refused."""
    mark: int = 0
    delay_ms: int = 0
    least: int = -NEVER
    """When it expires, at the least."""
    most: int = NEVER
    """When it expires, at the most; known once it is settled."""
    may_be_true: bool = False
    """Whether somebody has begun to make its predicate true."""
    true_since: int | None = None
    """When somebody had made its predicate true."""
    forced: bool = False
    """Whether somebody has asked for its completion."""
    denied: int | None = None
    """When somebody was told first that it needs no completion any more."""
    completed: int | None = None
    completed_high: int = -NEVER
    """What the clock may have shown then."""
    completed_in: int | None = None
    """The call that completed it, if that is known."""
    completed_by: type[object] | None = None
    """What was called there."""
    claimed: bool = False
    """Whether a call has claimed to have completed it."""
    must_expire: bool = False
    """Whether nothing but its time-out can have completed it."""
    expired: bool = False
    cancelled: bool = False
    given_up: int | None = None
    """When a cancel had returned that gives it up: it is done."""
    cancels: int = 0
    """How many cancels of one of its keys have met it."""
    open_cancels: int = 0
    """How many of them may have cancelled it, for all that is known."""
    advances: int = -1
    """How many advances had begun when it was handed in; -1 if one of them was under way."""

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a cancel has taken it, or may have."""
        return self.cancelled or self.open_cancels > 0

    @property
    def may_be_over(self) -> bool:
        """Whether nobody can hold it against anybody that it waits, if it does."""
        return self.completed is not None or self.may_be_cancelled or self.refused

    @property
    def is_calm(self) -> bool:
        """Whether it waits for sure: nothing has begun that could end it, but for its time-out."""
        return (
            self.settled is not None
            and self.completed is None
            and not (self.may_be_true or self.forced or self.may_be_cancelled)
        )

    def settled_before(self, index: int) -> bool:
        """Tell whether it had been handed in by then."""
        return self.settled is not None and self.settled < index

    def done_before(self, index: int) -> bool:
        """Tell whether it was done by then: completed or given up."""
        return any(
            moment is not None and moment < index for moment in (self.completed, self.given_up)
        )
