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
    may_count: bool = False
    """Whether it may have been caught up since it fetched, so that the leader waits for it."""
    leader_end: int | None = None
    """The lower bound of the leader's end at its fetch before."""
    least: int = 0
    """The least offset of the fetches that have overlapped each other."""
    caught_up_ms: int = -NEVER
    """A time at which it was caught up for certain; it may have been later."""
    caught_up_by_ms: int = -NEVER
    """The latest time at which it may have been caught up by a fetch, or by an election."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerFetch:
    """A follower's fetch of a partition: where it asks, in which epoch if it tells, and when."""

    replica: int
    offset: int
    epoch: int | None
    began_ms: int
    """The earliest time at which it may have come."""


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
        self.start_low = 0
        """The lower bound of the log's end when it began."""
        self.followers = {replica: FollowerEnd() for replica in followers}
        self.certain = set(in_sync)
        self.possible = set(in_sync)
        for replica in self.certain:
            self.followers[replica].caught_up_ms = now_ms
            self.followers[replica].caught_up_by_ms = NEVER
        self._least = min(least - 1, len(self.followers))
        self._short = self._enough = _NOT_YET

    def has_begun(self, now_ms: int) -> None:
        """Record that the call that begins it returned, at `now_ms` at the latest."""
        for replica in self.certain:
            self.followers[replica].caught_up_by_ms = now_ms

    def follows(self, before: "Reign") -> None:
        """Record that the leader stays the same, and may still know the ends of `before`."""
        for replica in self.followers.keys() & before.followers.keys():
            self.followers[replica].high = before.followers[replica].high

    def fetch_begins(self, fetch: FollowerFetch, leader_end: int) -> None:
        """Record a follower's fetch that begins while the log ends at `leader_end` at least.

        A follower that asks from before the end is not caught up. At its last fetch it may
        have been.
        """
        end = self.follower(fetch)
        if end is None:
            return
        offset, before = fetch.offset, end.leader_end
        end.least = min(end.least, offset) if end.under_way else offset
        end.under_way += 1
        end.low = min(end.low, offset)
        if offset >= (leader_end if before is None else before):
            end.may_count, end.caught_up_by_ms = True, NEVER
        end.leader_end = leader_end

    def may_note(self, fetch: FollowerFetch, low: int, end_high: int) -> None:
        """Record that the leader may note a fetch under way if its log reaches that far.

        From `low` on its follower may be in sync again, if it has what came before this epoch.
        """
        end = self.follower(fetch)
        if end is None or fetch.offset > end_high:
            return
        end.high = max(end.high, fetch.offset)
        if fetch.offset >= max(low, self.start_low):
            self.possible.add(fetch.replica)

    def fetch_ends(self, fetch: FollowerFetch, now_ms: int) -> None:
        """Record that a fetch ended by `now_ms`; the leader may have noted it or not."""
        end = self.follower(fetch)
        if end is None:
            return
        end.under_way -= 1
        if not end.under_way:
            end.caught_up_by_ms = min(end.caught_up_by_ms, now_ms)

    def has_shrunk(self, leader_end: int, before_ms: int, index: int) -> None:
        """Record the end of a shrink: who surely lags has left (5.4.4).

        That is who has less than `leader_end` and was last caught up before `before_ms`.
        """
        was_enough = self.may_be_enough()
        for replica, end in self.followers.items():
            if not end.under_way and end.high < leader_end and end.caught_up_by_ms < before_ms:
                self.certain.discard(replica)
                self.possible.discard(replica)
                end.may_count = False
        if was_enough and not self.may_be_enough():
            self._enough = index

    def follower(self, fetch: FollowerFetch) -> FollowerEnd | None:
        """Return what is known of the follower; None if the leader refuses its fetch."""
        fenced = fetch.epoch is not None and fetch.epoch != self.epoch
        return None if fenced else self.followers.get(fetch.replica)

    def fetch_was_noted(self, fetch: FollowerFetch, high: int, index: int) -> None:
        """Record that the leader noted the ended fetch; from `high` on its follower is in sync."""
        end = self.follower(fetch)
        if end is None or end.under_way:
            return
        end.low = end.least
        if fetch.offset >= max(high, self.start):
            if len(self.certain) < self._least:
                self._short = index
            self.certain.add(fetch.replica)
            self.possible.add(fetch.replica)

    def was_caught_up(self, fetch: FollowerFetch) -> None:
        """Record that a fetch reached the end of the log."""
        end = self.follower(fetch)
        if end is not None:
            end.caught_up_ms = max(end.caught_up_ms, fetch.began_ms)

    def shrinks(self, before_ms: int) -> None:
        """Record a shrink: who was last caught up before `before_ms` may have left.

        Everybody else stays (5.4.4). Who may have left may still be in sync.
        """
        self.certain = {
            replica for replica in self.certain if self.followers[replica].caught_up_ms >= before_ms
        }

    def high_watermark_low(self, end: int) -> int:
        """Return the lower bound of the high watermark if the log ends at `end`.

        It does not rise while too few replicas are in sync, and may wait for any that may count.
        """
        if len(self.certain) < self._least:
            return 0
        counting = [
            follower.low
            for replica, follower in self.followers.items()
            if replica in self.possible or follower.may_count
        ]
        return min([end, *counting])

    def high_watermark_high(self, end: int) -> int:
        """Return the upper bound of the high watermark if the log ends at `end`.

        Whoever surely is in sync has it, and as many as have to be of those who may be.
        """
        ends = [self.followers[replica].high for replica in self.certain]
        if self._least > 0:
            highs = sorted(self.followers[replica].high for replica in self.possible)
            ends.append(highs[-self._least])
        return min([end, *ends])

    def may_be_short(self, since: int) -> bool:
        """Tell whether too few replicas may have been in sync at some moment since then."""
        return len(self.certain) < self._least or self._short > since

    def may_be_enough(self) -> bool:
        """Tell whether enough replicas may be in sync."""
        return len(self.possible) >= self._least

    def may_have_been_enough(self, since: int) -> bool:
        """Tell whether enough replicas may have been in sync at some moment since then."""
        return self.may_be_enough() or self._enough > since
