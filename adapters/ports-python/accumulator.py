#!/usr/bin/env python3
"""kafka-python's RecordAccumulator behind the protocol wheelproof.driver/1.

The port calls it as its Sender does, without a network. It passes `now` in float seconds.
"""

import logging
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from importlib.metadata import version
from typing import Any, cast

from serving import serve

ERRORS = import_module("kafka.errors")
MODULE = import_module("kafka.producer.record_accumulator")
TOPIC_PARTITION = import_module("kafka.structs").TopicPartition
NEVER_MS = 2**62 - 1
CALLED = {"KafkaTimeoutError": "Expired", "IllegalStateError": "Aborted"}


class Cluster:
    """The cluster metadata that the accumulator asks for."""

    def __init__(self, node_of: Mapping[object, int]) -> None:
        self._node_of = node_of

    def leader_for_partition(self, partition: object) -> int | None:
        """Return the node that leads the partition."""
        return self._node_of.get(partition)

    def partitions_for_broker(self, node: int) -> list[object]:
        """Return the partitions that the node leads, in a fixed order."""
        return [partition for partition, leader in self._node_of.items() if leader == node]


class Accumulator:
    """A RecordAccumulator, and the batches in flight that its Sender would keep."""

    def __init__(self, config: dict[str, int]) -> None:
        self.now_ms = config["start_ms"]
        self._delivery_ms = config["delivery_timeout_ms"]
        self._topics = cast(dict[str, dict[str, str]], config).get("topics") or {}
        self.accumulator = MODULE.RecordAccumulator(
            batch_size=config["batch_size"],
            linger_ms=config["linger_ms"],
            retry_backoff_ms=config["retry_backoff_ms"],
            delivery_timeout_ms=self._delivery_ms,
            request_timeout_ms=0,
        )
        self._in_flight: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._drained = 0
        self.events: dict[str, list[object]] = {"called_back": [], "appended": []}
        self.refused: dict[str, str] = {}

    @property
    def now(self) -> float:
        """The time in seconds."""
        return self.now_ms / 1000

    def _at(self, partition: int) -> object:
        return TOPIC_PARTITION(self._topics.get(str(partition), "topic"), partition)

    def append(self, record: str, partition: int, size: int, **more: object) -> None:
        """Append a record; its callback records the outcome."""
        append = partial(
            self.accumulator.append, self._at(partition), 0, None, b"x" * size, [], now=self.now
        )
        try:
            future, is_full, is_new, _ = append()
        except ERRORS.IllegalStateError:
            self.refused[record] = "closed"
            return
        self._names[id(future)] = record
        told = {"record": record, "batch_is_full": is_full, "new_batch_created": is_new}
        self.events["appended"].append(told)

        def call_back(offset: int | None, error: str | None) -> None:
            told = {"record": record, "offset": offset, "error": error}
            self.events["called_back"].append(told)
            if more.get("callback") == "sends_again":
                self.append(record + "'", partition, size)
            if more.get("callback") == "raises":
                raise ValueError(record)

        def succeed(stored: Any) -> None:
            call_back(stored.offset, None)

        def fail(error: Exception) -> None:
            call_back(None, CALLED.get(type(error).__name__, "Failed"))

        future.add_callback(succeed)
        future.add_errback(fail)

    def ready(self, leaders: dict[str, int]) -> dict[str, object]:
        """Ask which nodes are ready; kafka-python only flags that some topic has no leader."""
        cluster = Cluster({self._at(int(one)): node for one, node in leaders.items()})
        nodes, check_s, _ = self.accumulator.ready(cluster, now=self.now)
        delay_ms = NEVER_MS if check_s > 9_999_999 else round(check_s * 1000)
        return {"ready_nodes": sorted(nodes), "next_ready_check_delay_ms": delay_ms}

    def drain(self, node: int, partitions: list[int], max_size: int) -> dict[str, object]:
        """Drain batches and mute their partitions."""
        cluster = Cluster({self._at(one): node for one in partitions})
        taken: list[object] = []
        for batch in self.accumulator.drain(cluster, [node], max_size, now=self.now)[node]:
            self._drained += 1
            name = f"b{self._drained}"
            self._in_flight[name] = batch
            self.accumulator.muted.add(batch.topic_partition)
            records = [self._names[id(one)] for one in batch._record_futures]
            where = batch.topic_partition.partition
            taken.append({"batch": name, "partition": where, "records": records})
        return {"batches": taken}

    def respond(self, batch: str, offset: int | None = None) -> None:
        """End a batch as Sender._complete_batch does."""
        ended = self._in_flight.pop(batch)
        if offset is None:
            self._fail(ended, ERRORS.UnknownError())
        elif ended.complete(offset, -1):
            self.accumulator.deallocate(ended)
        self.accumulator.muted.discard(ended.topic_partition)

    def _fail(self, batch: Any, error: Exception) -> None:
        def of_record(_: int) -> Exception:
            return error

        if batch.complete_exceptionally(error, of_record):
            self.accumulator.deallocate(batch)

    def reenqueue(self, batch: str) -> None:
        """Put a batch back for a retry; raise ValueError if it has ended (Sender retries none)."""
        if self._in_flight[batch].is_done:
            raise ValueError(f"{batch} has ended")
        again = self._in_flight.pop(batch)
        self.accumulator.reenqueue(again, now=self.now)
        self.accumulator.muted.discard(again.topic_partition)

    def expire(self) -> None:
        """Fail the late batches, queued ones first, as Sender._send_producer_data does."""
        late = self.accumulator.expired_batches(now=self.now)
        for batch in self._in_flight.values():
            if batch.has_reached_delivery_timeout(self._delivery_ms, now=self.now):
                late.append(batch)
        for batch in late:
            self._fail(batch, ERRORS.KafkaTimeoutError())

    def advance(self, to_ms: int) -> None:
        """Set the clock."""
        self.now_ms = to_ms

    def close(self) -> None:
        """Close the accumulator."""
        self.accumulator.close()

    def abort(self) -> None:
        """Abort all incomplete batches, as a forced close does."""
        self.accumulator.abort_incomplete_batches()


def perform(port: Accumulator, operation: str, arguments: dict[str, int]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    told: dict[str, object] = getattr(port, operation)(**arguments) or {}
    happened = {name: events[:] for name, events in port.events.items()}
    for events in port.events.values():
        events.clear()
    refused, port.refused = port.refused, {}
    gauges = {
        "has_undrained": port.accumulator.has_undrained(),
        "has_incomplete": port.accumulator.has_incomplete,
    }
    return {**told, **happened, "refused": refused, **gauges}


def main() -> None:
    """Answer requests until `bye`."""
    logging.disable()
    who = {"impl": "kafka-python RecordAccumulator", "version": version("kafka-python")}
    calls = ["ready", "max_size", "expire", "reenqueue", "close"]
    able = {
        "components": ["accumulator"],
        "capabilities": ["virtual_time", "many_batches", *calls],
    }
    serve({**who, **able, "profiles": {"accumulator": "kafka"}}, Accumulator, perform)


if __name__ == "__main__":
    main()
