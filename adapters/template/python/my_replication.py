from adapter import Fields, serve


class Record:
    """A record of a log; its batch begins at the offset `base`."""

    def __init__(self, epoch: int, size: int, base: int) -> None:
        self.epoch, self.size, self.base = epoch, size, base


class Follower:
    """What a leader knows of a follower, which asked last for `end`."""

    def __init__(self, caught_up_ms: int | None, end: int) -> None:
        self.caught_up_ms, self.end = caught_up_ms, end
        self.fetched_ms: int | None = None
        self.leader_end = 0


class Replica:
    """A partition of this broker: its log, and its followers while it leads."""

    def __init__(self) -> None:
        self.leads, self.epoch, self.epoch_start, self.high_watermark = False, -1, 0, 0
        self.records: list[Record] = []
        self.segments = [0]  # The first offset of each.
        self.epochs: list[tuple[int, int]] = []  # Each with its first offset.
        self.in_sync: set[int] = set()
        self.followers: dict[int, Follower] = {}

    def end(self) -> int:
        """Return the offset of the next record."""
        return len(self.records)

    def end_for(self, replica_id: int | None) -> int:
        """Return up to where a follower reads, or for None a consumer."""
        return self.high_watermark if replica_id is None else self.end()

    def base(self, offset: int) -> int:
        """Return where the batch of an offset begins, or the end if it lies there."""
        return self.records[offset].base if offset < self.end() else self.end()

    def after(self, offset: int) -> int:
        """Return where the batch behind the batch of an offset begins."""
        base = self.base(offset)
        return next((one.base for one in self.records[offset:] if one.base > base), self.end())

    def position(self, offset: int) -> int:
        """Return how many bytes lie in front of the batch of an offset."""
        return sum(one.size for one in self.records[: self.base(offset)])

    def append(self, sizes: list[int], segment_bytes: int) -> int:
        """Append a batch, to a new segment if it does not fit; return its first offset."""
        first, used = self.end(), self.position(self.end()) - self.position(self.segments[-1])
        if used > 0 and used + sum(sizes) > segment_bytes:
            self.segments.append(first)
        self.records += [Record(self.epoch, size, first) for size in sizes]
        return first

    def truncate(self, offset: int) -> None:
        """Drop the records from an offset on."""
        del self.records[offset:]
        self.segments = [first for first in self.segments if first <= offset]
        self.epochs = [(epoch, first) for epoch, first in self.epochs if first < offset]
        self.high_watermark = min(self.high_watermark, offset)

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to this one, and where it ends."""
        known = [one for one, _ in self.epochs if one <= epoch]
        later = [first for one, first in self.epochs if one > epoch]
        return known[-1] if known else epoch, later[0] if later else self.end()

    def diverging(self, offset: int, last_epoch: int | None) -> Fields | None:
        """Return where a log that ends at `offset` in `last_epoch` parts from this one."""
        if last_epoch is None:
            return None
        epoch, end = self.end_of_epoch(last_epoch)
        parts = epoch < last_epoch or end < offset
        return {"leader_epoch": epoch, "end_offset": end} if parts else None

    def read(self, offset: int, end: int, room: int, *, is_first: bool) -> tuple[int, int]:
        """Return the end of what is read, from one segment, and how many bytes that takes."""
        end = min([end, *(first for first in self.segments if first > offset)])
        if end <= offset:
            return offset, 0
        begin = self.position(offset)
        needed = self.position(self.after(offset)) - begin
        if needed > room:
            room = needed if is_first else 0
        read = offset
        while read < end and self.after(read) <= end:
            if self.position(self.after(read)) - begin > room:
                break
            read = self.after(read)
        return read, min(self.position(end) - begin, room)


class Produce:
    """A produce request that waits for replicas."""

    def __init__(self, expires_ms: int, answers: dict[str, Fields]) -> None:
        self.expires_ms, self.answers = expires_ms, answers
        self.pending: dict[str, tuple[int, int]] = {}  # The epoch and the end, by partition.


class Mine:
    """Your broker, seen from outside; each test case makes a new one."""

    def __init__(
        self,
        broker_id: int,
        segment_bytes: int,
        min_in_sync_replicas: int,
        replica_lag_time_max_ms: int,
        start_ms: int,
    ) -> None:
        """Make a broker without partitions, whose clock shows `start_ms`."""
        self.broker_id, self.segment_bytes, self.now_ms = broker_id, segment_bytes, start_ms
        self.min_in_sync, self.lag_ms = min_in_sync_replicas, replica_lag_time_max_ms
        self.replicas: dict[str, Replica] = {}
        self.produces: dict[str, Produce] = {}
        self.fetches: dict[str, Fields] = {}  # As they were asked for, and when each expires.
        self.produced, self.fetched = list[Fields](), list[Fields]()

    def become_leader(
        self, partition: str, leader_epoch: int, replica_ids: list[int], in_sync_ids: list[int]
    ) -> None:
        """Lead a partition in a new epoch."""
        if not {self.broker_id} <= {*in_sync_ids} <= {*replica_ids}:
            raise ValueError("who is in sync is a replica, and the leader is in sync")
        replica = self.in_new_epoch(partition, leader_epoch)
        before, end = replica.followers, replica.end()
        replica.leads, replica.epoch_start, replica.in_sync = True, end, {*in_sync_ids}
        replica.epochs = [one for one in replica.epochs if one[1] < end] + [(leader_epoch, end)]
        replica.followers = {}
        for one in {*replica_ids} - {self.broker_id}:
            end = before[one].end if one in before else -1
            replica.followers[one] = Follower(self.now_ms if one in in_sync_ids else None, end)
        self.raise_high_watermark(replica)
        self.settle()

    def become_follower(self, partition: str, leader_epoch: int, leader_id: int) -> None:
        """Follow another broker in a new epoch."""
        replica = self.in_new_epoch(partition, leader_epoch)
        replica.leads, replica.followers, replica.in_sync = False, {}, set()
        self.settle()

    def stop_replica(self, partition: str) -> None:
        """Forget a partition and its log."""
        self.replicas.pop(partition, None)
        self.settle()

    def truncate_as_follower(self, partition: str, offset: int) -> None:
        """Drop the records of a followed partition from an offset on."""
        replica = self.replicas[partition]
        if replica.leads or not 0 <= offset <= replica.end():
            raise ValueError(f"a log that is followed, up to {replica.end()}")
        replica.truncate(offset)
        self.settle()

    def maybe_shrink_in_sync(self) -> None:
        """Drop followers that have fallen behind from the in-sync sets."""
        for replica in self.replicas.values():
            behind = {
                one
                for one, follower in replica.followers.items()
                if one in replica.in_sync and not self.is_caught_up(replica, follower)
            }
            if behind:
                replica.in_sync -= behind
                self.raise_high_watermark(replica)
        self.settle()

    def append_records(
        self, request: str, required_acks: int, timeout_ms: int, entries: list[Fields]
    ) -> None:
        """Append, and answer as soon as `required_acks` says."""
        names = {entry["partition"] for entry in entries}
        if len(names) < len(entries) or not all(entry["records"] for entry in entries):
            raise ValueError("a partition is named once, and has records")
        produce = Produce(self.now_ms + timeout_ms, {})
        for entry in entries:
            name, sizes = entry["partition"], [record["size"] for record in entry["records"]]
            error, first = self.refusal_of_append(name, required_acks, sum(sizes)), -1
            if error == "NONE":
                replica = self.replicas[name]
                first = replica.append(sizes, self.segment_bytes)
                self.raise_high_watermark(replica)
                if required_acks == -1:
                    error = "REQUEST_TIMED_OUT"
                    produce.pending[name] = replica.epoch, replica.end()
            produce.answers[name] = {"partition": name, "error": error, "base_offset": first}
        self.produces[request] = produce
        self.settle()

    def fetch_messages(self, **request: object) -> None:
        """Read, and note where a follower is; answer as soon as there is enough."""
        fetch: Fields = {**request}
        fetch["expires_ms"] = self.now_ms + fetch["max_wait_ms"]
        names = [one["partition"] for one in fetch["partitions"]]
        if len({*names}) < len(names):
            raise ValueError("a partition is named once")
        answers, size = self.read(fetch)
        for one, answer in zip(fetch["partitions"], answers, strict=True):
            if is_refusal(answer):
                size = max(size, fetch["min_bytes"])  # It does not wait.
            else:
                self.note_follower(fetch.get("replica_id"), one)
        if fetch["max_wait_ms"] == 0 or not names or size >= fetch["min_bytes"]:
            self.fetched.append({"request": fetch["request"], "partitions": answers})
        else:
            self.fetches[fetch["request"]] = fetch
        self.settle()

    def purge_completed(self) -> Fields:
        """Tell how many watches and keys are left once what is done has been dropped."""
        produces = [name for one in self.produces.values() for name in one.answers]
        fetches = [one["partition"] for two in self.fetches.values() for one in two["partitions"]]
        num_keys = len({*produces}) + len({*fetches})
        return {"watched": len(produces) + len(fetches), "num_keys": num_keys}

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; answer the requests whose time is over."""
        self.now_ms = to_ms
        self.settle(clock_moved=True)

    def happened(self) -> Fields:
        """Return the requests that have been answered since the last answer."""
        told = {"produced": self.produced, "fetched": self.fetched}
        self.produced, self.fetched = [], []
        return {**told, "num_delayed": len(self.produces) + len(self.fetches)}

    def settle(self, *, clock_moved: bool = False) -> None:
        """Answer the requests that need not wait longer, with what there is."""
        for name, produce in list(self.produces.items()):
            is_over = clock_moved and produce.expires_ms <= self.now_ms
            if self.is_replicated(produce) or is_over:
                del self.produces[name]
                answers = list(produce.answers.values())
                self.produced.append({"request": name, "partitions": answers})
        for name, fetch in list(self.fetches.items()):
            is_over = clock_moved and fetch["expires_ms"] <= self.now_ms
            if self.has_enough(fetch) or is_over:
                del self.fetches[name]
                self.fetched.append({"request": name, "partitions": self.read(fetch)[0]})

    def is_replicated(self, produce: Produce) -> bool:
        """Note what has become of the partitions of a produce; tell whether all have an end."""
        for name, (epoch, end) in list(produce.pending.items()):
            error = self.outcome(self.replicas.get(name), epoch, end)
            if error is not None:
                del produce.pending[name]
                produce.answers[name]["error"] = error
        return not produce.pending

    def outcome(self, replica: Replica | None, epoch: int, end: int) -> str | None:
        """Return the outcome of an append of an epoch, up to `end`; None while it is open."""
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        epoch_there, epoch_end = replica.end_of_epoch(epoch)
        if not replica.leads or epoch_there != epoch or epoch_end < end:
            return "NOT_LEADER_OR_FOLLOWER"
        if replica.high_watermark < end:
            return None
        return "NONE" if self.has_enough_in_sync(replica) else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"

    def has_enough(self, fetch: Fields) -> bool:
        """Tell whether a fetch has enough bytes, or need not wait for another reason."""
        size, least, replica_id = 0, int(fetch["min_bytes"]), fetch.get("replica_id")
        for one in fetch["partitions"]:
            if is_refusal(self.look(replica_id, one)):
                return True
            replica, offset = self.replicas[one["partition"]], one["fetch_offset"]
            end, base = replica.end_for(replica_id), replica.base(offset)
            if offset != end and (base > end or any(base < one <= end for one in replica.segments)):
                return True  # It begins beyond the end, or on an older segment.
            size += min(max(replica.position(end) - replica.position(offset), 0), one["max_bytes"])
        return size >= least

    def read(self, fetch: Fields) -> tuple[list[Fields], int]:
        """Return the answers of a fetch, and how many bytes they take."""
        answers: list[Fields] = []
        size, replica_id = 0, fetch.get("replica_id")
        for one in fetch["partitions"]:
            answer = self.look(replica_id, one)
            if not is_refusal(answer):
                replica, offset = self.replicas[one["partition"]], one["fetch_offset"]
                room = min(one["max_bytes"], max(fetch["max_bytes"] - size, 0))
                end = replica.end_for(replica_id)
                last, read = replica.read(offset, end, room, is_first=size == 0)
                size += read
                answer["records"] = [
                    {"offset": at, "leader_epoch": record.epoch, "size": record.size}
                    for at, record in enumerate(replica.records[:last])
                    if at >= offset
                ]
            answers.append(answer)
        return answers, size

    def look(self, replica_id: int | None, fetched: Fields) -> Fields:
        """Return the answer for one partition, but for its records."""
        name, offset = fetched["partition"], fetched["fetch_offset"]
        replica, last = self.replicas.get(name), fetched.get("last_fetched_epoch")
        error = refusal_of_fetch(replica, replica_id, fetched)
        if replica is None or error != "NONE":
            return {"partition": name, "error": error}
        diverging = replica.diverging(offset, last)
        if diverging is None and offset > replica.end():
            return {"partition": name, "error": "OFFSET_OUT_OF_RANGE"}
        answer = {"partition": name, "error": error, "high_watermark": replica.high_watermark}
        return answer if diverging is None else {**answer, "diverging_epoch": diverging}

    def note_follower(self, replica_id: int | None, fetched: Fields) -> None:
        """Note how far a follower has come; it may be in sync again."""
        if replica_id is None:
            return
        replica = self.replicas[fetched["partition"]]
        follower, end = replica.followers[replica_id], replica.end()
        before, known = follower.end, len(replica.in_sync)
        follower.end = replica.base(fetched["fetch_offset"])
        if follower.end >= end:
            follower.caught_up_ms = self.now_ms
        elif follower.fetched_ms is not None and follower.end >= follower.leader_end:
            follower.caught_up_ms = max(follower.fetched_ms, follower.caught_up_ms or 0)
        follower.fetched_ms, follower.leader_end = self.now_ms, max(follower.leader_end, end)
        if follower.end >= max(replica.high_watermark, replica.epoch_start):
            replica.in_sync.add(replica_id)
        if follower.end != before or len(replica.in_sync) != known:
            self.raise_high_watermark(replica)

    def raise_high_watermark(self, replica: Replica) -> None:
        """Raise it to the least end of the replicas that are in sync, or are caught up."""
        if self.has_enough_in_sync(replica):
            ends = [
                follower.end
                for one, follower in replica.followers.items()
                if one in replica.in_sync or self.is_caught_up(replica, follower)
            ]
            replica.high_watermark = max(replica.high_watermark, min([replica.end(), *ends]))

    def in_new_epoch(self, partition: str, epoch: int) -> Replica:
        """Return the replica of a partition, in an epoch that has to be new."""
        replica = self.replicas.setdefault(partition, Replica())
        if epoch <= replica.epoch:
            raise ValueError(f"the epoch is {replica.epoch} already")
        replica.epoch = epoch
        return replica

    def is_caught_up(self, replica: Replica, follower: Follower) -> bool:
        """Tell whether a follower has everything, or had a short time ago."""
        since_ms = follower.caught_up_ms
        was = since_ms is not None and self.now_ms - since_ms <= self.lag_ms
        return was or follower.end == replica.end()

    def has_enough_in_sync(self, replica: Replica) -> bool:
        """Tell whether as many replicas are in sync as have to be."""
        return len(replica.in_sync) >= min(self.min_in_sync, 1 + len(replica.followers))

    def refusal_of_append(self, partition: str, acks: int, size: int) -> str:
        """Return why an append is refused; NONE if it is not."""
        replica = self.replicas.get(partition)
        if acks not in (-1, 0, 1):
            return "INVALID_REQUIRED_ACKS"
        if replica is None:
            return "UNKNOWN_TOPIC_OR_PARTITION"
        if not replica.leads:
            return "NOT_LEADER_OR_FOLLOWER"
        if acks == -1 and not self.has_enough_in_sync(replica):
            return "NOT_ENOUGH_REPLICAS"
        return "RECORD_LIST_TOO_LARGE" if size > self.segment_bytes else "NONE"


def is_refusal(answer: Fields) -> bool:
    """Tell whether the answer for a partition says that it cannot be read there."""
    return answer["error"] != "NONE" or "diverging_epoch" in answer


def refusal_of_fetch(replica: Replica | None, replica_id: int | None, fetched: Fields) -> str:
    """Return why a fetch is refused, whatever its offset; NONE if it is not."""
    epoch, last = fetched.get("current_leader_epoch"), fetched.get("last_fetched_epoch")
    if replica is None:
        return "UNKNOWN_TOPIC_OR_PARTITION"
    if epoch is not None and epoch != replica.epoch:
        return "FENCED_LEADER_EPOCH" if epoch < replica.epoch else "UNKNOWN_LEADER_EPOCH"
    if not replica.leads:
        return "NOT_LEADER_OR_FOLLOWER"
    if replica_id is not None and replica_id not in replica.followers:
        return "NOT_LEADER_OR_FOLLOWER" if epoch is None else "UNKNOWN_LEADER_EPOCH"
    knows = last is None or any(begun >= last for begun, _ in replica.epochs)
    return "NONE" if knows and fetched["fetch_offset"] >= 0 else "OFFSET_OUT_OF_RANGE"


if __name__ == "__main__":
    serve("my-broker 0.1", "replication", "wheelproof", [], Mine)
