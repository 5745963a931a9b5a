#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your broker into MyBroker.

    wheelproof load --component replication --driver "python3 loaded_broker.py" --output run.jsonl
    wheelproof check run.jsonl

MyBroker leads partitions whose followers stay in sync, with one lock, until you replace it.
"""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from loaded import MyTimer, Recorder, serve

BROKER, REPLICAS = 1, (1, 2, 3)
PLENTY_BYTES = 1_000


@dataclass(kw_only=True)
class Waiting:
    """A request that has not been answered."""

    name: str
    can_end: Callable[[], bool]
    end: Callable[[], None]


class MyBroker:
    """Your broker. `answer` is called with the partitions of a response."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.timer = MyTimer(config)
        self._lock = threading.RLock()
        self._segment_bytes = config["segment_bytes"]
        self._logs: dict[str, list[dict[str, Any]]] = {}
        self._segments: dict[str, list[int]] = {}  # Where each segment of a log begins.
        self._high_watermarks: dict[str, int] = {}
        self._followers: dict[str, dict[int, int]] = {}
        self._waiting: dict[str, Waiting] = {}

    def lead(self, partition: str, followers: list[int]) -> None:
        """Lead a partition, with these followers in sync."""
        with self._lock:
            self._logs[partition] = []
            self._segments[partition] = [0]
            self._high_watermarks[partition] = 0
            self._followers[partition] = dict.fromkeys(followers, 0)

    def append(
        self,
        name: str,
        acks: int,
        timeout_ms: int,
        entries: dict[str, list[dict[str, Any]]],
        answer: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        """Append; with all acks the answer waits for every replica."""
        with self._lock:
            base: dict[str, int] = {}
            for partition, records in entries.items():
                log = self._logs[partition]
                base[partition] = len(log)
                used = sum(one["size"] for one in log[self._segments[partition][-1] :])
                if used + sum(one["size"] for one in records) > self._segment_bytes:
                    self._segments[partition].append(len(log))
                for record in records:
                    log.append({"offset": len(log), "leader_epoch": 0, **record})
            ends = {partition: len(self._logs[partition]) for partition in entries}

            def is_stored(partition: str) -> bool:
                return acks == 1 or self.high_watermark(partition) >= ends[partition]

            def end() -> None:
                answer(
                    [
                        {
                            "partition": partition,
                            "error": "NONE" if is_stored(partition) else "REQUEST_TIMED_OUT",
                            "base_offset": offset,
                        }
                        for partition, offset in base.items()
                    ]
                )

            self._wait(name, timeout_ms, lambda: all(map(is_stored, base)), end)

    def fetch(
        self,
        name: str,
        follower: int | None,
        max_wait_ms: int,
        min_bytes: int,
        places: dict[str, int],
        answer: Callable[[list[dict[str, Any]]], None],
    ) -> None:
        """Fetch as a follower, or as a consumer, who reads up to the high watermark."""
        with self._lock:
            if follower is not None:
                for partition, offset in places.items():
                    # It has what stands before the place from which it reads on.
                    self._followers[partition][follower] = offset

            def there(partition: str) -> list[dict[str, Any]]:
                last = self.high_watermark(partition) if follower is None else None
                return self._logs[partition][places[partition] : last]

            def can_end() -> bool:
                found = sum(one["size"] for partition in places for one in there(partition))
                return found >= min_bytes or max_wait_ms == 0

            def end() -> None:
                left, parts = PLENTY_BYTES, list[dict[str, Any]]()
                for partition in places:
                    records: list[dict[str, Any]] = []
                    for record in there(partition):
                        left -= record["size"]
                        # A read ends where its segment does.
                        if left < 0 or (records and record["offset"] in self._segments[partition]):
                            break
                        records.append(record)
                    high_watermark = self.high_watermark(partition)
                    part = {"partition": partition, "error": "NONE", "records": records}
                    parts.append({**part, "high_watermark": high_watermark})
                answer(parts)

            self._wait(name, max_wait_ms, can_end, end)

    def high_watermark(self, partition: str) -> int:
        """Return up to where every replica has the log."""
        with self._lock:
            stored = min(len(self._logs[partition]), *self._followers[partition].values())
            # It never falls, though two fetches of a follower may overtake each other.
            self._high_watermarks[partition] = max(stored, self._high_watermarks[partition])
            return self._high_watermarks[partition]

    def read_log(self, partition: str) -> list[dict[str, Any]]:
        """Return all records."""
        with self._lock:
            return list(self._logs[partition])

    def _wait(
        self, name: str, timeout_ms: int, can_end: Callable[[], bool], end: Callable[[], None]
    ) -> None:
        """Answer what can be answered now, this request or others; what is left waits."""
        self._waiting[name] = Waiting(name=name, can_end=can_end, end=end)
        for request in list(self._waiting.values()):
            if request.can_end():
                self._end(request.name)
        if name in self._waiting:
            self.timer.add(name, timeout_ms, lambda: self._expire(name))

    def _expire(self, name: str) -> None:
        with self._lock:
            self._end(name)

    def _end(self, name: str) -> None:
        request = self._waiting.pop(name, None)
        if request is not None:
            self.timer.cancel(name)
            request.end()


class LoadedBroker:
    """MyBroker, as the load calls it."""

    HELLO: ClassVar[dict[str, Any]] = {
        "impl": "my-broker",
        "version": "1",
        "components": ["replication"],
        "capabilities": ["lead", "produce", "consume", "replicate"],
        "profiles": {"replication": "kafka"},
    }
    CLAIMS: ClassVar[dict[str, Any]] = {}

    def __init__(
        self, config: dict[str, Any], recorder: Recorder, _serving: list[dict[str, Any]]
    ) -> None:
        self._broker = MyBroker(config)
        self._recorder = recorder
        self._numbers = itertools.count()
        self._partitions: list[str] = []
        self._ends: dict[tuple[int, str], int] = {}

    def call(self, caller: str, step: dict[str, Any]) -> None:
        """Make the call that a line means between its two lines."""
        args, name = step["args"], f"{step['op'][0]}{next(self._numbers)}"
        if step["op"] == "lead":
            self._lead(caller, args["partition"], args["in_sync"])
        elif step["op"] == "produce":
            self._produce(caller, name, args)
        elif step["op"] == "consume":
            places = {one: self._broker.high_watermark(one) for one in args["partitions"]}
            self._fetch(caller, name, None, args["max_wait_ms"], args["min_bytes"], places)
        else:
            follower, partition = args["follower"], args["partition"]
            places = {partition: self._ends.get((follower, partition), 0)}
            self._fetch(caller, name, follower, args["max_wait_ms"], args["min_bytes"], places)

    def _lead(self, caller: str, partition: str, in_sync: list[int]) -> None:
        self._partitions.append(partition)
        asked = {
            "partition": partition,
            "leader_epoch": 0,
            "replica_ids": REPLICAS,
            "in_sync_ids": (BROKER, *in_sync),
        }
        self._do(caller, "become_leader", asked, lambda: self._broker.lead(partition, in_sync))

    def _produce(self, caller: str, name: str, args: dict[str, Any]) -> None:
        entries = {
            partition: [
                {"size": size, "value": f"{name}{partition}{place}"}
                for place, size in enumerate(args["sizes"])
            ]
            for partition in args["partitions"]
        }
        acks, timeout_ms = args["required_acks"], args["timeout_ms"]
        asked = {
            "request": name,
            "required_acks": acks,
            "timeout_ms": timeout_ms,
            "entries": [{"partition": one, "records": these} for one, these in entries.items()],
        }

        def answer(parts: list[dict[str, Any]]) -> None:
            told = {"request": name, "partitions": parts}
            self._recorder.op("answers", "invoke", "produce_response", told)

        def append() -> None:
            self._broker.append(name, acks, timeout_ms, entries, answer)

        self._do(caller, "append_records", asked, append)

    def _fetch(
        self,
        caller: str,
        name: str,
        follower: int | None,
        max_wait_ms: int,
        min_bytes: int,
        places: dict[str, int],
    ) -> None:
        partitions = [
            {"partition": one, "fetch_offset": offset, "max_bytes": PLENTY_BYTES}
            for one, offset in places.items()
        ]
        asked = {
            "request": name,
            "max_wait_ms": max_wait_ms,
            "min_bytes": min_bytes,
            "max_bytes": PLENTY_BYTES,
            "partitions": partitions,
            **({} if follower is None else {"replica_id": follower}),
        }

        def answer(parts: list[dict[str, Any]]) -> None:
            told = {"request": name, "partitions": parts}
            self._recorder.op("answers", "invoke", "fetch_response", told)
            if follower is None:
                return
            for part in parts:
                end = places[part["partition"]] + len(part["records"])
                self._ends[follower, part["partition"]] = end

        def fetch() -> None:
            self._broker.fetch(name, follower, max_wait_ms, min_bytes, places, answer)

        self._do(caller, "fetch_messages", asked, fetch)

    def _do(self, caller: str, name: str, asked: dict[str, Any], call: Callable[[], None]) -> None:
        def perform() -> dict[str, Any]:
            call()
            return {}

        self._recorder.call(caller, name, asked, perform)

    def rests(self) -> bool:
        """Tell whether every request has been answered."""
        return self._broker.timer.size() == 0

    def end(self) -> None:
        """Look at every log, and end the timer's thread."""
        for partition in self._partitions:
            found = {"records": self._broker.read_log(partition)}
            self._recorder.op("end", "invoke", "read_log", {"partition": partition})
            self._recorder.op("end", "ok", "read_log", found)
        self._broker.timer.end()


if __name__ == "__main__":
    serve(LoadedBroker)
