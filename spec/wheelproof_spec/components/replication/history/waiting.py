"""Judges whether every request is answered that can be (standard 5.1 - 5.3).

The lower bounds of a partition show which requests can be answered. They must be answered once all
calls are over that may be answering them, unless they may have expired before. By then, and not
only when they could be answered: who expires a request may do so while a call is about to check it.
That call finds it done, and returns; the answer is still on its way, on a thread of no call.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import PartitionName, ReplicationClause
from wheelproof_spec.components.replication.history.broker import BrokerHistory
from wheelproof_spec.components.replication.history.partition import PartitionHistory, Step
from wheelproof_spec.components.replication.history.produces import Produces
from wheelproof_spec.components.replication.history.requests import Fetch, Produce, Request, Seen

ItemT = TypeVar("ItemT")


class Grace(Generic[ItemT]):
    """A queue that returns items once every call is over that may be acting upon them.

    There are two rounds. An event has been acted upon when all calls under way at that moment are
    over. But one of these may have left an answer to a call that had found the request first. That
    call is over when all calls are over that are under way after the first round. The cost of a
    call does not depend on the number of calls.
    """

    def __init__(self) -> None:
        """Begin with no call under way."""
        self._open: set[int] = set()
        self._order: deque[int] = deque()
        self._first: deque[tuple[int, ItemT]] = deque()
        self._second: deque[tuple[int, ItemT]] = deque()

    @property
    def calls(self) -> int:
        """The number of calls that are under way."""
        return len(self._open)

    def begins(self, call: int) -> None:
        """Record that a call began at this index."""
        self._open.add(call)
        self._order.append(call)

    def ends(self, call: int) -> None:
        """Record that the call that began at this index ended."""
        self._open.discard(call)

    def push(self, index: int, item: ItemT) -> None:
        """Add an item at this index."""
        self._first.append((index, item))

    def passed(self, index: int) -> Iterator[ItemT]:
        """Yield the items that no call can be acting upon any more."""
        while self._first and self._is_over(self._first[0][0]):
            self._second.append((index, self._first.popleft()[1]))
        while self._second and self._is_over(self._second[0][0]):
            yield self._second.popleft()[1]

    def _is_over(self, index: int) -> bool:
        """Tell whether every call that began before `index` is over."""
        order = self._order
        while order and order[0] not in self._open:
            order.popleft()
        return not order or order[0] > index


@dataclass(frozen=True, slots=True)
class _Rise:
    """The rise of the lower bounds of a partition."""

    partition: PartitionHistory
    seen: Seen


@dataclass(frozen=True, slots=True)
class _Loss:
    """The end of leadership of a partition, by a call that began at index `invoked`.

    If the broker leads again, in epoch `led_in`, the loss is that of who names an older one.
    """

    partition: PartitionHistory
    name: PartitionName
    invoked: int
    led_in: int | None


@dataclass(frozen=True, slots=True)
class _Return:
    """The return of the call of a request that has not been answered."""

    request: Request


class Waiting:
    """The requests that wait, and the calls that may answer them."""

    def __init__(self, broker: BrokerHistory, produces: Produces) -> None:
        """Judge the requests of a broker."""
        self._broker = broker
        self._produces = produces
        self._grace: Grace[_Rise | _Loss | _Return] = Grace()
        self._known: dict[PartitionHistory, tuple[Seen, int]] = {}

    @property
    def calls(self) -> int:
        """The number of calls that are under way."""
        return self._grace.calls

    def call_begins(self, index: int) -> None:
        """Record that a call began."""
        self._grace.begins(index)

    def call_ends(self, index: int) -> None:
        """Record that the call that began at this index ended."""
        self._grace.ends(index)

    def returns(self, request: Request, index: int) -> None:
        """Record that the call of a request returned and the request was not answered."""
        self._grace.push(index, _Return(request))

    def loses(self, name: PartitionName, invoked: int, index: int) -> None:
        """Record that a call returned after which a partition is not led as before."""
        partition = self._broker.partition(name)
        led_in = partition.epoch if partition.leads else None
        self._grace.push(index, _Loss(partition, name, invoked, led_in))

    def judge(self, index: int) -> Violation | None:
        """Judge after each event, at its index."""
        while True:
            for partition in self._broker.take_touched():
                reached = partition.seen, partition.log.end
                if self._known.get(partition) != reached:
                    self._known[partition] = reached
                    self._grace.push(index, _Rise(partition, reached[0]))
            for item in self._grace.passed(index):
                for request in self._let_go(item):
                    return _not_answered(request, "all calls that could answer it are over")
                if isinstance(item, _Return) and item.request in self._broker.waiting:
                    violation = self._waits(item.request)
                    if violation is not None:
                        return violation
            if not self._broker.is_touched:
                return None

    def judge_end(self, *, by_ms: int) -> Violation | None:
        """Judge the waiting requests of a quiescent history: those due by `by_ms` have expired."""
        for request in self._broker.waiting:
            self._broker.tally.tests(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE)
            if request.expires_high <= by_ms:
                reason = f"its time was over by {request.expires_high} ms"
                return _not_answered(request, reason)
        return None

    def _waits(self, request: Request) -> Violation | None:
        """Learn from a request that waits: a produce has appended."""
        return self._produces.has_appended(request) if isinstance(request, Produce) else None

    def _let_go(self, item: _Rise | _Loss | _Return) -> Iterator[Request]:
        """Yield the requests that should have been answered because of the item, and were not."""
        now_ms = self._broker.clock.high
        match item:
            case _Rise(partition=partition, seen=seen):
                partition.settle(Step(seen, now_ms))
                candidates = tuple(partition.waiting)
            case _Loss(partition=partition):
                candidates = tuple(partition.waiting)
            case _Return(request=request):
                request.settled_ms = now_ms
                candidates = (request,) if request in self._broker.waiting else ()
        for request in candidates:
            self._broker.tally.tests(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE)
            if isinstance(item, _Loss):
                can_be = self._was_lost(request, item)
            else:
                can_be = self._has_enough(request)
            if can_be:
                yield request

    def _was_lost(self, request: Request, loss: _Loss) -> bool:
        """Tell whether a request had to be told that the leader is another, or in a new epoch."""
        if request.returned is None or request.returned > loss.invoked:
            return False
        if loss.led_in is not None:
            lost = isinstance(request, Fetch) and any(
                asked.partition == loss.name
                and asked.current_leader_epoch is not None
                and asked.current_leader_epoch < loss.led_in
                for asked in request.call.partitions
            )
        else:
            # With several partitions it is unknown to which the request appended.
            lost = isinstance(request, Fetch) or len(request.partitions) == 1
        return lost and not self._broker.may_have_expired(request)

    def _has_enough(self, request: Request) -> bool:
        if request.at_once:
            return request.settled_ms is not None
        if isinstance(request, Fetch):
            return request.settled_ms is not None and self._may_read(request, request.settled_ms)
        assert isinstance(request, Produce)
        return request.awaits_replicas and all(
            batch.refused or self._broker.partition(batch.partition).has_to_be_acknowledged(batch)
            for batch in request.batches.values()
        )

    def _may_read(self, fetch: Fetch, at_ms: int) -> bool:
        """Tell whether enough bytes surely were there, and all calls over, before it expired."""
        available = 0
        is_complete = False
        for asked in fetch.call.partitions:
            partition = self._broker.partition(asked.partition)
            log, offset = partition.log, asked.fetch_offset
            if not partition.leads or partition.lost_track or not 0 <= offset <= log.end:
                continue
            settled = partition.settled
            at_ms = max(at_ms, settled.at_ms)
            end = min(settled.seen.end, log.end)
            most = end if fetch.call.replica_id is not None else settled.seen.high_watermark
            most = min(most, log.end)
            if partition.as_kafka and fetch.call.replica_id is None:
                # The log may have rolled since Kafka noted the place of its high watermark.
                end = most
            available += min(log.bytes_between(offset, most), asked.max_bytes)
            # The last segment begins with a record, and that record surely must be there.
            last = max(offset, min(most, end - 1))
            is_older = log.segment_base(offset) < log.segment_base(last)
            is_complete = is_complete or (is_older and last < partition.places.unsure_from)
        enough = is_complete or available >= fetch.call.min_bytes
        return enough and at_ms < fetch.expires_low


def _not_answered(request: Request, reason: str) -> Violation:
    return ReplicationClause.ANSWERED_WHEN_IT_CAN_BE.broken(
        f"{request.name} has been answered",
        f"{request.name} waits",
        f"{request.name} is still waiting, but {reason}",
    )
