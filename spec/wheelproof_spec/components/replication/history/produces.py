"""Judges the answers to produce requests (standard 5.1)."""

from collections.abc import Iterator

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.replication.component import (
    ALL_ACKS,
    AppendRecords,
    ErrorCode,
    PartitionProduceResponse,
    ProduceResponse,
    ReplicationClause,
)
from wheelproof_spec.components.replication.history.broker import BrokerHistory, wrong_answer
from wheelproof_spec.components.replication.history.partition import PartitionHistory
from wheelproof_spec.components.replication.history.requests import Batch, Produce

_ACKNOWLEDGED = {ErrorCode.NONE, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
_GIVEN_UP = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


class Produces:
    """The produce requests of a history."""

    def __init__(self, broker: BrokerHistory) -> None:
        """Judge the produce requests of a broker."""
        self._broker = broker

    def begins(self, call: AppendRecords, index: int) -> Produce:
        """Record that a request began; raise MalformedError for a record that exists already."""
        broker = self._broker
        request = Produce(
            name=call.request,
            partitions=tuple(entry.partition for entry in call.entries),
            timeout_ms=call.timeout_ms,
            expires_low=broker.clock.least + call.timeout_ms,
            invoked=index,
            at_once=call.required_acks != ALL_ACKS or not call.entries,
            required_acks=call.required_acks,
        )
        broker.begins(request)
        for entry in call.entries:
            batch = Batch(request=request, partition=entry.partition, records=entry.records)
            request.batches[entry.partition] = batch
            for number, record in enumerate(entry.records):
                if broker.records.setdefault(record.value, (batch, number)) != (batch, number):
                    raise MalformedError(f"appends the record {record.value!r} again")
            batch.refused = (
                call.required_acks not in (0, 1, ALL_ACKS)
                or batch.size > broker.config.segment_bytes
            )
            if not batch.refused:
                broker.partition(entry.partition).append_begins(batch)
        return request

    def fails(self, request: Produce) -> None:
        """Record that the call was refused and had no effect."""
        for name, batch in request.batches.items():
            batch.refused = True
            self._broker.partition(name).refused(batch)

    def waits(self, request: Produce) -> Violation | None:
        """Record that a request was not answered by its call: it appended, or had to be refused.

        An error alone is no reason to wait, so a partition in error is one of several, or the
        request has to be answered at once.
        """
        refused = [batch for batch in request.batches.values() if self._has_to_be_refused(batch)]
        request.at_once = request.at_once or len(refused) == len(request.batches)
        for batch in refused:
            batch.refused = True
            violation = self._broker.partition(batch.partition).refused(batch)
            if violation is not None:
                return violation
        return None

    def has_appended(self, request: Produce) -> Violation | None:
        """Record that a request waits though every call is over that could answer it at once."""
        for batch in request.batches.values():
            partition = self._broker.partition(batch.partition)
            if (
                batch.refused
                or not partition.leads
                or not partition.is_unchanged_since(request.invoked)
            ):
                continue
            # One of several may be in error, and the others are waited for.
            if len(request.batches) > 1 and partition.reign.may_be_short(request.invoked):
                continue
            violation = partition.has(batch)
            if violation is not None:
                return violation
        return None

    def _has_to_be_refused(self, batch: Batch) -> bool:
        """Tell whether nothing can have been appended at any moment since the request began."""
        partition, request = self._broker.partition(batch.partition), batch.request
        assert isinstance(request, Produce)
        if batch.refused:
            return True
        if not partition.is_unchanged_since(request.invoked):
            return False
        if not partition.leads:
            return True
        enough = partition.reign.may_have_been_enough(request.invoked)
        return request.awaits_replicas and not enough

    def answer(self, request: Produce, response: ProduceResponse) -> Iterator[Violation | None]:
        """Yield what is wrong with the answer, if anything."""
        errors = {answer.error for answer in response.partitions}
        if ErrorCode.REQUEST_TIMED_OUT in errors:
            yield self._timed_out_early(request)
        for answer in response.partitions:
            partition = self._broker.partition(answer.partition)
            batch = request.batches[answer.partition]
            if answer.base_offset < 0:
                yield self._judge_refusal(request, batch, answer, partition)
            else:
                yield self._judge_append(request, batch, answer, partition)

    def _timed_out_early(self, request: Produce) -> Violation | None:
        self._broker.tally.tests(ReplicationClause.NOT_ANSWERED_BEFORE)
        if self._broker.may_have_expired(request):
            return None
        return ReplicationClause.NOT_ANSWERED_BEFORE.broken(
            f"{request.name}: no time-out before {request.expires_low} ms",
            f"{request.name}: timed out at {self._broker.clock.high} ms at the latest",
            f"{request.name} timed out at {self._broker.clock.high} ms or before, but may wait "
            f"{request.timeout_ms} ms, until {request.expires_low} ms",
        )

    def _judge_refusal(
        self,
        request: Produce,
        batch: Batch,
        answer: PartitionProduceResponse,
        partition: PartitionHistory,
    ) -> Violation | None:
        if batch.base is not None:
            observed = f"{answer.error}, nothing was appended"
            why = f"{request.name} got {answer.error}, but {batch} were read, or waited for"
            return wrong_answer(request.name, f"{batch} are in the log", observed, why)
        right = self._may_be_refused(request, batch, answer.error, partition)
        batch.refused = True
        if right:
            return partition.refused(batch)
        return wrong_answer(
            request.name,
            f"an answer that {answer.partition!r} can give",
            f"{answer.error} in {answer.partition!r}, nothing was appended",
            f"{request.name} got {answer.error} from {answer.partition!r}, whose leader and "
            "replicas give no reason for it",
        )

    def _may_be_refused(
        self, request: Produce, batch: Batch, error: ErrorCode, partition: PartitionHistory
    ) -> bool:
        """Tell whether `error` may be the reason that nothing was appended."""
        unchanged = partition.is_unchanged_since(request.invoked)
        leads = partition.leads or not unchanged
        is_valid = request.required_acks in (0, 1, ALL_ACKS)
        match error:
            case ErrorCode.INVALID_REQUIRED_ACKS:
                return not is_valid
            case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                return is_valid and not (unchanged and partition.exists)
            case ErrorCode.NOT_LEADER_OR_FOLLOWER:
                follows = partition.exists and not partition.leads
                return is_valid and (follows or not unchanged)
            case ErrorCode.NOT_ENOUGH_REPLICAS:
                may_be_short = not unchanged or (
                    leads and partition.reign.may_be_short(request.invoked)
                )
                return request.awaits_replicas and may_be_short
            case ErrorCode.RECORD_LIST_TOO_LARGE:
                return is_valid and leads and batch.size > self._broker.config.segment_bytes
            case _:
                return False

    def _judge_append(
        self,
        request: Produce,
        batch: Batch,
        answer: PartitionProduceResponse,
        partition: PartitionHistory,
    ) -> Violation | None:
        base, error = answer.base_offset, answer.error
        if batch.refused or not self._may_be_appended(request, error, partition):
            return wrong_answer(
                request.name,
                f"an answer that {answer.partition!r} can give",
                f"{error} in {answer.partition!r}, appended at {base}",
                f"{request.name} got {error} from {answer.partition!r} with the offset {base}, "
                "which its leader and replicas do not allow",
            )
        if batch.base not in (None, base):
            why = f"{request.name} was told the offset {base}, but {batch} were read elsewhere"
            return wrong_answer(request.name, str(batch), f"appended at {base}", why)
        batch.base = base
        batch.acknowledged = request.awaits_replicas and error in _ACKNOWLEDGED
        violation = partition.place(batch)
        if violation is not None:
            return violation
        if batch.acknowledged and partition.is_unchanged_since(request.invoked):
            partition.raise_low(batch.next_offset)
        return self._acknowledged_late(request, batch, error, partition)

    def _may_be_appended(
        self, request: Produce, error: ErrorCode, partition: PartitionHistory
    ) -> bool:
        """Tell whether records may have been appended and then answered with `error`."""
        if not request.awaits_replicas:
            is_possible = error is ErrorCode.NONE
        else:
            is_possible = error in {*_ACKNOWLEDGED, *_GIVEN_UP, ErrorCode.REQUEST_TIMED_OUT}
        if not partition.is_unchanged_since(request.invoked):
            # Its time was over later than the leadership, so that was found before.
            told_late = partition.not_led_since_ms < request.expires_low
            is_loss = told_late and not partition.is_disturbed
            return is_possible and not (error is ErrorCode.REQUEST_TIMED_OUT and is_loss)
        if not partition.leads or error in _GIVEN_UP:
            return False
        reign = partition.reign
        if error is ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
            is_possible = is_possible and reign.may_be_short(request.invoked)
        enough = reign.may_have_been_enough(request.invoked) or not request.awaits_replicas
        return is_possible and enough

    def _acknowledged_late(
        self, request: Produce, batch: Batch, error: ErrorCode, partition: PartitionHistory
    ) -> Violation | None:
        if error is not ErrorCode.REQUEST_TIMED_OUT:
            return None
        self._broker.tally.tests(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE)
        if not partition.has_to_be_acknowledged(batch):
            return None
        return ReplicationClause.ANSWERED_WHEN_IT_CAN_BE.broken(
            f"{request.name}: acknowledged in time",
            f"{request.name}: timed out",
            f"{request.name} timed out, but {batch} were below the high watermark before, and all "
            "calls that could say so were over",
        )
