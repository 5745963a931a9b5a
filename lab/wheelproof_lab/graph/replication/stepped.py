"""A replica manager that stops before each step of ProduceFetch, on atomic purgatories.

A thread reads a cell with the name of a step before it takes the step. All other code is the
reference's. Time is left out, as in the module: a replica is caught up only if it has the whole
log. A purgatory is atomic, as it is shown for Purgatory: waiting requests, and triggers.
"""

from collections.abc import Hashable, Iterable, Mapping

from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.purgatory.watchers import Operation
from wheelproof.replication import (
    DelayedFetch,
    DelayedProduce,
    FetchPartition,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.replication.partition import Partition, PartitionAppendResult
from wheelproof.replication.partition_log import PartitionLog
from wheelproof.replication.replica import Replica
from wheelproof_explore.program import forget
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_explore.runtime.runtime import ControlledRuntime

BROKER = 1
"""The id of the broker itself."""
_SHARED: Mapping[type, str] = {
    PartitionLog: "_segments _epochs _high_watermark",
    Partition: "_leader_id _leader_epoch _epoch_start_offset _remote_replicas _in_sync",
    Replica: "_log_end_offset _last_caught_up_ms _last_fetch_ms _last_leader_end_offset",
    DelayedProduce: "_statuses",
}
WATCHED = tuple((kind, name) for kind, names in _SHARED.items() for name in names.split())
"""The fields that threads share under a lock."""


UNNAMED = frozenset({"Begin", "Answer", "ReadEnds", "Raise"})
"""The steps without an action: see `produce_fetch`."""
_NAMED = ("Append", "Read", "NoteEnd", "FirstTry", "Watch", "LastTry", "Receive", "LeaveOut")


class Steps:
    """The points where threads stop before the steps of the module, by `names`.

    For each thread it also keeps what the thread alone knows about its request: where the high
    watermark rose, and whether an append was refused.
    """

    def __init__(self, partitions: Iterable[str]) -> None:
        triggers = (f"Trigger {name} {q}" for name in ("produce", "fetch") for q in partitions)
        self.names = frozenset((*UNNAMED, *_NAMED, *triggers))
        self._cells = {name: sync.volatile(None, name) for name in sorted(self.names)}
        self._noted: dict[str, tuple[object, ...]] = {}

    def stop(self, name: str) -> None:
        """Stop before a step."""
        self._cells[name].get()

    def stop_and_forget(self, name: str, *known: object) -> None:
        """Stop before a step; the thread keeps only its notes, and `known`."""
        forget(name, *self._noted.get(caller(), ()), *known)
        self.stop(name)

    def begin(self, name: str) -> None:
        """Stop before a step; the thread keeps nothing, and its notes are cleared."""
        self._noted[caller()] = ()
        self.stop_and_forget(name)

    def note(self, *known: object) -> None:
        """Add `known` to the notes of the calling thread."""
        self._noted[caller()] = *self._noted.get(caller(), ()), *known


class _Log(PartitionLog):
    """A log that raises its high watermark in a step, unless the lock is held exclusively."""

    def __init__(self, lock: object, steps: Steps) -> None:
        super().__init__()
        self._lock, self._steps = lock, steps

    def maybe_increment_high_watermark(self, offset: int) -> bool:
        """Stop, then raise the high watermark."""
        if not is_exclusive(self._lock):
            self._steps.stop("Raise")
        return super().maybe_increment_high_watermark(offset)


class SteppedPartition(Partition):
    """A partition of one segment."""

    def __init__(self, topic_partition: TopicPartition, broker_id: int, steps: Steps) -> None:
        super().__init__(topic_partition, broker_id=broker_id, clock=ManualClock())
        self._steps = steps
        self.log = _Log(self._lock, steps)

    def append_records_to_leader(
        self, values: Iterable[bytes], *, required_acks: int
    ) -> PartitionAppendResult:
        """Stop, then append."""
        self._steps.stop("Append")
        result = super().append_records_to_leader(tuple(values), required_acks=required_acks)
        self._steps.note(result.error, result.high_watermark_rose)
        return result

    def update_follower_fetch_state(self, replica_id: int, request: FetchPartition) -> bool:
        """Stop, then record the end of a follower's log."""
        self._steps.stop("NoteEnd")
        rose = super().update_follower_fetch_state(replica_id, request)
        self._steps.note(rose)
        return rose

    def _maybe_increment_high_watermark(self) -> bool:
        if not is_exclusive(self._lock):
            self._steps.stop("ReadEnds")
        return super()._maybe_increment_high_watermark()

    def _is_caught_up(self, replica: Replica) -> bool:
        return replica.log_end_offset == self.log.log_end_offset


Waiting = tuple[tuple[str, DelayedOperation, tuple[Hashable, ...]], ...]
"""The waiting requests: for each the thread that made it, the operation, and its keys."""


class AtomicPurgatory(DelayedOperationPurgatory[Operation]):
    """A purgatory that is only a list of waiting requests, without the reference's code.

    `trying` is true while a request is tried: then its answer is part of that step.
    """

    def __init__(self, name: str, steps: Steps) -> None:
        # The parts of the reference's purgatory are left out on purpose.
        self.waiting: sync.Volatile[Waiting] = sync.volatile((), f"{name} waiting")
        self._name, self._steps, self.trying = name, steps, False

    def try_complete_else_watch(self, operation: Operation, watch_keys: Iterable[Hashable]) -> bool:
        """Try, watch, and try again (standard 2.4)."""
        self._steps.stop_and_forget("FirstTry", operation)
        if self._try(operation):
            return True
        self._steps.stop_and_forget("Watch", operation)
        watched = caller(), operation, tuple(watch_keys)
        self.waiting.set((*self.waiting.get(), watched))
        self._steps.stop_and_forget("LastTry", operation)
        return self._try(operation)

    def check_and_complete(self, key: Hashable) -> int:
        """Try the requests that wait for `key`, and drop those that are done."""
        assert isinstance(key, TopicPartition)
        self._steps.stop_and_forget(f"Trigger {self._name} {key.topic}")
        found = [one for one in self.waiting.get() if key in one[2]]
        completed = sum(self._try(one[1]) for one in found)
        kept = tuple(one for one in self.waiting.get() if one not in found or not one[1].is_done())
        self.waiting.set(kept)
        return completed

    def _try(self, operation: DelayedOperation) -> bool:
        self.trying = True
        completed = not operation.is_done() and operation.try_complete()
        self.trying = False
        return completed


class SteppedManager(ReplicaManager):
    """The reference's replica manager, with stepped partitions."""

    def __init__(
        self,
        produces: AtomicPurgatory[DelayedProduce],
        fetches: AtomicPurgatory[DelayedFetch],
        steps: Steps,
    ) -> None:
        clock = ManualClock()
        super().__init__(BROKER, produce_purgatory=produces, fetch_purgatory=fetches, clock=clock)
        self._steps = steps

    def _new_partition(self, topic_partition: TopicPartition) -> Partition:
        return SteppedPartition(topic_partition, self.broker_id, self._steps)


def caller() -> str:
    """Return the name of the calling thread; empty before there are threads."""
    runtime = sync.current_runtime()
    assert isinstance(runtime, ControlledRuntime)
    return "" if runtime.current is None else runtime.current.name


def is_exclusive(lock: object) -> bool:
    """Tell whether a thread holds the exclusive side of a partition's lock."""
    return isinstance(lock, ModelReadWriteLock) and lock.state.writer is not None
