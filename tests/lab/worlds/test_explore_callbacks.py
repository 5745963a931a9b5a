"""Callbacks that call back, in every interleaving with another thread (standard 6)."""

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from wheelproof import sync
from wheelproof.producer import FutureRecordMetadata, Record, RecordAccumulator
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof.replication import FetchParams, FetchPartition, ReplicaManager, TopicPartition
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.program import Action, Scenario
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.accumulator.bench import AccumulatorBench
from wheelproof_lab.worlds.making import discarding, program
from wheelproof_lab.worlds.purgatory.purgatory import FlagOperation, TimerOfOneList
from wheelproof_lab.worlds.replication.bench import Broker

pytestmark = pytest.mark.slow

_PARTITION = TopicPartition("topic", 0)
_NOW = Millis(0)
_Purgatory = DelayedOperationPurgatory[FlagOperation]
_Call = Callable[[], object]


class _CallingOperation(FlagOperation):
    __slots__ = ("call",)
    call: _Call

    def on_complete(self) -> None:
        super().on_complete()
        self.call()


def _purgatory(choose: Callable[[_Purgatory, FlagOperation], _Call], *, mutual: bool) -> Scenario:
    purgatory = _Purgatory("called back", TimerOfOneList(), shards=1, reaper_enabled=False)
    flag = sync.volatile(False, "flag")
    first, second = _CallingOperation(flag), _CallingOperation(flag)
    purgatory.try_complete_else_watch(first, ["a"])
    purgatory.try_complete_else_watch(second, ["b"])
    first.call = choose(purgatory, second)
    second.call = partial(purgatory.check_and_complete, "a") if mutual else _do_nothing
    flag.set(True)

    def check() -> None:
        assert first.completions == 1
        assert second.completions + second.is_cancelled() <= 1

    triggers: dict[str, Action] = {
        key: discarding(partial(purgatory.check_and_complete, key)) for key in "ab"
    }
    return Scenario(threads=triggers, check=check)


def _do_nothing() -> None:
    pass


def _watch_another(purgatory: _Purgatory, _: FlagOperation) -> _Call:
    another = FlagOperation(sync.volatile(False, "never"))
    return partial(purgatory.try_complete_else_watch, another, ["a", "b"])


_IN_PURGATORY: Mapping[str, Callable[[_Purgatory, FlagOperation], _Call]] = {
    "trigger its own key": lambda purgatory, _: partial(purgatory.check_and_complete, "a"),
    "trigger another key": lambda purgatory, _: partial(purgatory.check_and_complete, "b"),
    "cancel another key": lambda purgatory, _: partial(purgatory.cancel_for_key, "b"),
    "force another": lambda _, other: other.force_complete,
    "watch another": _watch_another,
    "purge": lambda purgatory, _: purgatory.purge_completed,
    "shut down": lambda purgatory, _: purgatory.close,
}


@pytest.mark.repeats("op-trigger-in-callback")
@pytest.mark.parametrize("call", _IN_PURGATORY)
def test_rule_7_2_a_callback_of_the_purgatory_may_call_it(call: str) -> None:
    found = explore(program(call, partial(_purgatory, _IN_PURGATORY[call], mutual=False)))
    assert found.verdict() is Verdict.PASS, found.details()


def test_rule_7_2_callbacks_may_trigger_each_other() -> None:
    build = partial(_purgatory, _IN_PURGATORY["trigger another key"], mutual=True)
    found = explore(program("each other", build))
    assert found.verdict() is Verdict.PASS, found.details()
    assert found.classes > 1


def _flush(bench: AccumulatorBench) -> None:
    bench.accumulator.begin_flush()
    bench.accumulator.await_flush_completion()


def _accumulator(call: Callable[[AccumulatorBench], object]) -> Scenario:
    bench = AccumulatorBench(RecordAccumulator, batches=3)
    record = Record(timestamp_ms=0, value=b"aaa")
    bench.accumulator.append(_PARTITION, record, lambda _metadata, _error: _discard(call(bench)))
    threads: dict[str, Action] = {"sender": bench.send, "appender": partial(bench.append, "b")}
    return Scenario(threads=threads)


def _discard(_: object) -> None:
    """Take what a call answers."""


_IN_ACCUMULATOR: Mapping[str, Callable[[AccumulatorBench], object]] = {
    "append": lambda bench: bench.append("c"),
    "begin a flush": lambda bench: bench.accumulator.begin_flush(),
    "close": lambda bench: bench.close(),
    "close by force": lambda bench: bench.abort(),
    "ask": lambda bench: bench.accumulator.has_incomplete(),
}


@pytest.mark.repeats("pr-append-in-callback")
@pytest.mark.parametrize("call", _IN_ACCUMULATOR)
def test_rule_7_3_a_callback_of_a_record_may_append_and_close(call: str) -> None:
    found = explore(program(call, partial(_accumulator, _IN_ACCUMULATOR[call])))
    assert found.verdict() is Verdict.PASS, found.details()


def _wait_for_own_result() -> Scenario:
    bench, futures = AccumulatorBench(RecordAccumulator, batches=3), list[FutureRecordMetadata]()
    record = Record(timestamp_ms=0, value=b"aaa")
    appended = bench.accumulator.append(
        _PARTITION, record, lambda _metadata, _error: _discard(futures[0].get())
    )
    futures.append(appended.future)
    return Scenario(threads={"sender": bench.send})


@pytest.mark.repeats("k-10790", "pr-get-in-callback")
@pytest.mark.parametrize("build", [partial(_accumulator, _flush), _wait_for_own_result])
def test_rule_7_3_a_callback_that_waits_for_its_own_record_never_ends(
    build: Callable[[], Scenario],
) -> None:
    found = explore(program("waits for itself", build))
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.LOST_WAKEUP


def _broker(call: Callable[[Broker], object], answered: list[object]) -> Scenario:
    broker = Broker(ReplicaManager)

    def answer(responses: object) -> None:
        answered.append(responses)
        call(broker)

    answered.clear()
    broker.manager.append_records(
        timeout_ms=Millis(10), required_acks=-1, entries={_PARTITION: [b"1"]}, callback=answer
    )
    follower: Action = partial(broker.replicate, 1)
    threads: dict[str, Action] = {"follower": follower, "expiry": broker.expire_produces}
    return Scenario(threads=threads, check=partial(_check_answered_once, answered))


def _check_answered_once(answered: list[object]) -> None:
    assert len(answered) == 1


def _fetch(broker: Broker) -> None:
    params = FetchParams(replica_id=None, max_wait_ms=_NOW, min_bytes=0, max_bytes=9)
    requests = {_PARTITION: FetchPartition(fetch_offset=0, max_bytes=9)}
    broker.manager.fetch_messages(params, requests, _discard)


_LONGEST = "lead again"
_IN_BROKER: Mapping[str, Callable[[Broker], object]] = {
    "append": lambda broker: broker.produce(b"2", acks=1),
    "fetch": _fetch,
    "stop the replica": lambda broker: broker.manager.stop_replica(_PARTITION),
    "shrink the set in sync": lambda broker: broker.manager.maybe_shrink_in_sync(),
    _LONGEST: lambda broker: broker.lead(1, 2),
}


@pytest.mark.parametrize(
    "call",
    [pytest.param(call, marks=[pytest.mark.slow] * (call == _LONGEST)) for call in _IN_BROKER],
)
def test_rule_7_4_a_callback_of_a_request_may_call_the_broker(call: str) -> None:
    answered: list[object] = []
    found = explore(program(call, partial(_broker, _IN_BROKER[call], answered)))
    assert found.verdict() is Verdict.PASS, found.details()
