"""What the judge of a purgatory's history knows about one operation."""

from dataclasses import dataclass, field

from wheelproof_spec.base.history.clock import NEVER


@dataclass(slots=True, eq=False)
class Operation:
    """An operation; moments are indices of lines, times are in ms."""

    name: str
    keys: tuple[str, ...] = ()
    asked: int | None = None
    """When the call that hands it in began."""
    settled: int | None = None
    """When that call returned."""
    refused: bool = False
    """Whether that call was refused."""
    mark: int = 0
    delay_ms: int = 0
    least: int = -NEVER
    """The earliest time when it expires."""
    most: int = NEVER
    """The latest time when it expires; known once it is settled."""
    settled_high: int = NEVER
    """The latest time that the clock may have shown then."""
    satisfies: int = 0
    """The number of `satisfy` calls of its predicate that have begun and were not refused."""
    true_since: int | None = None
    """When the first `satisfy` of its predicate returned."""
    at_once: bool = False
    """Whether its predicate was true before it was handed in: it is never watched (2.4.1)."""
    forces: int = 0
    """The number of `force_complete` calls of it that have begun and were not refused."""
    denied: int | None = None
    """When a `force_complete` first answered that it did not complete it."""
    completed: int | None = None
    completed_high: int = -NEVER
    """The latest time that the clock may have shown then."""
    completed_in: int | None = None
    """The call that completed it, if that is known."""
    completed_by: type[object] | None = None
    """The type of that call."""
    claimed: bool = False
    """Whether a call has claimed to have completed it."""
    told: bool = False
    """Whether the end of its on_complete was recorded: it has not raised (standard 6.4.5)."""
    must_expire: bool = False
    """Whether only its time-out can have completed it."""
    expired: bool = False
    waited_for: bool = False
    """Whether a call has returned that waited until its expiry had run."""
    cancelled: bool = False
    off: set[str] = field(default_factory=set[str])
    """The keys that a cancel may have taken it from, if a cancel ends its time-out alone."""
    timeout_gone: bool = False
    """Whether a cancel took its time-out out of the timer before it was due, for certain."""
    may_fall: bool = False
    """Whether an event has begun that may end it."""
    given_up: int | None = None
    """When a cancel that gave it up returned; it is done from then on."""
    cancels: int = 0
    """The number of cancels of its keys that may have cancelled it."""
    open_cancels: int = 0
    """The number of these cancels without an answer that names the cancelled operations."""
    advances: int = -1
    """The number of advances that had begun at its hand-in; -1 if one was under way."""

    @property
    def may_be_true(self) -> bool:
        """Whether its predicate may be true."""
        return self.satisfies > 0

    @property
    def forced(self) -> bool:
        """Whether a `force_complete` of it may have had an effect."""
        return self.forces > 0

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a cancel has cancelled it, or may have."""
        return self.cancelled or self.open_cancels > 0

    @property
    def may_be_over(self) -> bool:
        """Whether it may be done or was refused, so that its completion is not owed."""
        return self.completed is not None or self.may_be_cancelled or self.refused

    @property
    def surely_waits(self) -> bool:
        """Whether it surely waits: no event has begun that could end it, except its time-out."""
        return (
            self.settled is not None
            and self.completed is None
            and not (self.may_be_true or self.forced or self.may_be_cancelled)
        )

    def settled_before(self, index: int) -> bool:
        """Tell whether the call that handed it in had returned by then."""
        return self.settled is not None and self.settled < index

    def dropped_by(self, began: int) -> bool:
        """Tell whether a check that began then drops it: it found it done, or completed it."""
        return self.completed_in == began or (
            self.settled_before(began) and self.done_before(began)
        )

    def done_before(self, index: int) -> bool:
        """Tell whether it was done by then: completed or given up."""
        return any(
            moment is not None and moment < index for moment in (self.completed, self.given_up)
        )
