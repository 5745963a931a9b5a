"""Compares the answers that a broker gave with those that the ledger says are due."""

from collections.abc import Sequence

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.component import (
    PartitionFetchResponse,
    PartitionProduceResponse,
    ReplicationClause,
    RequestName,
    Response,
)

Due = dict[RequestName, Response]
"""The requests that a call makes answerable, with their answers."""


def judge_answers(due: Due, seen: Sequence[Response], tally: Tally) -> Violation | None:
    """Compare the answers with those that are due; count in `tally` what is tested."""
    tests = tally.tests
    answered: set[RequestName] = set()
    for response in seen:
        name = response.request
        tests(ReplicationClause.ANSWERED_AT_MOST_ONCE)
        tests(ReplicationClause.NOT_ANSWERED_BEFORE)
        tests(ReplicationClause.ANSWER_IS_RIGHT)
        if name in answered:
            clause = ReplicationClause.ANSWERED_AT_MOST_ONCE
            return _violation(clause, name, "one answer", "a second answer")
        answered.add(name)
        if name not in due:
            clause = ReplicationClause.NOT_ANSWERED_BEFORE
            return _violation(clause, name, "no answer yet", _shown(response))
        if _sorted(response) != _sorted(due[name]):
            clause = ReplicationClause.ANSWER_IS_RIGHT
            return _violation(clause, name, _shown(due[name]), _shown(response))
    tests(ReplicationClause.ANSWERED_WHEN_IT_CAN_BE, len(due))
    for name, response in due.items():
        if name not in answered:
            clause = ReplicationClause.ANSWERED_WHEN_IT_CAN_BE
            return _violation(clause, name, _shown(response), "no answer")
    return None


def _sorted(response: Response) -> list[PartitionProduceResponse | PartitionFetchResponse]:
    return sorted(response.partitions, key=lambda answer: answer.partition)


def _shown(response: Response) -> str:
    return format_line(response, Wire.DRIVEN).decode().rstrip()


def _violation(
    clause: ReplicationClause, name: RequestName, expected: str, observed: str
) -> Violation:
    return clause.broken(
        f"{name}: {expected}",
        f"{name}: {observed}",
        f"the request {name!r} got {observed}, but by the appends and replica offsets: {expected}",
    )
