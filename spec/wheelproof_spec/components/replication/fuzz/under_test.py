"""A replica manager with real threads on a manual clock, judged after each burst of calls."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof.clock import ManualClock
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import (
    ALL_ACKS,
    DelayedFetch,
    DelayedProduce,
    ErrorCode,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    PartitionProduceResponse,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.sync import single_thread_executor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.replication.clauses import ReplicationClause
from wheelproof_spec.components.replication.reference import BROKER, OperationT
from wheelproof_spec.engines.fuzz.burst import BurstError, await_submitted, run_burst
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase
from wheelproof_spec.engines.runtimes.hooks import InstrumentedRuntime

PARTITIONS = ("a", "b")
FOLLOWERS = (2, 3)
_ENOUGH_BYTES = 1_000
_NOW = Millis(0)


@dataclass(slots=True)
class _Request:
    """A request: a produce has the value that it wrote, a fetch the offsets that it waits at."""

    name: str
    topics: tuple[str, ...]
    expires_ms: int = 0
    value: bytes = b""
    acks: int = 0
    offsets: dict[str, int] = field(default_factory=dict[str, int])
    answers: int = 0


def run_case(manager_class: type[ReplicaManager], case: ThreadedCase) -> Violation | None:
    """Run a whole case from the beginning and return the first violation."""
    broker = ReplicationUnderTest(manager_class, case)
    try:
        for burst in case.bursts:
            violation = broker.run(burst)
            if violation is not None:
                return violation
        return broker.run(broker.drain())
    finally:
        broker.close()


class ReplicationUnderTest:
    """A broker that leads both partitions, and everything that was asked of it.

    In words: "produce 40 ab" appends to two partitions with acks = all and a time-out of 40 ms,
    "hurry a" with acks = 1; "consume 40 ab" waits at the end that consumers see; "replicate 2 a" is
    a fetch of follower 2; "clock to 25", "advance".
    """

    def __init__(self, manager_class: type[ReplicaManager], case: ThreadedCase) -> None:
        self._numbers = itertools.count(1)
        self._requests: list[_Request] = []
        self._wrong: list[Violation] = []
        self._cursors = {(one, topic): 0 for one in FOLLOWERS for topic in PARTITIONS}
        self._now_ms = 0
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        with use_runtime(self._runtime):
            self._clock = ManualClock()
            self._executor = single_thread_executor("replication under test")
            self._purgatories = self._purgatory(DelayedProduce), self._purgatory(DelayedFetch)
            produces, fetches = self._purgatories
            self._manager = manager_class(
                BROKER, produce_purgatory=produces, fetch_purgatory=fetches, clock=self._clock
            )
            for topic in PARTITIONS:
                self._manager.become_leader(
                    _key(topic),
                    0,
                    replica_ids=[BROKER, *FOLLOWERS],
                    in_sync_ids=[BROKER, *FOLLOWERS],
                )

    @property
    def now_ms(self) -> int:
        """The time that the clock shows, in milliseconds."""
        return self._now_ms

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and judge what was seen."""
        try:
            with use_runtime(self._runtime):
                run_burst([[self._call(words) for words in program] for program in burst])
            self._settle()
        except BurstError as error:
            return error.violation
        return self._first_wrong()

    def drain(self) -> Burst:
        """Return the burst after which everybody was answered."""
        last_ms = max((request.expires_ms for request in self._requests), default=0)
        return ((f"clock to {max(last_ms, self._now_ms)}", "advance", "settle", "end"),)

    def close(self) -> None:
        """End the executor's thread."""
        self._executor.shutdown()

    def _call(self, words: str) -> Callable[[], None]:
        kind, *rest = words.split()
        match kind:
            case "produce":
                return partial(self._produce, int(rest[0]), rest[1], ALL_ACKS)
            case "hurry":
                return partial(self._produce, 0, rest[0], 1)
            case "consume":
                return partial(self._consume, int(rest[0]), rest[1])
            case "replicate":
                return partial(self._replicate, int(rest[0]), rest[1])
            case "clock":
                return partial(self._tick, int(rest[1]))
            case "advance":
                return self._advance
            case "settle":
                return self._settle
            case _:
                return self._end

    def _produce(self, timeout_ms: int, topics: str, acks: int) -> None:
        number = next(self._numbers)
        request = self._request(f"produce {number}", topics)
        request.value, request.acks = b"%010d" % number, acks

        def answer(responses: Mapping[TopicPartition, PartitionProduceResponse]) -> None:
            request.answers += 1
            for key, response in responses.items():
                if response.error is ErrorCode.NONE:
                    self._check_acknowledged(request, key, response.base_offset)

        self._manager.append_records(
            timeout_ms=Millis(timeout_ms),
            required_acks=acks,
            entries={_key(topic): [request.value] for topic in topics},
            callback=answer,
        )
        self._note_expiry(request, timeout_ms)

    def _consume(self, max_wait_ms: int, topics: str) -> None:
        request = self._request(f"consume {next(self._numbers)}", topics)
        request.offsets = {topic: self._high_watermark(topic) for topic in topics}

        def answer(data: Mapping[TopicPartition, FetchPartitionData]) -> None:
            request.answers += 1
            for key, one in data.items():
                if any(record.offset >= one.high_watermark for record in one.records):
                    self._complain(ReplicationClause.ANSWER_IS_RIGHT, request, f"{key}: {one}")

        self._manager.fetch_messages(
            FetchParams(
                replica_id=None,
                max_wait_ms=Millis(max_wait_ms),
                min_bytes=1,
                max_bytes=_ENOUGH_BYTES,
            ),
            {
                _key(topic): FetchPartition(fetch_offset=offset, max_bytes=_ENOUGH_BYTES)
                for topic, offset in request.offsets.items()
            },
            answer,
        )
        self._note_expiry(request, max_wait_ms)

    def _replicate(self, follower: int, topic: str) -> None:
        offset = self._cursors[follower, topic]

        def answer(data: Mapping[TopicPartition, FetchPartitionData]) -> None:
            records = data[_key(topic)].records
            self._cursors[follower, topic] = max(offset + len(records), offset)

        self._manager.fetch_messages(
            FetchParams(
                replica_id=follower, max_wait_ms=_NOW, min_bytes=1, max_bytes=_ENOUGH_BYTES
            ),
            {_key(topic): FetchPartition(fetch_offset=offset, max_bytes=_ENOUGH_BYTES)},
            answer,
        )

    def _tick(self, to_ms: int) -> None:
        self._clock.advance_to(to_ms)
        self._now_ms = max(self._now_ms, to_ms)

    def _advance(self) -> None:
        for purgatory in self._purgatories:
            purgatory.advance_clock(_NOW)

    def _end(self) -> None:
        """Everybody was answered, and nothing is kept."""
        for request in self._requests:
            if request.answers != 1:
                self._complain(
                    ReplicationClause.ANSWERED_WHEN_IT_CAN_BE,
                    request,
                    f"{request.answers} answers after its time-out",
                )
        for purgatory in self._purgatories:
            purgatory.purge_completed()
            left = (purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed())
            if left != (0, 0, 0):
                self._wrong.append(
                    Violation(
                        rule=ReplicationClause.NOTHING_IS_KEPT,
                        expected="no watches, keys and time-outs",
                        observed=str(left),
                        reason="every request was answered",
                    )
                )

    def _first_wrong(self) -> Violation | None:
        """Look at the requests while nobody runs."""
        for request in self._requests:
            if request.answers > 1:
                self._complain(
                    ReplicationClause.ANSWERED_AT_MOST_ONCE, request, f"{request.answers} answers"
                )
            if request.answers == 0 and self._can_be_answered(request):
                self._complain(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE, request, "no answer")
        return self._wrong[0] if self._wrong else None

    def _can_be_answered(self, request: _Request) -> bool:
        if request.offsets:
            return any(
                self._high_watermark(topic) > offset for topic, offset in request.offsets.items()
            )
        return all(
            request.value in self._values(topic, self._high_watermark(topic))
            for topic in request.topics
        )

    def _check_acknowledged(self, request: _Request, key: TopicPartition, base_offset: int) -> None:
        values = self._values(key.topic, base_offset + 1)
        replicated = self._high_watermark(key.topic) > base_offset
        right = values[base_offset:] == [request.value]
        if not right or (request.acks == ALL_ACKS and not replicated):
            observed = f"{key}: offset {base_offset} acknowledged, the log has {values}"
            self._complain(ReplicationClause.ANSWER_IS_RIGHT, request, observed)

    def _values(self, topic: str, end: int) -> list[bytes]:
        """Return what the log has before `end`, as a follower reads it."""
        data = self._manager.fetch.read(
            FetchParams(
                replica_id=FOLLOWERS[0], max_wait_ms=_NOW, min_bytes=0, max_bytes=_ENOUGH_BYTES
            ),
            {_key(topic): FetchPartition(fetch_offset=0, max_bytes=_ENOUGH_BYTES)},
        )
        return [record.value for record in data[_key(topic)].records][:end]

    def _high_watermark(self, topic: str) -> int:
        partition = self._manager.partition(_key(topic))
        return 0 if partition is None else partition.log.high_watermark

    def _request(self, name: str, topics: str) -> _Request:
        request = _Request(name=name, topics=tuple(topics))
        self._requests.append(request)
        return request

    def _note_expiry(self, request: _Request, timeout_ms: int) -> None:
        """Note the latest time at which a request expires that has been handed in by now."""
        request.expires_ms = self._clock.hi_res_clock_ms() + timeout_ms

    def _complain(self, clause: ReplicationClause, request: _Request, observed: str) -> None:
        self._wrong.append(
            Violation(
                rule=clause,
                expected=f"{request.name} is answered once, rightly, and as soon as it can be",
                observed=observed,
                reason="seen while no call was under way, or in the answer itself",
            )
        )

    def _purgatory(self, operation: type[OperationT]) -> DelayedOperationPurgatory[OperationT]:
        name = operation.__name__
        timer = SystemTimer(name, clock=self._clock, executor=self._executor)
        return DelayedOperationPurgatory(name, timer, shards=2, reaper_enabled=False)

    def _settle(self) -> None:
        """Wait until everything submitted has run."""
        await_submitted(self._executor, "Replication.EveryCallReturns")


def _key(topic: str) -> TopicPartition:
    return TopicPartition(topic, 0)
