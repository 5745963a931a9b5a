"""The reference's replica manager against ProduceFetch.tla, step by step.

The steps of the module are atomic, because Partition and the purgatory are shown to be atomic. So a
thread runs from one step to the next without a switch, and all interleavings of the steps are
explored. The comparison covers logs, high watermarks, epochs, the leader, the in-sync set, the
known ends of followers, their copies, the waiting requests, and all answers. It leaves out the
registers of threads: a wrong register shows later as a wrong step. Reading the ends, raising the
high watermark and answering at once have no names: the module has these steps even where the code
skips them. Their effects are compared. A writer requests the partition's lock only when it is free.
Elections, expiry, and followers that stop are not compared.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from wheelproof import sync
from wheelproof.replication import (
    ALL_ACKS,
    DelayedFetch,
    DelayedProduce,
    ErrorCode,
    FetchParams,
    FetchPartition,
    FetchPartitionData,
    Partition,
    PartitionProduceResponse,
    TopicPartition,
)
from wheelproof.replication.requests import FetchCallback
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Scenario, Settings, forget
from wheelproof_lab.graph.comparing.projected import pairs_of
from wheelproof_lab.graph.replication.stepped import (
    BROKER,
    WATCHED,
    AtomicPurgatory,
    SteppedManager,
    Steps,
)
from wheelproof_lab.graph.replication.view import (
    NO_ANSWER,
    ProduceFetchView,
    record_of,
    sequence_of,
)
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_spec.tlc.states.values import Value, make_function

_NOW, _SOME_TIME = Millis(0), Millis(1)
_PLENTY = 100
_Purgatory = AtomicPurgatory[DelayedProduce] | AtomicPurgatory[DelayedFetch]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brokers:
    """The threads, each on all partitions; with watchdogs, the followers are slow."""

    partitions: tuple[str, ...] = ("q1",)
    producers: tuple[str, ...] = ("p1",)
    followers: tuple[str, ...] = ("f1",)
    consumers: tuple[str, ...] = ()
    watchdogs: tuple[str, ...] = ()

    @property
    def everything(self) -> int:
        """The number of bytes that are produced."""
        return len(self.producers) * len(self.partitions)

    def constants(self) -> dict[str, Value]:
        """Return the constants of ProduceFetch."""
        requests = (*self.producers, *self.followers, *self.consumers)
        return {
            "Partitions": frozenset(self.partitions),
            "Producers": frozenset(self.producers),
            "Followers": frozenset(self.followers),
            "Slow": frozenset(self.followers if self.watchdogs else ()),
            "Consumers": frozenset(self.consumers),
            "Asks": make_function((name, self.partitions) for name in requests),
            "MinBytes": make_function((name, self.everything) for name in self.consumers),
            "Watchdogs": frozenset(self.watchdogs),
            "MaxEpoch": 0,
            **dict.fromkeys(("Mortal", "Controllers", "Expiring"), frozenset()),
        }


class _Bench:
    """The broker of one run, and the actions of the threads."""

    def __init__(self, brokers: Brokers, manager_class: type[SteppedManager]) -> None:
        self._brokers = brokers
        self._keys = [TopicPartition(q, 0) for q in brokers.partitions]
        self.steps = Steps(brokers.partitions)
        self.produces = AtomicPurgatory[DelayedProduce]("produce", self.steps)
        self.fetches = AtomicPurgatory[DelayedFetch]("fetch", self.steps)
        self._manager = manager_class(self.produces, self.fetches, self.steps)
        self.numbers = {name: number for number, name in enumerate(brokers.followers, BROKER + 1)}
        everybody = (BROKER, *self.numbers.values())
        for key in self._keys:
            self._manager.become_leader(key, 0, replica_ids=everybody, in_sync_ids=everybody)
        requests = (*brokers.producers, *brokers.followers, *brokers.consumers)
        nothing = make_function((q, ()) for q in brokers.partitions)
        self.answers = {name: _cell(NO_ANSWER, f"{name}'s answer") for name in requests}
        self.copies = {name: _cell(nothing, f"{name}'s copy") for name in requests}
        for number in self.numbers.values():
            # Kafka's leader knows nothing of a follower before its first fetch.
            self._ask(number, _NOW, 0, nothing, lambda _: None)

    def partitions(self) -> Mapping[str, Partition]:
        """Return the partitions by their names."""
        found = map(self._manager.partition, self._keys)
        return {one.topic_partition.topic: one for one in found if one is not None}

    def threads(self) -> dict[str, Action]:
        """Return the action of each thread."""
        return {
            name: partial(action, name)
            for names, action in (
                (self._brokers.producers, self._produce),
                (self._brokers.followers, self._replicate),
                (self._brokers.consumers, self._consume),
                (self._brokers.watchdogs, self._watch),
            )
            for name in names
        }

    def _produce(self, name: str) -> None:
        def answer(responses: Mapping[TopicPartition, PartitionProduceResponse]) -> None:
            answers = (
                (key.topic, "ok" if response.error is ErrorCode.NONE else "refused")
                for key, response in responses.items()
            )
            self._answer(name, self.produces, make_function(answers))

        self.steps.begin("Begin")
        self._manager.append_records(
            timeout_ms=_SOME_TIME,
            required_acks=ALL_ACKS,
            entries={key: [name[1:].encode()] for key in self._keys},
            callback=answer,
        )
        forget()

    def _consume(self, name: str) -> None:
        self.steps.begin("Read")
        self._fetch(name, None, self._brokers.everything)
        forget()

    def _replicate(self, name: str) -> None:
        while True:
            self.steps.begin("Read")
            self._fetch(name, self.numbers[name], 1)
            self.steps.begin("Receive")
            _, received = sequence_of(self.answers[name].get())
            self.copies[name].set(received)
            self.answers[name].set(NO_ANSWER)

    def _watch(self, name: str) -> None:
        del name
        while True:
            self.steps.begin("LeaveOut")
            self._manager.maybe_shrink_in_sync()

    def _fetch(self, name: str, replica_id: int | None, min_bytes: int) -> None:
        copy = self.copies[name].get()

        def take(data: Mapping[TopicPartition, FetchPartitionData]) -> None:
            refused = any(answer.is_refusal for answer in data.values())
            records = {key.topic: map(record_of, answer.records) for key, answer in data.items()}
            received = ((q, (*sequence_of(log), *records[str(q)])) for q, log in pairs_of(copy))
            answer = "refused" if refused else "ok", make_function(received)
            self._answer(name, self.fetches, answer)

        self._ask(replica_id, _SOME_TIME, min_bytes, copy, take)

    def _ask(
        self,
        replica_id: int | None,
        max_wait_ms: Millis,
        min_bytes: int,
        copy: Value,
        take: FetchCallback,
    ) -> None:
        params = FetchParams(
            replica_id=replica_id, max_wait_ms=max_wait_ms, min_bytes=min_bytes, max_bytes=_PLENTY
        )
        ends = {q: len(sequence_of(log)) for q, log in pairs_of(copy)}
        requests = {
            key: FetchPartition(fetch_offset=ends[key.topic], max_bytes=_PLENTY)
            for key in self._keys
        }
        self._manager.fetch_messages(params, requests, take)

    def _answer(self, name: str, purgatory: _Purgatory, answer: Value) -> None:
        """Record an answer: in a step of its own, unless it is given while a request is tried."""
        if not purgatory.trying:
            self.steps.stop("Answer")
        self.answers[name].set(answer)


def _cell(value: Value, name: str) -> sync.Volatile[Value]:
    return sync.volatile(value, name)


def produce_fetch(
    brokers: Brokers, manager_class: type[SteppedManager] = SteppedManager
) -> GraphProgram:
    """Return the program of a configuration, with a manager of `manager_class`."""

    def build() -> ViewedRun:
        bench = _Bench(brokers, manager_class)
        view = ProduceFetchView(
            partitions=bench.partitions(),
            followers=bench.numbers,
            purgatories={"produces": bench.produces.waiting, "fetches": bench.fetches.waiting},
            answers=bench.answers,
            copies={name: bench.copies[name] for name in brokers.followers},
            steps=bench.steps.names,
        )
        return ViewedRun(scenario=Scenario(threads=bench.threads()), view=view)

    return GraphProgram(
        name="ProduceFetch",
        build=build,
        watched_fields=WATCHED,
        settings=Settings(may_wait=frozenset((*brokers.followers, *brokers.watchdogs))),
    )
