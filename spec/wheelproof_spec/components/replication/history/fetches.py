"""Judges the answers to fetch requests (standard 5.2)."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    ErrorCode,
    FetchMessages,
    FetchResponse,
    LogContent,
    PartitionName,
    Record,
    ReplicationClause,
)
from wheelproof_spec.components.replication.history.broker import BrokerHistory, wrong_answer
from wheelproof_spec.components.replication.history.readings import Part, refusal_of
from wheelproof_spec.components.replication.history.reign import FollowerFetch
from wheelproof_spec.components.replication.history.requests import Fetch, Reading, Seen


class Fetches:
    """The fetch requests of a history."""

    def __init__(self, broker: BrokerHistory) -> None:
        """Judge the fetch requests of a broker."""
        self._broker = broker
        self._unread: dict[PartitionName, list[tuple[int, int, Part]]] = {}
        """The answers to judge once the log of a partition is known up to an offset."""
        self._numbers = count()
        self.unjudged = 0
        """The number of answers that reach into unknown parts of a log."""

    def begins(self, call: FetchMessages, index: int) -> Fetch:
        """Record that a request began; a follower's request tells the end of its log."""
        broker = self._broker
        request = Fetch(
            name=call.request,
            partitions=tuple(asked.partition for asked in call.partitions),
            timeout_ms=call.max_wait_ms,
            expires_low=broker.clock.least + call.max_wait_ms,
            invoked=index,
            at_once=not call.max_wait_ms or not call.partitions,
            call=call,
        )
        broker.begins(request)
        for asked in call.partitions:
            partition = broker.partition(asked.partition)
            request.seen[asked.partition] = partition.seen
            if call.replica_id is not None:
                partition.fetch_begins(
                    FollowerFetch(
                        replica=call.replica_id,
                        offset=asked.fetch_offset,
                        epoch=asked.current_leader_epoch,
                        began_ms=broker.clock.least,
                    ),
                    index,
                )
        return request

    def ends(self, request: Fetch, index: int, *, refused: bool = False) -> None:
        """Record that the call is over; it may have been `refused` as a whole."""
        if request.call.replica_id is None:
            return
        for name in request.partitions:
            noted = not refused and name not in request.refused
            partition = self._broker.partition(name)
            partition.fetch_ends(request.invoked, index, self._broker.clock.high, noted=noted)

    def nobody_answers(self) -> None:
        """Record that no call is under way: who waits in time is answered from what is seen now."""
        for request in self._broker.waiting:
            if not isinstance(request, Fetch) or request.returned is None:
                continue
            if not self._broker.may_have_expired(request):
                for name in request.partitions:
                    request.seen[name] = self._broker.partitions[name].seen

    def has_to_be_refused(self, request: Fetch) -> bool:
        """Tell whether a fetch had to be refused at every moment since it began."""
        for asked in request.call.partitions:
            partition = self._broker.partition(asked.partition)
            if partition.is_unchanged_since(request.invoked) and (
                refusal_of(request, asked, partition) is not ErrorCode.NONE
                or not 0 <= asked.fetch_offset <= partition.places.end_high
                or (request.call.replica_id is None and partition.is_too_high(asked.fetch_offset))
            ):
                return True
        return False

    def answer(self, request: Fetch, response: FetchResponse) -> Iterator[Violation | None]:
        """Yield what is wrong with the answer, if anything."""
        answers = response.partitions
        request.refused = frozenset(part.partition for part in answers if part.is_refusal)
        reading = Reading(
            fetch=request,
            response=response,
            has_reason=request.at_once
            or bool(request.refused)
            or sum(part.size for part in answers) >= request.call.min_bytes
            or self._broker.may_have_expired(request),
        )
        for asked, answer in zip(request.call.partitions, answers, strict=True):
            name, offset = asked.partition, asked.fetch_offset
            yield self._judge_places(request.name, name, offset, answer.records, request.invoked)
        read = 0
        for asked, answer in zip(request.call.partitions, answers, strict=True):
            high = self._broker.partition(asked.partition).high
            yield from self._judge_part(Part(reading, asked, answer, read, high))
            read += answer.size
        for name in request.partitions:
            yield self.catch_up(name)

    def judge_log(
        self, name: PartitionName, content: LogContent, seen: Seen, invoked: int
    ) -> Violation | None:
        """Judge a read of a whole log, which began at `invoked` with the lower bounds `seen`."""
        partition = self._broker.partition(name)
        label = f"a read of the log of {name!r}"
        violation = self._judge_places(label, name, 0, content.records, invoked)
        violation = violation or self.catch_up(name)
        end = len(content.records)
        if violation is not None or not partition.is_unchanged_since(invoked):
            return violation
        partition.places.reaches(end)
        if seen.end <= end and (end > partition.log.end or partition.places.is_boundary(end)):
            return None
        return wrong_answer(
            label,
            f"at least {seen.end} records, whole appends",
            f"{end} records",
            f"{label} shows {end} records, but {seen.end} were there before it began",
        )

    def catch_up(self, name: PartitionName) -> Violation | None:
        """Judge the answers for which the log is known far enough by now."""
        partition, unread = self._broker.partition(name), self._unread.get(name, [])
        if partition.lost_track:
            self.forget(name)
        while unread and unread[0][0] <= partition.log.end:
            part = heappop(unread)[2]
            is_open = part.is_open(partition)
            violation = None if is_open else part.records_are_wrong(partition)
            self.unjudged += is_open
            part.reading.has_reason = part.reading.has_reason or is_open
            part.reading.open -= 1
            if violation is None and not part.reading.open:
                violation = self._without_reason(part.reading)
            if violation is not None:
                return violation
        return None

    def forget(self, name: PartitionName) -> None:
        """Stop judging the answers that reach beyond the known log."""
        unread = self._unread.pop(name, [])
        self.unjudged += len(unread)
        for _, _, part in unread:
            part.reading.has_reason = True

    def left(self) -> int:
        """Return how many answers could not be compared with a log."""
        return self.unjudged + sum(map(len, self._unread.values()))

    def _judge_places(
        self,
        reader: str,
        name: PartitionName,
        first: int,
        records: Sequence[Record],
        since: int,
    ) -> Violation | None:
        """Learn the places of records that were read from the offset `first` on, `since` then."""
        for offset, record in enumerate(records, start=first):
            violation = self._judge_place(reader, name, offset, record, since)
            if violation is not None:
                return violation
        return None

    def _judge_place(
        self, reader: str, name: PartitionName, offset: int, record: Record, since: int
    ) -> Violation | None:
        batch, number = self._broker.records.get(record.value, (None, 0))
        partition = self._broker.partition(name)
        if (
            batch is None
            or batch.refused
            or batch.partition != name
            or record.offset != offset
            or record.size != batch.records[number].size
            or batch.base not in (None, offset - number)
            or batch.epoch not in (None, record.leader_epoch)
        ):
            known = "nobody appended it" if batch is None else f"{batch} are elsewhere"
            why = f"{reader} shows {record} at offset {offset} of {name!r}, but {known}"
            return wrong_answer(reader, f"what is at offset {offset} of {name!r}", str(record), why)
        if not batch.placed:
            batch.base, batch.epoch = offset - number, record.leader_epoch
            return partition.place(batch)
        if partition.places.stands(batch, offset) or not partition.is_unchanged_since(since):
            return None
        expected = f"what is at offset {offset} of {name!r}"
        why = f"{reader} shows {record} at offset {offset} of {name!r}, where it was cut off before"
        return wrong_answer(reader, expected, str(record), why)

    def _judge_part(self, part: Part) -> Iterator[Violation | None]:
        request = part.reading.fetch
        partition = self._broker.partition(part.asked.partition)
        if not partition.is_unchanged_since(request.invoked):
            part.reading.has_reason = True
            return
        yield part.refusal_is_wrong(partition)
        yield part.high_watermark_is_wrong(partition)
        partition.raise_low(part.answer.high_watermark)
        if part.answer.is_refusal:
            return
        partition.places.reaches(part.asked.fetch_offset)
        part.reading.open += 1
        unread = self._unread.setdefault(part.asked.partition, [])
        heappush(unread, (part.needs(), next(self._numbers), part))

    def _without_reason(self, reading: Reading) -> Violation | None:
        """Judge whether there was a reason to answer; the logs are known as far as needed."""
        request = reading.fetch
        self._broker.tally.tests(ReplicationClause.NOT_ANSWERED_BEFORE)
        if reading.has_reason:
            return None
        available = 0
        read = 0
        for asked, answer in zip(request.call.partitions, reading.response.partitions, strict=True):
            partition = self._broker.partition(asked.partition)
            part = Part(reading, asked, answer, read, partition.high)
            if not part.could_grow(partition):
                return None
            available += part.available(partition)
            read += answer.size
        if available >= request.call.min_bytes:
            return None
        return ReplicationClause.NOT_ANSWERED_BEFORE.broken(
            f"{request.name}: no answer yet",
            f"{request.name}: answered at {self._broker.clock.high} ms at the latest",
            f"{request.name} was answered with {available} bytes at most, but waits for "
            f"{request.call.min_bytes} until {request.expires_low} ms",
        )
