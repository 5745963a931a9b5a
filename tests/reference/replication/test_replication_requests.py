"""Produce and fetch requests of a broker: a conversation, bad input, callbacks that raise."""

from collections.abc import Callable

import pytest

from wheelproof.errors import DelayedOperationError, IllegalArgumentError, PurgatoryClosedError
from wheelproof.replication import (
    ErrorCode,
    FetchParams,
    FetchPartition,
    ReplicaManager,
    TopicPartition,
)
from wheelproof.units import Millis
from wheelproof_spec.components.replication.oracle import (
    Answer,
    FetchAnswer,
    FetchedPartition,
    FetchRequest,
    ProduceAnswer,
)
from wheelproof_spec.components.replication.reference import BrokerConfig, BrokerUnderTest

_TOPIC = TopicPartition("t", 0)


def _broker(min_in_sync: int = 1) -> BrokerUnderTest:
    broker = BrokerUnderTest(ReplicaManager, BrokerConfig(min_in_sync=min_in_sync))
    broker.become_leader("t", 0, [1, 2], [1, 2])
    return broker


def _consume(min_bytes: int = 1) -> FetchRequest:
    return FetchRequest(
        replica=None,
        min_bytes=min_bytes,
        max_bytes=100,
        partitions={"t": FetchedPartition(offset=0, max_bytes=100)},
    )


def _replicate(offset: int) -> FetchRequest:
    return FetchRequest(
        replica=2,
        min_bytes=1,
        max_bytes=100,
        partitions={"t": FetchedPartition(offset=offset, max_bytes=100)},
    )


def _errors(answer: Answer) -> set[str]:
    return {one.error for one in answer.values()}


def _bytes(answer: Answer) -> int:
    return sum(one.size for one in answer.values() if isinstance(one, FetchAnswer))


def test_produce_and_fetch_drive_each_other() -> None:
    broker = _broker()
    broker.fetch("consumer", _consume(), 50)
    broker.append("producer", acks=-1, timeout_ms=50, entries={"t": [3, 4]})
    assert broker.take_answers() == ()
    broker.fetch("follower", _replicate(0), 50)
    ((name, answer),) = broker.take_answers()
    assert (name, _bytes(answer)) == ("follower", 7)
    broker.fetch("follower again", _replicate(2), 50)
    answers = dict(broker.take_answers())
    assert answers["producer"] == {"t": ProduceAnswer(error="NONE", base_offset=0)}
    assert _errors(answers["consumer"]) == {"NONE"}
    assert broker.num_delayed() == 1


def test_partitions_that_are_not_replicated_in_time_say_so() -> None:
    broker = _broker()
    broker.append("producer", acks=-1, timeout_ms=50, entries={"t": [3], "unknown": [1]})
    broker.advance_to(50)
    assert dict(broker.take_answers())["producer"] == {
        "t": ProduceAnswer(error="REQUEST_TIMED_OUT", base_offset=0),
        "unknown": ProduceAnswer(error="UNKNOWN_TOPIC_OR_PARTITION"),
    }
    assert broker.manager.produce.expirations == 1


def test_a_fetch_that_expires_answers_with_what_there_is() -> None:
    broker = _broker()
    broker.append("producer", acks=1, timeout_ms=0, entries={"t": [3]})
    broker.fetch("follower", _replicate(1), 20)
    broker.fetch("consumer", _consume(min_bytes=9), 30)
    broker.take_answers()
    broker.advance_to(30)
    answers = dict(broker.take_answers())
    assert set(answers) == {"follower", "consumer"}
    assert (
        sum(one.size for one in answers["consumer"].values() if isinstance(one, FetchAnswer)) == 3
    )
    handler = broker.manager.fetch
    assert (handler.follower_expirations, handler.consumer_expirations) == (1, 1)


def test_acks_out_of_range_append_nothing() -> None:
    broker = _broker()
    broker.append("producer", acks=2, timeout_ms=50, entries={"t": [3]})
    ((_, answer),) = broker.take_answers()
    assert _errors(answer) == {ErrorCode.INVALID_REQUIRED_ACKS}
    partition = broker.manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 0


def test_too_few_replicas_in_sync_refuse_all_acks_only() -> None:
    broker = _broker(min_in_sync=3)
    broker.append("all", acks=-1, timeout_ms=50, entries={"t": [3]})
    broker.append("one", acks=1, timeout_ms=50, entries={"t": [3]})
    answers = dict(broker.take_answers())
    assert answers["all"] == {"t": ProduceAnswer(error="NOT_ENOUGH_REPLICAS")}
    assert answers["one"] == {"t": ProduceAnswer(error="NONE", base_offset=0)}


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
    (lambda manager: _fetch(manager, max_wait_ms=-1), "max_wait_ms has to lie within 0"),
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
        call(_broker().manager)


def test_after_shutdown_requests_are_refused_and_nothing_is_appended() -> None:
    manager = _broker().manager
    manager.shutdown()
    with pytest.raises(PurgatoryClosedError, match="has been shut down"):
        _produce(manager, 1, [b"x"])
    with pytest.raises(PurgatoryClosedError, match="has been shut down"):
        _fetch(manager)
    partition = manager.partition(_TOPIC)
    assert partition is not None
    assert partition.log.log_end_offset == 0


class _UnhappyError(Exception):
    pass


def _raise(_: object) -> None:
    raise _UnhappyError("unhappy")


def test_a_callback_that_raises_keeps_nobody_else_from_being_answered() -> None:
    broker = _broker()
    params = FetchParams(replica_id=2, max_wait_ms=Millis(9), min_bytes=1, max_bytes=99)
    waiting = {_TOPIC: FetchPartition(fetch_offset=0, max_bytes=99)}
    broker.manager.fetch_messages(params, waiting, _raise)
    broker.fetch("follower", _replicate(0), 9)
    with pytest.raises(DelayedOperationError, match="unhappy"):
        broker.append("producer", acks=1, timeout_ms=9, entries={"t": [1]})
    assert {name for name, _ in broker.take_answers()} == {"producer", "follower"}
    assert broker.num_delayed() == 0


def test_a_fenced_or_ahead_fetcher_is_told_so() -> None:
    broker = _broker()
    broker.become_leader("t", 5, [1, 2], [1, 2])
    for claimed, error in ((4, "FENCED_LEADER_EPOCH"), (6, "UNKNOWN_LEADER_EPOCH")):
        request = FetchRequest(
            replica=None,
            min_bytes=1,
            max_bytes=9,
            partitions={"t": FetchedPartition(offset=0, max_bytes=9, current_epoch=claimed)},
        )
        broker.fetch("consumer", request, 9)
        ((_, answer),) = broker.take_answers()
        assert _errors(answer) == {error}


def test_a_broker_that_lost_the_log_does_not_acknowledge_what_stood_there() -> None:
    broker = _broker()
    broker.append("lost", acks=-1, timeout_ms=50, entries={"t": [3]})
    broker.become_follower("t", 1)
    assert dict(broker.take_answers())["lost"] == {
        "t": ProduceAnswer(error="NOT_LEADER_OR_FOLLOWER", base_offset=0)
    }
