"""What is known of one time in which the broker leads a partition: who follows, and how far."""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER

_NOT_YET = -1


@dataclass(slots=True)
class FollowerEnd:
    """Bounds on where the leader takes a follower's log to end."""

    low: int = 0
    high: int = 0
    under_way: int = 0
    """How many of its fetches are under way; which of them is noted last, nobody knows."""
    has_fetched: bool = False
    least: int = 0
    """The least offset of those that have met each other."""


class Reign:
    """A time as leader, from the call that begins it to the one that ends it.

    `certain` are the followers that are in sync for sure, `possible` those that may be.
    """

    def __init__(
        self, epoch: int, begun: int, followers: Iterable[int], in_sync: Iterable[int], least: int
    ) -> None:
        """Begin with the call at index `begun`; acks = all asks for `least` replicas in sync."""
        self.epoch = epoch
        self.number = 0
        """Its place among the times as leader of its partition."""
        self.begun = begun
        self.over: int | None = None
        """The index at which the call that ended it returned."""
        self.cut = NEVER
        """Where the log was truncated after it and before the next one."""
        self.peak = 0
        """The most that the high watermark can have been."""
        self.start = 0
        """The most that the end of the log can have been when it began."""
        self.followers = {replica: FollowerEnd() for replica in followers}
        self.certain = set(in_sync)
        self.possible = set(in_sync)
        self._least = min(least - 1, len(self.followers))
        self._short = _NOT_YET

    def follows(self, before: "Reign") -> None:
        """Note that the leader stays the same, and may know what it knew `before`."""
        for replica in self.followers.keys() & before.followers.keys():
            self.followers[replica].high = before.followers[replica].high

    def fetch_begins(self, replica: int, offset: int, low: int) -> None:
        """Note a fetch at `offset` by a follower, which may come back if it has `low` records."""
        end = self.followers.get(replica)
        if end is None:
            return
        end.least = min(end.least, offset) if end.under_way else offset
        end.under_way += 1
        end.has_fetched = True
        end.low = min(end.low, offset)
        end.high = max(end.high, offset)
        if offset >= low:
            self.possible.add(replica)

    def fetch_ends(self, replica: int) -> None:
        """Note that a fetch by a follower is over, and may have been noted or not."""
        end = self.followers.get(replica)
        if end is not None:
            end.under_way -= 1

    def fetch_was_noted(self, replica: int, offset: int, high: int, index: int) -> None:
        """Note that the fetch that ended was noted; at `high` records its follower is in sync."""
        end = self.followers.get(replica)
        if end is None or end.under_way:
            return
        end.low = end.least
        if offset >= max(high, self.start):
            if len(self.certain) < self._least:
                self._short = index
            self.certain.add(replica)
            self.possible.add(replica)

    def shrink_begins(self) -> None:
        """Nobody is in sync for sure any more; everybody still may be."""
        self.certain.clear()

    def high_watermark_low(self, end: int) -> int:
        """Return what the high watermark has reached for sure if the log ends at `end`.

        It does not rise while too few replicas are in sync, and may wait for one that has fetched.
        """
        if len(self.certain) < self._least:
            return 0
        counting = [
            follower.low
            for replica, follower in self.followers.items()
            if replica in self.possible or follower.has_fetched
        ]
        return min([end, *counting])

    def high_watermark_high(self, end: int) -> int:
        """Return what the high watermark may have reached if the log ends at `end`."""
        return min([end, *(self.followers[replica].high for replica in self.certain)])

    def may_be_short(self, since: int) -> bool:
        """Tell whether too few replicas may have been in sync at some moment since then."""
        return len(self.certain) < self._least or self._short > since

    def may_be_enough(self) -> bool:
        """Tell whether enough replicas may be in sync."""
        return len(self.possible) >= self._least
