"""Code around a purgatory that has locks of its own: correct and incorrect users.

Several defects are in the locking of the users, not in the purgatory. The base classes are correct.
"""

from wheelproof import sync
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory


class Partition:
    """A log with a lock: appends hold the shared side, a change of the leader the exclusive."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = sync.read_write_lock(f"{name}'s lock")
        self.end = sync.atomic_integer(0, f"{name}'s end")

    def append(self, purgatory: DelayedOperationPurgatory[DelayedOperation]) -> None:
        """Append a record, then trigger waiting operations without a lock (standard 2.12)."""
        with self.lock.read:
            self.end.add_and_get(1)
        purgatory.check_and_complete(self.name)

    def become_leader(self) -> None:
        """Take the lock exclusively for a moment."""
        with self.lock.write:
            self.end.get()


class CheckInsideReadLockPartition(Partition):
    """KAFKA-7697: triggers while it still holds the read side of its lock."""

    def append(self, purgatory: DelayedOperationPurgatory[DelayedOperation]) -> None:
        """Append a record, and trigger waiting operations under the lock."""
        with self.lock.read:
            self.end.add_and_get(1)
            purgatory.check_and_complete(self.name)
