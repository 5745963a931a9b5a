"""Pictures of a broker's driven case: logs, high watermarks, waiting and answered requests."""

from collections.abc import Iterator

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.drawing import Markup, chip, shelf
from wheelproof_spec.base.strict_json import JsonObject
from wheelproof_spec.components.replication.component import (
    DEFINITION,
    AppendRecords,
    BecomeFollower,
    BecomeLeader,
    FetchMessages,
    LogContent,
    PartitionName,
    ReadLog,
    ReplicationObservation,
    RequestName,
    Response,
)
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort

_WIRE = DrivenWire(DEFINITION)


class ReplicationView:
    """A view that follows a case on the reference's broker."""

    def __init__(self, profile: str) -> None:
        del profile
        self._port = _VisibleBroker()
        self._partitions: dict[PartitionName, None] = {}
        self._waiting: dict[RequestName, str] = {}
        self._seen = ReplicationObservation()

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make a call and return what the reference answers; see `CaseView`."""
        del answer
        call = _WIRE.parse_call(operation, content)
        match call:
            case Reset():
                self._partitions, self._waiting = {}, {}
            case BecomeLeader(partition=name) | BecomeFollower(partition=name):
                self._partitions[name] = None
            case AppendRecords(request=name, timeout_ms=wait_ms):
                self._waiting[name] = f"{name} until {self._port.now_ms() + wait_ms:,} ms"
            case FetchMessages(request=name, max_wait_ms=wait_ms):
                self._waiting[name] = f"{name} until {self._port.now_ms() + wait_ms:,} ms"
            case _:
                pass
        self._seen = ReplicationObservation()
        self._seen = self._port.perform(call)
        answered: list[Response] = [*self._seen.produced, *self._seen.fetched]
        for response in answered:
            self._waiting.pop(response.request, None)
        return _WIRE.answer(call, self._seen)

    def picture(self) -> Markup:
        """Return the logs and the requests; records below a high watermark are marked done."""
        rows = [shelf("clock", [chip(f"{self._port.now_ms():,} ms")])]
        rows += [self._port.log(name) for name in self._partitions]
        rows.append(shelf("waits", [chip(text) for text in self._waiting.values()], "nobody"))
        rows.append(
            shelf("answered in this step", [chip(text, "done") for text in self._answers()])
        )
        return Markup("").join(rows)

    def _answers(self) -> Iterator[str]:
        for produced in self._seen.produced:
            found = (f"{part.partition} {part.error}" for part in produced.partitions)
            yield f"{produced.request}: {', '.join(found)}"
        for fetched in self._seen.fetched:
            read = (f"{part.partition} {part.error} {part.size:,} B" for part in fetched.partitions)
            yield f"{fetched.request}: {', '.join(read)}"


class _VisibleBroker(ReferenceReplicationPort):
    def now_ms(self) -> int:
        return self._clock.hi_res_clock_ms()

    def log(self, name: PartitionName) -> Markup:
        """Return the log of a partition, with a chip for each record, and the broker's role."""
        known, content = self._broker.partition(name), self._broker.perform(ReadLog(partition=name))
        if known is None or not isinstance(content, LogContent):
            return shelf(f"{name}: gone", [])
        in_sync = ", ".join(map(str, sorted(known.in_sync_replica_ids)))
        role = f"leads, in sync {in_sync}" if in_sync else "follows"
        chips = [
            chip(
                f"{record.offset}: {record.size:,} B",
                "done" if record.offset < known.log.high_watermark else "",
                f"appended in epoch {record.leader_epoch}",
            )
            for record in content.records
        ]
        return shelf(f"{name}: epoch {known.leader_epoch}, {role}", chips, "an empty log")


VIEW = ReplicationView
