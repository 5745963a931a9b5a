"""The knowledge about a reign: a time as leader of a partition, its followers and their ends."""

from collections.abc import Iterable
from dataclasses import dataclass

from wheelproof_spec.base.history.clock import NEVER

_NOT_YET = -1


@dataclass(slots=True)
class FollowerEnd:
    """The bounds of the end of a follower's log, as the leader knows it."""

    low: int = 0
    high: int = 0
    under_way: int = 0
    """The number of its fetches under way; it is unknown which of them is noted last."""
    has_fetched: bool = False
    least: int = 0
    """The least offset of the fetches that have overlapped each other."""
    caught_up_ms: int = -NEVER
    """A time at which it was caught up for certain; it may have been later."""


class Reign:
    """A time as leader, from the call that begins it to the call that ends it.

    `certain` are the followers that surely are in sync, `possible` those that may be.
    """

    def __init__(
        self,
        epoch: int,
        begun: int,
        followers: Iterable[int],
        in_sync: Iterable[int],
        least: int,
        now_ms: int,
    ) -> None:
        """Begin with the call at index `begun`; acks = all asks for `least` replicas in sync.

        Who is in sync counts as caught up when it begins, at `now_ms` at the earliest (5.4.2).
        """
        self.epoch = epoch
        self.number = 0
        """Its index among the reigns of its partition."""
        self.begun = begun
        self.over: int | None = None
        """The index at which the call that ended it returned."""
        self.cut = NEVER
        """The lowest offset at which the log was truncated after it and before the next reign."""
        self.peak = 0
        """The upper bound of the high watermark in it."""
        self.start = 0
        """The upper bound of the log's end when it began."""
        self.followers = {replica: FollowerEnd() for replica in followers}
        self.certain = set(in_sync)
        self.possible = set(in_sync)
        for replica in self.certain:
            self.followers[replica].caught_up_ms = now_ms
        self._least = min(least - 1, len(self.followers))
        self._short = _NOT_YET

    def follows(self, before: "Reign") -> None:
        """Record that the leader stays the same, and may still know the ends of `before`."""
        for replica in self.followers.keys() & before.followers.keys():
            self.followers[replica].high = before.followers[replica].high

    def fetch_begins(self, replica: int, offset: int, low: int) -> None:
        """Record a follower's fetch at `offset`; from `low` on it may be in sync again."""
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
        """Record that a fetch by a follower ended; the leader may have noted it or not."""
        end = self.followers.get(replica)
        if end is not None:
            end.under_way -= 1

    def fetch_was_noted(self, replica: int, offset: int, high: int, index: int) -> None:
        """Record that the leader noted the ended fetch; from `high` on its follower is in sync."""
        end = self.followers.get(replica)
        if end is None or end.under_way:
            return
        end.low = end.least
        if offset >= max(high, self.start):
            if len(self.certain) < self._least:
                self._short = index
            self.certain.add(replica)
            self.possible.add(replica)

    def was_caught_up(self, replica: int, at_ms: int) -> None:
        """Record that a fetch, which came at `at_ms` or later, reached the end of the log."""
        end = self.followers.get(replica)
        if end is not None:
            end.caught_up_ms = max(end.caught_up_ms, at_ms)

    def shrinks(self, before_ms: int) -> None:
        """Record a shrink: who was last caught up before `before_ms` may have left.

        Everybody else stays (5.4.4). Who may have left may still be in sync.
        """
        self.certain = {
            replica for replica in self.certain if self.followers[replica].caught_up_ms >= before_ms
        }

    def high_watermark_low(self, end: int) -> int:
        """Return the lower bound of the high watermark if the log ends at `end`.

        It does not rise while too few replicas are in sync, and may wait for any that has fetched.
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
        """Return the upper bound of the high watermark if the log ends at `end`."""
        return min([end, *(self.followers[replica].high for replica in self.certain)])

    def may_be_short(self, since: int) -> bool:
        """Tell whether too few replicas may have been in sync at some moment since then."""
        return len(self.certain) < self._least or self._short > since

    def may_be_enough(self) -> bool:
        """Tell whether enough replicas may be in sync."""
        return len(self.possible) >= self._least
