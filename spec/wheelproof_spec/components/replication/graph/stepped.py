"""A replica manager that stops before each step of ProduceFetch, on purgatories that are atomic.

Reading a cell that is called like a step says that the step comes next. All else is the
reference's; what time decides is left out, as in the module: only a replica that has everything has
caught up. A purgatory is what Purgatory is shown to be: requests that wait, and triggers.
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
from wheelproof_spec.engines.explore.program import forget
from wheelproof_spec.engines.explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_spec.engines.explore.runtime.runtime import ControlledRuntime

BROKER = 1
"""The broker's own number."""
_SHARED: Mapping[type, str] = {
    PartitionLog: "_segments _epochs _high_watermark",
    Partition: "_leader_id _leader_epoch _epoch_start_offset _remote_replicas _in_sync",
    Replica: "_log_end_offset _last_caught_up_ms _last_fetch_ms _last_leader_end_offset",
    DelayedProduce: "_statuses",
}
WATCHED = tuple((kind, name) for kind, names in _SHARED.items() for name in names.split())
"""The fields that threads share under a lock."""


UNNAMED = frozenset({"Begin", "Answer", "ReadEnds", "Raise"})
"""The steps that are no action: see `produce_fetch`."""
_NAMED = ("Append", "Read", "NoteEnd", "FirstTry", "Watch", "LastTry", "Receive", "LeaveOut")


class Steps:
    """Where threads stop before the steps of the module, by their `names`.

    Noted is what each thread knows of its request beside what is shared, once that is tried: where
    the high watermark rose, and whether an append was refused.
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
        """Stop before a step that the thread comes to with what was noted, and this."""
        forget(name, *self._noted.get(caller(), ()), *known)
        self.stop(name)

    def begin(self, name: str) -> None:
        """Stop before a step that the thread comes to without knowing anything."""
        self._noted[caller()] = ()
        self.stop_and_forget(name)

    def note(self, *known: object) -> None:
        """Let the calling thread know this as well."""
        self._noted[caller()] = *self._noted.get(caller(), ()), *known


class _Log(PartitionLog):
    """Raising the high watermark is a step, unless the partition is held exclusively."""

    def __init__(self, lock: object, steps: Steps) -> None:
        super().__init__()
        self._lock, self._steps = lock, steps

    def maybe_increment_high_watermark(self, offset: int) -> bool:
        """Stop, and raise it."""
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
        """Stop, and append."""
        self._steps.stop("Append")
        result = super().append_records_to_leader(tuple(values), required_acks=required_acks)
        self._steps.note(result.error, result.high_watermark_rose)
        return result

    def update_follower_fetch_state(self, replica_id: int, request: FetchPartition) -> bool:
        """Stop, and note how far a follower is."""
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
"""Requests that wait: by the thread that has made each, with their keys."""


class AtomicPurgatory(DelayedOperationPurgatory[Operation]):
    """Requests that wait, and nothing else of the reference's purgatory.

    `trying` says that a request is being tried: then its answer is part of the step.
    """

    def __init__(self, name: str, steps: Steps) -> None:
        # What the reference's is made of is left out on purpose.
        self.waiting: sync.Volatile[Waiting] = sync.volatile((), f"{name} waiting")
        self._name, self._steps, self.trying = name, steps, False

    def try_complete_else_watch(self, operation: Operation, watch_keys: Iterable[Hashable]) -> bool:
        """Try, watch, and try again (semantics.md 2.4)."""
        self._steps.stop_and_forget("FirstTry", operation)
        if self._try(operation):
            return True
        self._steps.stop_and_forget("Watch", operation)
        watched = caller(), operation, tuple(watch_keys)
        self.waiting.set((*self.waiting.get(), watched))
        self._steps.stop_and_forget("LastTry", operation)
        return self._try(operation)

    def check_and_complete(self, key: Hashable) -> int:
        """Try whatever waits for `key`, and drop what is done."""
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
    """The reference's, of stepped partitions."""

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
    """Return the name of the thread that calls; empty before there are any."""
    runtime = sync.current_runtime()
    assert isinstance(runtime, ControlledRuntime)
    return "" if runtime.current is None else runtime.current.name


def is_exclusive(lock: object) -> bool:
    """Tell whether a thread holds the exclusive side of a partition's lock."""
    return isinstance(lock, ModelReadWriteLock) and lock.state.writer is not None
