"""The record accumulator: appends against the sender, a flush, a close, a forced close.

The clock stands still, and whoever waits waits for ever: a wake-up that is lost shows as a thread
that never ends. One partition, one node, batches for two records. TLA+: RecordAccumulator.
"""

from collections.abc import Callable, Mapping
from functools import partial

from wheelproof import sync
from wheelproof.errors import ThreadInterruptedError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    NodeId,
    ProducerAbortedError,
    ProducerBatch,
    ProducerClosedError,
    Record,
    RecordAccumulator,
    RecordMetadata,
    TopicPartition,
)
from wheelproof.units import Millis
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.components.accumulator.bug_table import (
    BUGS,
)
from wheelproof_spec.components.timer.programs.system_timer import StandingClock
from wheelproof_spec.engines.explore.program import Program, Scenario
from wheelproof_spec.engines.explore.programs.making import program

_PARTITION = TopicPartition("topic", 0)
_NODE = NodeId(1)
_CLUSTER = Cluster(leaders={_PARTITION: _NODE})
_BATCH_SIZE = 90
"""Room for two records of ten bytes behind the header of 61."""
_DELIVERY_TIMEOUT_MS = 100
_REQUEST = 10_000


def _record(name: str) -> Record:
    return Record(timestamp_ms=0, value=name.encode() * 3)


class AccumulatorBench:
    """An accumulator whose pool has room for some batches, and what became of each record."""

    def __init__(self, accumulator_class: type[RecordAccumulator], batches: int) -> None:
        self.clock = StandingClock()
        self.pool = BufferPool(batches * _BATCH_SIZE, _BATCH_SIZE, clock=self.clock)
        config = AccumulatorConfig(batch_size=_BATCH_SIZE, delivery_timeout_ms=_DELIVERY_TIMEOUT_MS)
        self.accumulator = accumulator_class(self.pool, config, clock=self.clock)
        self.accepted: list[str] = []
        self._outcomes: sync.Volatile[tuple[str, ...]] = sync.volatile((), "outcomes")
        self._offset = 0

    def append(self, name: str) -> None:
        """Append a record; a closed accumulator may refuse it."""
        try:
            self.accumulator.append(_PARTITION, _record(name), partial(self._told, name))
        except ProducerClosedError:
            return
        self.accepted.append(name)

    def drain(self) -> list[ProducerBatch]:
        """Return what the sender gets to send."""
        now_ms = self.clock.hi_res_clock_ms()
        drained = self.accumulator.drain(_CLUSTER, [_NODE], _REQUEST, now_ms)[_NODE]
        for batch in drained:
            assert batch.is_full(), "a batch that is on its way takes records"
        return drained

    def send(self) -> None:
        """Drain once, and let what was drained be stored."""
        for batch in self.drain():
            self.store(batch)

    def store(self, batch: ProducerBatch) -> None:
        """Let a batch be stored."""
        self.accumulator.complete_batch(batch, self._offset)
        self._offset += len(batch.thunks)

    def flush(self, *accepted: str) -> None:
        """Flush: the records that had been accepted before have outcomes afterwards."""
        self.accumulator.begin_flush()
        self.accumulator.await_flush_completion()
        missing = set(accepted) - set(self._outcomes.get())
        assert not missing, f"flushed, and {sorted(missing)} have no outcome"

    def abort(self) -> None:
        """Close by force."""
        self.accumulator.close()
        self.accumulator.abort_incomplete_batches()

    def check_in_flight(self) -> None:
        """Raise unless what is in flight is incomplete."""
        for batch in self.accumulator.in_flight():
            assert not batch.is_done(), "a batch that has ended is in flight"

    def check(self) -> None:
        """Let everything be stored; raise unless each record has one outcome and memory is back."""
        while self.accumulator.has_undrained():
            drained = self.drain()
            assert drained, "something is queued, and cannot be drained"
            for batch in drained:
                self.store(batch)
        self.check_ended()

    def check_ended(self) -> None:
        """Raise unless each accepted record has one outcome, and all memory is back."""
        outcomes = self._outcomes.get()
        assert sorted(outcomes) == sorted(self.accepted), (
            f"accepted {self.accepted}, and told the outcome of {outcomes}"
        )
        assert not self.accumulator.has_undrained(), "a batch that has ended is in a queue"
        assert not self.accumulator.has_incomplete(), "a batch has no outcome"
        assert not self.accumulator.flush_in_progress(), "a flush that is over counts"
        usage = self.pool.usage()
        assert usage.lent == 0, f"{usage.lent} bytes are not back"
        assert usage.non_pooled + usage.pooled == self.pool.total_memory, f"{usage}"

    def _told(self, name: str, metadata: RecordMetadata | None, error: Exception | None) -> None:
        assert (metadata is None) != (error is None)
        outcomes = self._outcomes.get()
        assert name not in outcomes, f"{name} has two outcomes"
        self._outcomes.set((*outcomes, name))


def two_appends(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """Two threads append the first records: one batch or two, and no buffer is lost."""
    bench = AccumulatorBench(accumulator_class, 2)
    return Scenario(
        threads={"a": partial(bench.append, "a"), "b": partial(bench.append, "b")},
        check=bench.check,
    )


def append_against_drain(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A record is appended to a batch that the sender is taking."""
    bench = AccumulatorBench(accumulator_class, 2)
    bench.append("a")
    return Scenario(
        threads={"append": partial(bench.append, "b"), "sender": bench.send}, check=bench.check
    )


def append_against_abort(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """The producer is closed by force while a record is appended: refused, or aborted."""
    bench = AccumulatorBench(accumulator_class, 2)
    bench.append("a")
    return Scenario(
        threads={"append": partial(bench.append, "b"), "abort": bench.abort},
        check=bench.check_ended,
    )


def two_appends_against_abort(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """The same with two threads that make a batch, of which there is memory for one."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("x")
    bench.send()
    return Scenario(
        threads={
            "a": partial(bench.append, "a"),
            "b": partial(bench.append, "b"),
            "abort": bench.abort,
        },
        check=bench.check_ended,
    )


def abort_without_close(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """Everything is aborted while two threads want the memory of one batch for records."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")
    bench.append("b")
    return Scenario(
        threads={
            "append": partial(bench.append, "c"),
            "abort": bench.accumulator.abort_incomplete_batches,
        },
        check=bench.check,
    )


def blocked_append(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A thread waits for the memory of a batch that is being sent."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")
    bench.append("b")
    return Scenario(
        threads={"append": partial(bench.append, "c"), "sender": bench.send}, check=bench.check
    )


def blocked_append_against_close(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A thread waits for memory while the accumulator is closed: it is refused."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")
    bench.append("b")
    return Scenario(
        threads={"append": partial(bench.append, "c"), "close": bench.accumulator.close},
        check=bench.check,
    )


def flush_against_send(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A flush waits for a batch that the sender lets be stored, while another one begins."""
    bench = AccumulatorBench(accumulator_class, 2)
    bench.append("a")
    appender = sync.thread(partial(bench.append, "b"), "appender")

    def send_twice() -> None:
        appender.start()
        bench.send()
        appender.join()
        bench.send()

    return Scenario(
        threads={"flush": partial(bench.flush, "a"), "sender": send_twice}, check=bench.check
    )


def flush_against_split(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A flush waits for a batch that the broker finds too large: for its records, not for it."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")
    bench.append("b")

    def split_and_send() -> None:
        for batch in bench.drain():
            bench.accumulator.split_and_reenqueue(batch)
        bench.check_in_flight()
        bench.send()
        bench.send()

    return Scenario(
        threads={"flush": partial(bench.flush, "a", "b"), "sender": split_and_send},
        check=bench.check,
    )


def flush_against_abort(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A flush waits while the producer is closed by force."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")
    return Scenario(
        threads={"flush": partial(bench.flush, "a"), "abort": bench.abort}, check=bench.check_ended
    )


def interrupted_flush(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A flush is interrupted, or is over before that."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")

    def flush() -> None:
        try:
            bench.flush("a")
        except ThreadInterruptedError:
            return

    flusher = sync.thread(flush, "flusher")

    def interrupt() -> None:
        flusher.start()
        flusher.interrupt()

    return Scenario(threads={"interrupter": interrupt, "sender": bench.send}, check=bench.check)


def append_against_expiry(accumulator_class: type[RecordAccumulator]) -> Scenario:
    """A batch expires while a request reads its memory, and another record wants memory."""
    bench = AccumulatorBench(accumulator_class, 1)
    bench.append("a")

    def expire_in_flight() -> None:
        (batch,) = bench.drain()
        request = batch.records()
        sent = bytes(request)
        late_ms = Millis(bench.clock.hi_res_clock_ms() + _DELIVERY_TIMEOUT_MS)
        for expired in bench.accumulator.expired_batches(late_ms):
            bench.accumulator.expire(expired)
        # Whatever the appender does here, the request has not been written out yet.
        bench.accumulator.has_undrained()
        assert bytes(request) == sent, "the memory of a request was reused before it was sent"
        bench.accumulator.fail_batch(batch, ProducerAbortedError("the response of a late request"))

    return Scenario(
        threads={"append": partial(bench.append, "b"), "sender": expire_in_flight},
        check=bench.check,
    )


_BUILDERS: Mapping[str, Callable[[type[RecordAccumulator]], Scenario]] = {
    "accumulator-two-appends": two_appends,
    "accumulator-append-drain": append_against_drain,
    "accumulator-append-abort": append_against_abort,
    "accumulator-two-appends-abort": two_appends_against_abort,
    "accumulator-abort-without-close": abort_without_close,
    "accumulator-blocked-append": blocked_append,
    "accumulator-blocked-append-close": blocked_append_against_close,
    "accumulator-flush-send": flush_against_send,
    "accumulator-flush-split": flush_against_split,
    "accumulator-flush-abort": flush_against_abort,
    "accumulator-interrupted-flush": interrupted_flush,
    "accumulator-append-expiry": append_against_expiry,
}

_BUGS: Mapping[str, str] = {
    "KAFKA-19012": "accumulator-append-expiry",
    "KAFKA-3147": "accumulator-append-abort",
    "KAFKA-3655": "accumulator-interrupted-flush",
    "KAFKA-4741": "accumulator-two-appends-abort",
    "KAFKA-9312": "accumulator-flush-split",
    "KAFKA-8202": "accumulator-flush-split",
}
"""The scenario that shows each bug that the checker finds."""

PROGRAMS: tuple[Program, ...] = tuple(
    program(name, partial(build, RecordAccumulator)) for name, build in _BUILDERS.items()
)
FAILING: tuple[Program, ...] = tuple(
    program(f"bug/{bug}", partial(_BUILDERS[scenario], find_bug(BUGS, bug).accumulator_class))
    for bug, scenario in _BUGS.items()
)
