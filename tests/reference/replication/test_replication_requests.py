"""Produce and fetch requests of a broker: a conversation, bad input, callbacks that raise."""

from collections.abc import Callable, Mapping
from typing import NoReturn

import pytest

from wheelproof.clock import ManualClock
from wheelproof.errors import IllegalArgumentError, PurgatoryClosedError
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import (
    FetchParams,
    FetchPartition,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.replication.delayed_fetch import DelayedFetch
from wheelproof.replication.delayed_produce import DelayedProduce
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.calls import Advance, PurgeCompleted, Reset
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.components.replication.component import (
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    NewRecord,
    PartitionFetchResponse,
    PartitionProduceResponse,
    PartitionRecords,
    ReplicationCall,
    ReplicationConfig,
)
from wheelproof_spec.components.replication.component import FetchPartition as FetchedPartition
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort

_TOPIC = TopicPartition("t", 0)
_Answer = tuple[PartitionProduceResponse, ...] | tuple[PartitionFetchResponse, ...]


class _Broker:
    """The reference's broker, with what it has answered since `take_answers`."""

    def __init__(self, min_in_sync: int = 1) -> None:
        self._port = ReferenceReplicationPort()
        config = ReplicationConfig(broker_id=1, min_in_sync_replicas=min_in_sync)
        self._port.perform(Reset(config=config))
        self._answers: dict[str, _Answer] = {}
        self.num_delayed = 0
        self.become_leader(0)

    @property
    def manager(self) -> ReplicaManager:
        return self._port.manager

    def perform(self, call: ReplicationCall) -> None:
        seen = self._port.perform(call)
        self._answers |= {response.request: response.partitions for response in seen.produced}
        self._answers |= {response.request: response.partitions for response in seen.fetched}
        self.num_delayed = seen.num_delayed or 0

    def take_answers(self) -> dict[str, _Answer]:
        answers, self._answers = self._answers, {}
        return answers

    def become_leader(self, epoch: int, in_sync: tuple[int, ...] = (1, 2)) -> None:
        self.perform(
            BecomeLeader(partition="t", leader_epoch=epoch, replica_ids=(1, 2), in_sync_ids=in_sync)
        )

    def append(
        self, name: str, *, acks: int, timeout_ms: int, entries: dict[str, list[int]]
    ) -> None:
        self.perform(
            AppendRecords(
                request=name,
                required_acks=acks,
                timeout_ms=timeout_ms,
                entries=tuple(
                    PartitionRecords(
                        partition=partition, records=tuple(NewRecord(size=size) for size in sizes)
                    )
                    for partition, sizes in entries.items()
                ),
            )
        )

    def consume(
        self, name: str, max_wait_ms: int, *, min_bytes: int = 1, epoch: int | None = None
    ) -> None:
        self._fetch(name, None, max_wait_ms, min_bytes, 0, epoch)

    def replicate(self, name: str, max_wait_ms: int, offset: int) -> None:
        self._fetch(name, 2, max_wait_ms, 1, offset, None)

    def _fetch(
        self,
        name: str,
        replica: int | None,
        max_wait_ms: int,
        min_bytes: int,
        offset: int,
        epoch: int | None,
    ) -> None:
        partition = FetchedPartition(
            partition="t", fetch_offset=offset, max_bytes=100, current_leader_epoch=epoch
        )
        self.perform(
            FetchMessages(
                request=name,
                replica_id=replica,
                max_wait_ms=max_wait_ms,
                min_bytes=min_bytes,
                max_bytes=100,
                partitions=(partition,),
            )
        )


def _produced(error: ErrorCode, base_offset: int = -1, partition: str = "t") -> _Answer:
    return (PartitionProduceResponse(partition=partition, error=error, base_offset=base_offset),)


def _errors(answer: _Answer) -> set[str]:
    return {part.error for part in answer}


def _bytes(answer: _Answer) -> int:
    return sum(part.size for part in answer if isinstance(part, PartitionFetchResponse))


@pytest.mark.repeats(
    "c-produce",
    "c-fetch",
    "x-fetch-enough",
    "br-acks-all",
    "br-hw",
    "br-followers-fetch",
    "br-followers-end",
)
def test_produce_and_fetch_drive_each_other() -> None:
    broker = _Broker()
    broker.consume("consumer", 50)
    broker.append("producer", acks=-1, timeout_ms=50, entries={"t": [3, 4]})
    assert broker.take_answers() == {}
    broker.replicate("follower", 50, 0)
    ((name, answer),) = broker.take_answers().items()
    assert (name, _bytes(answer)) == ("follower", 7)
    broker.replicate("follower again", 50, 2)
    answers = broker.take_answers()
    assert answers["producer"] == _produced(ErrorCode.NONE, 0)
    assert _errors(answers["consumer"]) == {"NONE"}
    assert broker.num_delayed == 1


@pytest.mark.repeats("br-produce-timeout")
def test_partitions_that_are_not_replicated_in_time_say_so() -> None:
    broker = _Broker()
    broker.append("producer", acks=-1, timeout_ms=50, entries={"t": [3], "unknown": [1]})
    broker.perform(Advance(to_ms=50))
    assert broker.take_answers()["producer"] == (
        *_produced(ErrorCode.REQUEST_TIMED_OUT, 0),
        *_produced(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, partition="unknown"),
    )
    assert broker.manager.produce.expirations == 1


@pytest.mark.repeats("br-fetch-min", "br-fetch-wait", "br-expirations")
def test_a_fetch_that_expires_answers_with_what_there_is() -> None:
    broker = _Broker()
    broker.append("producer", acks=1, timeout_ms=0, entries={"t": [3]})
    broker.replicate("follower", 20, 1)
    broker.consume("consumer", 30, min_bytes=9)
    broker.take_answers()
    broker.perform(Advance(to_ms=30))
    answers = broker.take_answers()
    assert set(answers) == {"follower", "consumer"}
    assert _bytes(answers["consumer"]) == 3
    handler = broker.manager.fetch
    assert (handler.follower_expirations, handler.consumer_expirations) == (1, 1)


@pytest.mark.repeats("br-acks-other")
def test_acks_out_of_range_append_nothing() -> None:
    broker = _Broker()
    broker.append("producer", acks=2, timeout_ms=50, entries={"t": [3]})
    (answer,) = broker.take_answers().values()
    assert _errors(answer) == {ErrorCode.INVALID_REQUIRED_ACKS}
    partition = broker.manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 0


@pytest.mark.repeats("br-min-isr")
def test_too_few_replicas_in_sync_refuse_all_acks_only() -> None:
    broker = _Broker(min_in_sync=2)
    broker.become_leader(1, in_sync=(1,))
    broker.append("all", acks=-1, timeout_ms=50, entries={"t": [3]})
    broker.append("one", acks=1, timeout_ms=50, entries={"t": [3]})
    answers = broker.take_answers()
    assert answers["all"] == _produced(ErrorCode.NOT_ENOUGH_REPLICAS)
    assert answers["one"] == _produced(ErrorCode.NONE, 0)


def _produce(manager: ReplicaManager, timeout_ms: int, values: list[bytes]) -> None:
    manager.append_records(
        timeout_ms=Millis(timeout_ms), required_acks=1, entries={_TOPIC: values}, callback=print
    )


def _fetch(
    manager: ReplicaManager,
    *,
    max_wait_ms: int = 0,
    min_bytes: int = 0,
    max_bytes: int = 0,
    limit: int = 0,
) -> None:
    manager.fetch_messages(
        FetchParams(
            replica_id=None,
            max_wait_ms=Millis(max_wait_ms),
            min_bytes=min_bytes,
            max_bytes=max_bytes,
        ),
        {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=limit)},
        print,
    )


_Call = Callable[[ReplicaManager], None]

_OUTSIDE: tuple[tuple[_Call, str], ...] = (
    (lambda manager: _produce(manager, -1, [b"x"]), "timeout_ms has to lie within 0"),
    (lambda manager: _produce(manager, 1, []), "the records of t-0 have to be a sequence"),
    (lambda manager: _fetch(manager, max_wait_ms=2**62), "max_wait_ms has to lie within"),
    (lambda manager: _fetch(manager, min_bytes=-1), "min_bytes has to lie within 0"),
    (lambda manager: _fetch(manager, max_bytes=-1), "max_bytes has to lie within 0"),
    (lambda manager: _fetch(manager, limit=-1), "max_bytes of t-0 has to lie within 0"),
    (
        lambda manager: manager.become_leader(_TOPIC, 0, replica_ids=[1], in_sync_ids=[1]),
        "the leader epoch of t-0 is 0 already",
    ),
    (
        lambda manager: manager.become_leader(_TOPIC, 1, replica_ids=[1], in_sync_ids=[1, 2]),
        "have to include this broker, 1, and be among the replicas",
    ),
    (lambda manager: manager.truncate_as_follower(_TOPIC, 0), "this broker leads t-0"),
    (
        lambda manager: manager.append_as_follower(TopicPartition("u", 0), [], 0),
        "this broker has no partition u-0",
    ),
)


@pytest.mark.parametrize(("call", "problem"), _OUTSIDE)
def test_what_is_outside_the_domain_is_refused(call: _Call, problem: str) -> None:
    with pytest.raises(IllegalArgumentError, match=problem):
        call(_Broker().manager)


def test_after_shutdown_requests_are_refused_and_nothing_is_appended() -> None:
    manager = _Broker().manager
    manager.close()
    with pytest.raises(PurgatoryClosedError, match="has been shut down"):
        _produce(manager, 1, [b"x"])
    with pytest.raises(PurgatoryClosedError, match="has been shut down"):
        _fetch(manager)
    partition = manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 0


def test_a_close_that_overtakes_a_request_does_not_refuse_what_was_appended() -> None:
    clock = ManualClock(0)
    timers = [SystemTimer("t", clock=clock, executor=DeferredExecutor()) for _ in range(2)]
    produces: DelayedOperationPurgatory[DelayedProduce] = DelayedOperationPurgatory(
        "produces", timers[0], reaper_enabled=False
    )
    fetches: DelayedOperationPurgatory[DelayedFetch] = DelayedOperationPurgatory(
        "fetches", timers[1], reaper_enabled=False
    )
    manager = ReplicaManager(1, produce_purgatory=produces, fetch_purgatory=fetches, clock=clock)
    manager.become_leader(_TOPIC, 0, replica_ids=[1, 2], in_sync_ids=[1, 2])
    # As if the close came behind the append, and before the request waits.
    produces.close()
    answers: list[object] = []
    manager.append_records(
        timeout_ms=10, required_acks=-1, entries={_TOPIC: [b"x"]}, callback=answers.append
    )
    partition = manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 1
    assert answers == []
    manager.close()


class _UnhappyError(Exception):
    pass


def _raise(_: object) -> None:
    raise _UnhappyError("unhappy")


def test_a_callback_that_raises_keeps_nobody_else_from_being_answered() -> None:
    broker = _Broker()
    params = FetchParams(replica_id=2, max_wait_ms=Millis(9), min_bytes=1, max_bytes=99)
    waiting = {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=99)}
    broker.manager.fetch_messages(params, waiting, _raise)
    broker.replicate("follower", 9, 0)
    with pytest.raises(RefusedError, match="unhappy"):
        broker.append("producer", acks=1, timeout_ms=9, entries={"t": [1]})
    broker.perform(PurgeCompleted())
    assert set(broker.take_answers()) == {"producer", "follower"}
    assert broker.num_delayed == 0


def _end_thread(_: object) -> None:
    raise SystemExit(3)


def test_what_ends_a_thread_keeps_no_other_partition_from_being_answered() -> None:
    manager, other, answers = (
        _Broker().manager,
        TopicPartition("u", 0),
        list[Mapping[TopicPartition, object]](),
    )
    manager.become_leader(other, 0, replica_ids=[1, 2], in_sync_ids=[1, 2])
    params = FetchParams(replica_id=2, max_wait_ms=Millis(9), min_bytes=1, max_bytes=99)
    for partition, callback in ((_TOPIC, _end_thread), (other, answers.append)):
        waiting = {partition: FetchPartition(fetch_offset=0, max_bytes=99)}
        manager.fetch_messages(params, waiting, callback)
    with pytest.raises(SystemExit):
        manager.append_records(
            timeout_ms=Millis(9),
            required_acks=1,
            entries={_TOPIC: [b"r"], other: [b"r"]},
            callback=answers.append,
        )
    assert [list(answer) for answer in answers] == [[_TOPIC, other], [other]]


def test_an_append_that_raises_keeps_nobody_from_being_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The log of the second partition has no memory left; the first one has the record."""
    manager, other = _Broker().manager, TopicPartition("u", 0)
    manager.become_leader(other, 0, replica_ids=[1, 2], in_sync_ids=[1, 2])
    answers = list[Mapping[TopicPartition, object]]()
    params = FetchParams(replica_id=2, max_wait_ms=Millis(9), min_bytes=1, max_bytes=99)
    waiting = {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=99)}
    manager.fetch_messages(params, waiting, answers.append)
    partition = manager.partition(other)
    assert partition is not None

    def no_memory(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(partition.log, "append", no_memory)
    with pytest.raises(MemoryError):
        manager.append_records(
            timeout_ms=Millis(9),
            required_acks=1,
            entries={_TOPIC: [b"r"], other: [b"r"]},
            callback=answers.append,
        )
    assert [list(answer) for answer in answers] == [[_TOPIC]]


@pytest.mark.repeats("kip-320-fenced", "kip-320-unknown")
def test_a_fenced_or_ahead_fetcher_is_told_so() -> None:
    broker = _Broker()
    broker.become_leader(5)
    for claimed, error in ((4, "FENCED_LEADER_EPOCH"), (6, "UNKNOWN_LEADER_EPOCH")):
        broker.consume("consumer", 9, epoch=claimed)
        (answer,) = broker.take_answers().values()
        assert _errors(answer) == {error}


def test_a_broker_that_lost_the_log_does_not_acknowledge_what_stood_there() -> None:
    broker = _Broker()
    broker.append("lost", acks=-1, timeout_ms=50, entries={"t": [3]})
    broker.perform(BecomeFollower(partition="t", leader_epoch=1, leader_id=2))
    assert broker.take_answers()["lost"] == _produced(ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)


@pytest.mark.repeats("br-acks-0", "br-acks-1")
@pytest.mark.parametrize(("acks", "answers"), [(0, 1), (1, 1), (-1, 0)])
def test_acks_0_and_1_are_answered_at_once(acks: int, answers: int) -> None:
    broker = _Broker()
    broker.append("producer", acks=acks, timeout_ms=50, entries={"t": [3]})
    assert len(broker.take_answers()) == answers
    partition = broker.manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 1


@pytest.mark.repeats("end-fetch")
@pytest.mark.parametrize("max_wait_ms", [0, -1])
def test_a_fetch_without_time_is_answered_at_once(max_wait_ms: int) -> None:
    answered: list[int] = []
    params = FetchParams(
        replica_id=None, max_wait_ms=Millis(max_wait_ms), min_bytes=1, max_bytes=99
    )
    _Broker().manager.fetch_messages(
        params,
        {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=99)},
        lambda data: answered.append(sum(part.bytes_read for part in data.values())),
    )
    assert answered == [0]


@pytest.mark.repeats("br-partition-max")
@pytest.mark.parametrize(("limit", "answered"), [(99, 1), (5, 1), (4, 0)])
def test_a_partition_counts_with_its_limit_at_most(limit: int, answered: int) -> None:
    broker, answers = _Broker(), list[object]()
    params = FetchParams(replica_id=2, max_wait_ms=Millis(9), min_bytes=5, max_bytes=99)
    waiting = {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=limit)}
    broker.manager.fetch_messages(params, waiting, answers.append)
    broker.append("producer", acks=1, timeout_ms=9, entries={"t": [10]})
    assert len(answers) == answered
