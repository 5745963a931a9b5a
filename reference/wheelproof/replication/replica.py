"""What the leader knows of another replica.

A leader learns where a follower stands by its fetches alone, one fetch late.

>>> from wheelproof.replication.replica import Replica
>>> follower = Replica(2, caught_up_ms=0)
>>> follower.log_end_offset
-1
>>> follower.is_caught_up(10, now_ms=30_001, max_lag_ms=30_000)
False

Invariants:

- The end is what the follower has asked for, so it has everything before it.
- A follower counts as caught up at the time of the fetch that proves it, not of the answer.
"""

from typing import Annotated

from wheelproof import sync
from wheelproof.sync import GuardedBy

NEVER_MS = -(1 << 62)
"""A time before any other, in milliseconds."""


class Replica:
    """The end of a follower's log, as its fetches have told it; -1 before the first."""

    def __init__(
        self,
        broker_id: int,
        *,
        caught_up_ms: int,
        before: "Replica | None" = None,
    ) -> None:
        """Make the state of a replica that counts as caught up at `caught_up_ms`, in milliseconds.

        A leader that is elected again knows what it knew `before`.
        """
        self.broker_id = broker_id
        self._monitor = sync.monitor("Replica.monitor")
        end = -1 if before is None else before.log_end_offset
        self._log_end_offset: Annotated[int, GuardedBy("_monitor")] = end
        self._last_caught_up_ms: Annotated[int, GuardedBy("_monitor")] = caught_up_ms
        self._last_fetch_ms: Annotated[int, GuardedBy("_monitor")] = NEVER_MS
        self._last_leader_end_offset: Annotated[int, GuardedBy("_monitor")] = 0

    @property
    def log_end_offset(self) -> int:
        """The offset of the record that the follower asked for last."""
        with self._monitor:
            return self._log_end_offset

    def is_caught_up(self, leader_end_offset: int, *, now_ms: int, max_lag_ms: int) -> bool:
        """Tell whether it has everything, or had at most `max_lag_ms` milliseconds ago."""
        with self._monitor:
            lag_ms = now_ms - self._last_caught_up_ms
            return self._log_end_offset == leader_end_offset or lag_ms <= max_lag_ms

    def update_fetch_state(
        self, *, log_end_offset: int, leader_end_offset: int, now_ms: int
    ) -> bool:
        """Note a fetch while the leader's log had this end; tell whether the follower's end moved.

        A follower that has come to where the leader's log ended at its fetch before was caught up
        then.
        """
        with self._monitor:
            moved = log_end_offset != self._log_end_offset
            if log_end_offset >= leader_end_offset:
                self._last_caught_up_ms = now_ms
            elif log_end_offset >= self._last_leader_end_offset:
                self._last_caught_up_ms = max(self._last_caught_up_ms, self._last_fetch_ms)
            self._log_end_offset = log_end_offset
            self._last_fetch_ms = now_ms
            self._last_leader_end_offset = max(self._last_leader_end_offset, leader_end_offset)
            return moved
