"""What the leader knows of another replica."""

from typing import Annotated

from wheelproof import sync
from wheelproof.sync import GuardedBy


class Replica:
    """The end of a follower's log, as its fetches have told it; 0 before the first."""

    def __init__(self, broker_id: int, *, now_ms: int) -> None:
        """Make the state of a replica that counts as caught up at `now_ms`."""
        self.broker_id = broker_id
        self._monitor = sync.monitor("Replica.monitor")
        self._log_end_offset: Annotated[int, GuardedBy("_monitor")] = 0
        self._last_caught_up_ms: Annotated[int, GuardedBy("_monitor")] = now_ms

    @property
    def log_end_offset(self) -> int:
        """The offset of the record that the follower asked for last."""
        with self._monitor:
            return self._log_end_offset

    @property
    def last_caught_up_ms(self) -> int:
        """When the follower had everything the last time, in milliseconds."""
        with self._monitor:
            return self._last_caught_up_ms

    def update_fetch_state(self, *, log_end_offset: int, caught_up: bool, now_ms: int) -> None:
        """Note a fetch at `log_end_offset`, and the time if it had `caught_up`."""
        with self._monitor:
            self._log_end_offset = log_end_offset
            if caught_up:
                self._last_caught_up_ms = now_ms
