"""Small random histories of a broker that leads one partition: each step at a random moment.

Good ones come from a broker whose every step is atomic: appends, reads, notes of how far the
follower has come, checks of who waits. A spoiled one has an answer changed, dropped or repeated.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from support.agreement.small_histories import History, Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    WHEELPROOF,
    AppendRecords,
    BecomeLeader,
    ErrorCode,
    FetchMessages,
    FetchPartition,
    FetchResponse,
    NewRecord,
    PartitionFetchResponse,
    PartitionProduceResponse,
    PartitionRecords,
    ProduceResponse,
    Record,
    ReplicationConfig,
)

FOLLOWER = 2
CONFIG = ReplicationConfig(segment_bytes=1_000)
LEAD = BecomeLeader(partition="t", leader_epoch=0, replica_ids=(1, 2), in_sync_ids=(1, 2))

_SIZE = 10
_WAIT_MS = 5

Step = Callable[[str], None]
"""What a process does at one moment."""


@dataclass(slots=True)
class _Broker:
    chance: random.Random
    lines: list[Line] = field(default_factory=list[Line])
    log: list[Record] = field(default_factory=list[Record])
    bounds: list[int] = field(default_factory=lambda: [0])
    """Where the batches begin, and the end of the log."""
    follower_end: int = 0
    high_watermark: int = 0
    produces: list[tuple[str, int, int]] = field(default_factory=list[tuple[str, int, int]])
    """Who waits for the follower: the request, its base, the offset after its last record."""
    fetches: list[FetchMessages] = field(default_factory=list[FetchMessages])
    requests: int = 0

    def name(self) -> str:
        self.requests += 1
        return f"r{self.requests}"

    def say(self, process: str, value: ProduceResponse | FetchResponse) -> None:
        self.lines.append(Line(process, "invoke", value.name_on_the_wire(), value))

    def read(self, call: FetchMessages) -> FetchResponse:
        asked = call.partitions[0]
        end = self.high_watermark if call.replica_id is None else len(self.log)
        last = read_end(self.bounds, asked.fetch_offset, end, asked.max_bytes)
        records = self.log[asked.fetch_offset : last]
        beyond = asked.fetch_offset > len(self.log)
        answer = PartitionFetchResponse(
            partition="t",
            error=ErrorCode.OFFSET_OUT_OF_RANGE if beyond else ErrorCode.NONE,
            high_watermark=-1 if beyond else self.high_watermark,
            records=tuple(records),
        )
        return FetchResponse(request=call.request, partitions=(answer,))

    def check(self, process: str) -> None:
        """Answer whoever can be answered."""
        done = [waiting for waiting in self.produces if waiting[2] <= self.high_watermark]
        for name, base, _ in done:
            self.say(process, produced(name, base))
        self.produces = [waiting for waiting in self.produces if waiting not in done]
        for call in [call for call in self.fetches if self.has_enough(call)]:
            self.fetches.remove(call)
            self.say(process, self.read(call))

    def has_enough(self, call: FetchMessages) -> bool:
        end = self.high_watermark if call.replica_id is None else len(self.log)
        return end != batch_base(self.bounds, call.partitions[0].fetch_offset)

    def note(self, offset: int) -> None:
        if offset <= len(self.log):
            self.follower_end = batch_base(self.bounds, offset)
            self.high_watermark = max(self.high_watermark, self.follower_end)


def batch_base(bounds: Sequence[int], offset: int) -> int:
    """Return where the batch of an offset begins; beyond the end, the offset."""
    return offset if offset > bounds[-1] else max(bound for bound in bounds if bound <= offset)


def read_end(bounds: Sequence[int], offset: int, end: int, max_bytes: int) -> int:
    """Return up to where whole batches are read that fit, or the first all the same."""
    last = begin = batch_base(bounds, offset)
    for bound in bounds:
        fits = (bound - begin) * _SIZE <= max_bytes or last == begin
        last = bound if begin < bound <= end and fits else last
    return last


def broker_history(seed: int, times: int = 1) -> History:
    """Return a history of a few overlapping requests; see `timer_history`."""
    chance = random.Random(seed)
    broker = _Broker(chance)
    processes: dict[str, Iterator[Step]] = {}
    left = times * chance.randrange(3, 9)
    while left or processes:
        process = chance.choice(list(processes) if not left else ["p", "q", "r"])
        if process not in processes:
            left -= 1
            processes[process] = _request(broker)
        step = next(processes[process], None)
        if step is None:
            del processes[process]
        else:
            step(process)
    lines = broker.lines
    if chance.random() < 0.5 and times == 1:
        _spoil(lines, chance)
    lead = [
        Line("c", "invoke", LEAD.name_on_the_wire(), LEAD),
        Line("c", "ok", LEAD.name_on_the_wire(), Nothing()),
    ]
    quiet = chance.random() < 0.7
    history = history_of("replication", CONFIG, lead + lines, quiet=quiet, clock="virtual")
    return replace(history, header=replace(history.header, profile=WHEELPROOF))


def produced(name: str, base: int, error: ErrorCode = ErrorCode.NONE) -> ProduceResponse:
    answer = PartitionProduceResponse(partition="t", error=error, base_offset=base)
    return ProduceResponse(request=name, partitions=(answer,))


def _request(broker: _Broker) -> Iterator[Step]:
    chance = broker.chance
    call = _append(broker) if chance.random() < 0.45 else _fetch(broker)
    yield lambda process: broker.lines.append(
        Line(process, "invoke", call.name_on_the_wire(), call)
    )
    if isinstance(call, AppendRecords):
        yield from _append_steps(broker, call)
    else:
        yield from _fetch_steps(broker, call)
    yield broker.check
    yield lambda process: broker.lines.append(
        Line(process, "ok", call.name_on_the_wire(), Nothing())
    )


def _append(broker: _Broker) -> AppendRecords:
    name = broker.name()
    records = tuple(
        NewRecord(size=_SIZE, value=f"{name}.{number}")
        for number in range(broker.chance.randrange(1, 3))
    )
    return AppendRecords(
        request=name,
        required_acks=broker.chance.choice((1, ALL_ACKS)),
        timeout_ms=_WAIT_MS,
        entries=(PartitionRecords(partition="t", records=records),),
    )


def _fetch(broker: _Broker) -> FetchMessages:
    chance = broker.chance
    asked = FetchPartition(
        partition="t",
        fetch_offset=chance.randrange(len(broker.log) + 2),
        max_bytes=chance.choice((1_000, 1_000, _SIZE, 1)),
    )
    return FetchMessages(
        request=broker.name(),
        replica_id=chance.choice((None, FOLLOWER, FOLLOWER)),
        max_wait_ms=chance.choice((0, 0, _WAIT_MS)),
        min_bytes=1,
        max_bytes=1_000,
        partitions=(asked,),
    )


def _append_steps(broker: _Broker, call: AppendRecords) -> Iterator[Step]:
    bases: list[int] = []

    def append(process: str) -> None:
        del process
        bases.append(len(broker.log))
        for record in call.entries[0].records:
            broker.log.append(
                Record(offset=len(broker.log), leader_epoch=0, size=record.size, value=record.value)
            )
        broker.bounds.append(len(broker.log))

    def answer(process: str) -> None:
        base, end = bases[0], bases[0] + len(call.entries[0].records)
        if call.required_acks == 1 or broker.high_watermark >= end:
            broker.say(process, produced(call.request, base))
        else:
            broker.produces.append((call.request, base, end))

    yield append
    yield answer


def _fetch_steps(broker: _Broker, call: FetchMessages) -> Iterator[Step]:
    found: list[FetchResponse] = []

    def answer(process: str) -> None:
        part = found[0].partitions[0]
        if not call.max_wait_ms or part.records or part.is_refusal:
            broker.say(process, found[0])
        elif broker.has_enough(call):
            broker.say(process, broker.read(call))
        else:
            broker.fetches.append(call)

    yield lambda _: found.append(broker.read(call))
    if call.replica_id is not None:
        yield lambda _: broker.note(call.partitions[0].fetch_offset)
    yield answer


def _spoil(lines: list[Line], chance: random.Random) -> None:
    answers = [
        place
        for place, line in enumerate(lines)
        if isinstance(line.value, ProduceResponse | FetchResponse)
    ]
    if not answers:
        return
    place = chance.choice(answers)
    line = lines[place]
    match chance.randrange(4):
        case 0:
            del lines[place]
        case 1:
            later = chance.randrange(place + 1, len(lines) + 1)
            lines.insert(later, replace(line, process="ghost"))
        case _:
            line.value = _changed(line.value, chance)


def _changed(value: object, chance: random.Random) -> object:
    match value:
        case ProduceResponse(partitions=(answer,)):
            base = max(answer.base_offset + chance.choice((-1, 1)), 0)
            return replace(value, partitions=(replace(answer, base_offset=base),))
        case FetchResponse(partitions=(answer,)):
            told, records = answer.high_watermark, answer.records
            if records and chance.random() < 0.5:
                records = records[:-1]
            else:
                told = max(told + chance.choice((-1, 1)), 0)
            return replace(
                value, partitions=(replace(answer, high_watermark=told, records=records),)
            )
        case _:
            return value
