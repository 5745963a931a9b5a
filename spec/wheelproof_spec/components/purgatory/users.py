"""Code around a purgatory: what holds locks of its own while it triggers, right and wrong.

Several defects are not in the purgatory but in how its users lock. The base classes do it right.
"""

from wheelproof import sync
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory


class Partition:
    """A log whose lock is shared by appenders and exclusive for whoever changes the leader."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = sync.read_write_lock(f"{name}'s lock")
        self.end = sync.atomic_integer(0, f"{name}'s end")

    def append(self, purgatory: DelayedOperationPurgatory[DelayedOperation]) -> None:
        """Append a record, then trigger who waits for it, holding no lock (semantics.md 2.12)."""
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
        """Append a record and trigger who waits for it."""
        with self.lock.read:
            self.end.add_and_get(1)
            purgatory.check_and_complete(self.name)
