"""Small random histories of an accumulator: each call takes its effects at random moments.

Good ones come from a machine that keeps the rules; a spoiled one has a callback added, dropped or
moved, or a drain that takes what it may not.
"""

import random
from collections.abc import Generator
from dataclasses import dataclass, field, replace

from support.agreement.small_histories import History, Line, history_of
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    Append,
    Appended,
    Callback,
    Drain,
    Drained,
    DrainedBatch,
    Flush,
    Mute,
    Reenqueue,
    Respond,
    Split,
    Unmute,
)
from wheelproof_spec.components.accumulator.component import AccumulatorConfig

PARTITIONS = ("s", "t")
_CONFIG = AccumulatorConfig(total_memory=1_000, batch_size=100)
_SENDER = "sender"


@dataclass(slots=True)
class _Accumulator:
    chance: random.Random
    lines: list[Line] = field(default_factory=list[Line])
    queues: dict[str, list[tuple[str | None, list[str]]]] = field(
        default_factory=lambda: {partition: [] for partition in PARTITIONS}
    )
    split_off: dict[str, str] = field(default_factory=dict[str, str])
    """Of which split batch a record is a part: no two splits share a batch."""
    in_flight: dict[str, tuple[str, list[str]]] = field(
        default_factory=dict[str, tuple[str, list[str]]]
    )
    muted: set[str] = field(default_factory=set[str])
    incomplete: set[str] = field(default_factory=set[str])
    names: int = 0

    def append(self, process: str) -> Generator[None]:
        self.names += 1
        name, partition = f"r{self.names}", self.chance.choice(PARTITIONS)
        call = Append(record=name, partition=partition, size=1, max_time_to_block_ms=5)
        yield from self._begins(process, call)
        self.queues[partition].append((None, [name]))
        self.incomplete.add(name)
        yield
        self.lines.append(Line(process, "ok", "append", Appended()))

    def flush(self, process: str) -> Generator[None]:
        waits_for = set(self.incomplete)
        yield from self._begins(process, Flush())
        while waits_for & self.incomplete:
            yield
        self.lines.append(Line(process, "ok", "flush", Nothing()))

    def send(self) -> Generator[None]:
        """One call of the sender."""
        call: Call
        if self.in_flight and self.chance.random() < 0.6:
            batch = self.chance.choice(list(self.in_flight))
            call = self.chance.choice((Respond, Respond, Reenqueue, Split))(batch=batch)
        elif self.chance.random() < 0.15:
            partition = self.chance.choice(PARTITIONS)
            muted = partition in self.muted
            call = Unmute(partition=partition) if muted else Mute(partition=partition)
        else:
            call = Abort() if self.chance.random() < 0.05 else Drain()
        yield from self._begins(_SENDER, call)
        answer: object = Nothing()
        match call:
            case Drain():
                taken: list[DrainedBatch] = []
                for partition in PARTITIONS:
                    taken += self._take(partition)
                    yield
                answer = Drained(batches=tuple(taken))
            case Respond(batch=batch):
                for offset, name in enumerate(self.in_flight[batch][1], start=7):
                    self._call_back(name, offset, None)
                    yield
                del self.in_flight[batch]
            case Reenqueue(batch=batch) | Split(batch=batch):
                partition, records = self.in_flight.pop(batch)
                parts = [(None, [name]) for name in records]
                back = parts if isinstance(call, Split) else [(batch, records)]
                if self.incomplete.issuperset(records):
                    self.queues[partition][:0] = back
                    if isinstance(call, Split):
                        self.split_off |= dict.fromkeys(records, batch)
            case Mute():
                self.muted.add(str(call.partition))
            case Unmute():
                self.muted.discard(str(call.partition))
            case _:
                for queue in self.queues.values():
                    queue.clear()
                for name in sorted(self.incomplete):
                    self._call_back(name, None, "Aborted")
                    yield
        yield
        self.lines.append(Line(_SENDER, "ok", call.name_on_the_wire(), answer))

    def _take(self, partition: str) -> list[DrainedBatch]:
        queue = self.queues[partition]
        if partition in self.muted or not queue or self.chance.random() < 0.2:
            return []
        name, records = queue.pop(0)
        while name is None and queue and queue[0][0] is None and self.chance.random() < 0.5:
            split, following = (self.split_off.get(item[0]) for item in (records, queue[0][1]))
            if following != split:
                break
            records = records + queue.pop(0)[1]
        self.names += 1
        name = name or f"b{self.names}"
        self.in_flight[name] = partition, records
        return [DrainedBatch(batch=name, partition=partition, records=tuple(records))]

    def _call_back(self, name: str, offset: int | None, error: str | None) -> None:
        if name in self.incomplete:
            self.incomplete.remove(name)
            value = Callback(record=name, offset=offset, error=error)
            self.lines.append(Line(_SENDER, "invoke", "callback", value))

    def _begins(self, process: str, call: Call) -> Generator[None]:
        self.lines.append(Line(process, "invoke", call.name_on_the_wire(), call))
        yield


def accumulator_history(seed: int, times: int = 1) -> History:
    """Return a history of a few overlapping calls on an accumulator; see `timer_history`."""
    chance = random.Random(seed)
    accumulator = _Accumulator(chance)
    calls: dict[str, Generator[None]] = {}
    left = times * chance.randrange(4, 11)
    patience = 60
    """A flush may wait for what nobody sends any more."""
    while left or (calls and patience):
        process = chance.choice(("p", "q", _SENDER, _SENDER) if left else list(calls))
        patience -= not left
        if process not in calls:
            left -= 1
            flushes = process == "q" and chance.random() < 0.2
            call = accumulator.flush if flushes else accumulator.append
            calls[process] = accumulator.send() if process == _SENDER else call(process)
        if next(calls[process], _SENDER) == _SENDER:
            del calls[process]
    lines = accumulator.lines
    if chance.random() < 0.5 and times == 1:
        _spoil(lines, chance)
    quiet = not calls and not accumulator.incomplete and chance.random() < 0.7
    return history_of("accumulator", _CONFIG, lines, quiet=quiet, clock="virtual")


def _spoil(lines: list[Line], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    callbacks = [place for place, line in enumerate(lines) if line.f == "callback"]
    drains = [
        place
        for place, line in enumerate(lines)
        if isinstance(line.value, Drained) and line.value.batches
    ]
    match chance.randrange(5):
        case 0 if callbacks:
            del lines[chance.choice(callbacks)]
        case 1 if callbacks:
            lines.insert(at, lines[chance.choice(callbacks)])
        case 2 if callbacks:
            lines.insert(at, lines.pop(chance.choice(callbacks)))
        case _ if drains:
            line = lines[chance.choice(drains)]
            assert isinstance(line.value, Drained)
            line.value = Drained(batches=_changed(line.value.batches, lines, chance))
        case _:
            pass


def _changed(
    batches: tuple[DrainedBatch, ...], lines: list[Line], chance: random.Random
) -> tuple[DrainedBatch, ...]:
    """Let a batch lack a record, have them in another order, or have another one."""
    batch, *others = batches
    records = list(batch.records)
    appended = [line.value.record for line in lines if isinstance(line.value, Append)]
    match chance.randrange(4):
        case 0:
            records = records[1:] or [chance.choice(appended)]
        case 1:
            records.reverse()
        case 2:
            return tuple(others)
        case _:
            records[0] = chance.choice(appended)
    return replace(batch, records=tuple(records)), *others
