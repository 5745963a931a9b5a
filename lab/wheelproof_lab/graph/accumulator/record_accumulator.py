"""The reference's accumulator against RecordAccumulator.tla, call by call of one thread.

One thread makes every call: the appends of all appenders, and the calls of the sender. Each call
of the code is a sequence of steps of the module. These steps end before the next call begins: the
programs of the model checker cover how calls interleave. No thread flushes, because a flush waits
for other threads.

The comparison covers the queues, all batches ever made, which of them are incomplete or in flight,
the free memory, and the outcome of each record. It leaves out the registers of threads within a
call, the identity of a batch's buffer, and the history variables about drains. The driver chooses
when a batch expires, as the module does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.producer import (
    AccumulatorConfig,
    BufferExhaustedError,
    BufferPool,
    Cluster,
    NodeId,
    ProducerBatch,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.producer.accumulator.producer_batch import Thunk
from wheelproof.units import Millis
from wheelproof_lab.graph.comparing.driven import driven_graph
from wheelproof_lab.graph.comparing.projected import ProjectedGraph, pairs_of
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

_NODE = NodeId(1)
_NOW = Millis(0)
_HEADER, _RECORD, _TOO_LITTLE = 61, 10, 9
"""The sizes of a batch's header, a record, and a gap too small for a record; in bytes."""
_NONE = ModelValue(name="None")
_AT_REST = ("BeginAppend", "Close", "Done")
_IDLE = ("Idle", "Done")
_OF_THE_SENDER = frozenset(
    {
        *("Drain", "SendRequest", "EnqueueChild", "Forget", "Expire"),
        *("Abort", "AbortBatch", "AbortEnd", "AbortAwait"),
    }
)
_OF_THE_CALLERS = frozenset(
    {
        *("TestClosed", "TryAppend", "Allocate", "AllocateFails", "AppendNew", "GiveBack"),
        *("EndAppend", "ClosePool"),
    }
)
_CALLS = {
    "BeginAppend": "Append",
    "Ready": "Drain",
    "CompleteEnded": "Complete",
    "ExpireQueued": "Expire",
    "ExpireInAir": "Expire",
}
_FINAL = {"succeeded": "succeeded", "failed": "expired", "aborted": "aborted", "split": "split"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Appends:
    """The partitions to which each appender appends, in order, and what the sender may do.

    The pool has memory for `buffers` batches. A batch has room for `batch_size` records, at least
    two. A request has room for `request_size` batches: one in all, or one of each partition.
    """

    programs: Mapping[str, tuple[int, ...]]
    partitions: int
    buffers: int
    batch_size: int
    request_size: int
    max_attempts: int = 0
    expires: bool = False
    splits: bool = False
    closes: bool = False
    by_force: bool = False

    def constants(self) -> dict[str, Value]:
        """Return the constants of RecordAccumulator."""
        return {
            "Appenders": frozenset(self.programs),
            "Program": make_function(self.programs.items()),
            "Impatient": frozenset(self.programs),
            "Unlucky": frozenset(),
            "Flushers": frozenset(),
            "Interrupted": frozenset(),
            "Closers": frozenset({"c"} if self.closes else ()),
            "ByForce": self.by_force,
            "Partitions": self.partitions,
            "Buffers": frozenset(f"m{number}" for number in range(self.buffers)),
            "BatchSize": self.batch_size,
            "RequestSize": self.request_size,
            "MaxAttempts": self.max_attempts,
            "MayExpire": self.expires,
            "MaySplit": self.splits,
            "Lingers": False,
            "None": _NONE,
        }


class _OneRecordEach(ProducerBatch):
    """A batch that splits into batches of one record, as in the module, and shows its state."""

    __slots__ = ()

    def seen(self, records: tuple[Value, ...], partition: int) -> Value:
        """Return the compared part of the batch's state."""
        final = self._final_state.get()
        return (
            partition,
            records,
            not self._closed,
            "" if final is None else _FINAL[final],
            self.attempts,
            not self.is_split_batch and self.buffer is not None,
        )

    def try_append_for_split(self, thunk: Thunk) -> bool:
        """Add the record if the batch is empty."""
        return not self.thunks and super().try_append_for_split(thunk)


class ChosenAccumulator(RecordAccumulator):
    """An accumulator in which only the batch that the driver has chosen is expired."""

    _batch_class = _OneRecordEach
    chosen: ProducerBatch | None = None

    def queued(self) -> Mapping[TopicPartition, Sequence[ProducerBatch]]:
        """Return the batches that wait in each queue."""
        return {partition: tuple(queue.batches) for partition, queue in self._queues.all().items()}

    def incomplete(self) -> tuple[ProducerBatch, ...]:
        """Return the batches that have not been forgotten."""
        return self._incomplete.copy_all()

    def _has_expired(self, batch: ProducerBatch, now_ms: int) -> bool:
        del now_ms
        return batch is self.chosen


Call = tuple[str, str | int]
"""An action, and the name of its appender or the number of its batch, if any."""


class _Run:
    """An accumulator of the reference, and what its one caller knows."""

    def __init__(self, appends: Appends, accumulator_class: type[ChosenAccumulator]) -> None:
        self._appends = appends
        size = _HEADER + appends.batch_size * _RECORD + _TOO_LITTLE
        self._pool = BufferPool(appends.buffers * size, size, clock=ManualClock())
        config = AccumulatorConfig(batch_size=size, retry_backoff_ms=0)
        self._accumulator = accumulator_class(self._pool, config, clock=ManualClock())
        self._partitions = [TopicPartition("topic", p) for p in range(appends.partitions)]
        self._cluster = Cluster(leaders=dict.fromkeys(self._partitions, _NODE))
        self._batch_bytes = size
        self._outcomes = {
            (name, number): 0
            for name, program in appends.programs.items()
            for number in range(1, len(program) + 1)
        }
        self._made = dict.fromkeys(appends.programs, 0)
        self._accepted: set[Value] = set()
        self._records: dict[int, tuple[str, int]] = {}
        self._kept: list[Record] = []
        self._batches: list[ProducerBatch] = []
        self._closed = self._aborted = False

    def make(self, call: Call) -> None:
        """Make a call."""
        action, about = call
        if isinstance(about, str):
            self._call(action, about)
        else:
            self._about(action, self._batches[about])
        self._find_batches()

    def _call(self, action: str, about: str) -> None:
        match action:
            case "Append":
                self._append(about)
            case "Drain":
                self._drain()
            case "Close":
                self._accumulator.close()
                self._closed = True
            case _:
                self._accumulator.abort_incomplete_batches()
                self._aborted = True

    def _about(self, action: str, batch: ProducerBatch) -> None:
        accumulator = self._accumulator
        match action:
            case "Complete":
                accumulator.complete_batch(batch, 0)
            case "Reenqueue":
                accumulator.reenqueue(batch, _NOW)
            case "Split":
                accumulator.split_and_reenqueue(batch)
            case _:
                accumulator.chosen = batch
                for expired in accumulator.expired_batches(_NOW):
                    accumulator.expire(expired)
                accumulator.chosen = None

    def _append(self, name: str) -> None:
        self._made[name] += 1
        number = self._made[name]
        record = Record(timestamp_ms=0, value=b"abc")
        # Records are identified by their ids, since their contents are equal.
        self._kept.append(record)
        self._records[id(record)] = name, number
        partition = self._partitions[self._appends.programs[name][number - 1]]
        told = partial(self._told, (name, number))
        try:
            self._accumulator.append(partition, record, told, max_time_to_block_ms=0)
        except (BufferExhaustedError, ProducerClosedError):
            return
        self._accepted.add((name, number))

    def _told(
        self, record: tuple[str, int], metadata: RecordMetadata | None, error: Exception | None
    ) -> None:
        del metadata, error
        self._outcomes[record] += 1

    def _drain(self) -> None:
        whole = self._appends.request_size == self._appends.partitions
        room = self._batch_bytes * self._appends.partitions if whole else 0
        self._accumulator.drain(self._cluster, [_NODE], room, _NOW)

    def _find_batches(self) -> None:
        """Number the new batches; those of a split in the order of their records."""
        queued = [batch for queue in self._queues().values() for batch in queue]
        new = [batch for batch in queued if batch not in self._batches]
        self._batches += sorted(new, key=lambda batch: batch.place)

    def _queues(self) -> dict[int, list[ProducerBatch]]:
        queues = self._accumulator.queued()
        return {
            number: list(queues.get(partition, ()))
            for number, partition in enumerate(self._partitions)
        }

    def state(self) -> State:
        """Return the compared variables of RecordAccumulator."""
        numbers = {id(batch): number for number, batch in enumerate(self._batches, start=1)}
        incomplete = self._accumulator.incomplete()
        return {
            "queue": make_function(
                (partition, tuple(numbers[id(batch)] for batch in queue))
                for partition, queue in self._queues().items()
            ),
            "batch": tuple(map(self._seen, self._batches)),
            "incomplete": frozenset(numbers[id(batch)] for batch in incomplete),
            "inAir": frozenset(numbers[id(batch)] for batch in self._batches if batch.in_flight),
            "free": self._pool.available_memory() // self._batch_bytes,
            "closed": self._closed,
            "aborted": self._aborted,
            "made": make_function(self._made.items()),
            "returned": frozenset(self._accepted),
            "outcomes": make_function(self._outcomes.items()),
        }

    def _seen(self, batch: ProducerBatch) -> Value:
        assert isinstance(batch, _OneRecordEach)
        records = tuple(self._records[id(thunk.record)] for thunk in batch.thunks)
        return batch.seen(records, self._partitions.index(batch.partition))

    def calls(self) -> Iterator[Call]:
        """Yield the calls that may be made now."""
        appends = self._appends
        for name, program in appends.programs.items():
            if self._made[name] < len(program):
                yield "Append", name
        if appends.closes and not self._closed:
            yield "Close", ""
        if self._closed and appends.by_force:
            if not self._aborted:
                yield "Abort", ""
            return
        if self._accumulator.ready(self._cluster, _NOW).ready_nodes:
            yield "Drain", ""
        for number, batch in enumerate(self._batches):
            yield from ((action, number) for action in self._about_batch(batch))

    def _about_batch(self, batch: ProducerBatch) -> Iterator[str]:
        appends = self._appends
        if batch.in_flight:
            yield "Complete"
            if not batch.is_done() and batch.attempts < appends.max_attempts:
                yield "Reenqueue"
            if appends.splits and not batch.is_done() and len(batch.thunks) > 1:
                yield "Split"
        if appends.expires and batch.in_flight and not batch.is_done() and self._is_first(batch):
            yield "Expire"
        if appends.expires and any(
            batch in queue and self._is_first(batch) for queue in self._queues().values()
        ):
            yield "Expire"

    def _is_first(self, batch: ProducerBatch) -> bool:
        """Tell whether no older batch of the partition is incomplete: that one expires first."""
        return all(
            other.partition != batch.partition or other.place >= batch.place
            for other in self._accumulator.incomplete()
        )


def accumulator_graph(
    appends: Appends, accumulator_class: type[ChosenAccumulator] = ChosenAccumulator
) -> ProjectedGraph:
    """Return the graph of all states that calls can reach."""

    def run(calls: tuple[Call, ...]) -> _Run:
        made = _Run(appends, accumulator_class)
        for call in calls:
            made.make(call)
        return made

    def following(calls: tuple[Call, ...]) -> Iterator[tuple[str, tuple[Call, ...]]]:
        return ((call[0], (*calls, call)) for call in run(calls).calls())

    none = tuple[Call, ...]()
    return driven_graph(none, lambda calls: run(calls).state(), following)


def project_record_accumulator(state: State) -> State:
    """Return the compared part of a state of the module."""
    batches = state["batch"]
    assert isinstance(batches, tuple)
    free = state["free"]
    assert isinstance(free, frozenset)
    steps = dict(pairs_of(state["pc"]))
    rounds = pairs_of(state["round"])
    return {
        **{name: state[name] for name in ("queue", "incomplete", "inAir", "closed", "returned")},
        "batch": tuple(map(_batch, batches)),
        "free": len(free),
        "aborted": state["sender"] == "Done",
        "made": make_function((name, _appended(steps[name], number)) for name, number in rounds),
        "outcomes": state["outcomes"],
    }


def label_of_record_accumulator(action: str, before: State, after: State) -> str | None:
    """Return the call that an action of the module begins; None for Terminated.

    The action Sender stands for several calls: the two states tell which call it is.
    """
    if action == "Terminated":
        return None
    if action != "Sender":
        return _CALLS.get(action, action)
    if before["inAir"] == after["inAir"]:
        return "Expire"
    older, newer = before["batch"], after["batch"]
    assert isinstance(older, tuple)
    assert isinstance(newer, tuple)
    if len(newer) > len(older):
        return "Split"
    return "Complete" if _attempts(older) == _attempts(newer) else "Reenqueue"


def _attempts(batches: tuple[Value, ...]) -> list[Value]:
    return [dict(pairs_of(batch))["attempts"] for batch in batches]


def record_accumulator_under_way(state: State) -> Callable[[str], bool] | None:
    """Return a test for the actions that continue the call under way; None without one."""
    if any(step not in _AT_REST for _, step in pairs_of(state["pc"])):
        return _OF_THE_CALLERS.__contains__
    return None if state["sender"] in _IDLE else _OF_THE_SENDER.__contains__


def _appended(step: Value, number: Value) -> Value:
    assert isinstance(number, int)
    return number if step == "Done" else number - 1


def _batch(value: Value) -> Value:
    parts = dict(pairs_of(value))
    final = parts["final"]
    return (
        parts["partition"],
        parts["records"],
        parts["open"],
        "" if final == _NONE else final,
        parts["attempts"],
        parts["memory"] != _NONE,
    )
