"""The named cases of the accumulator: the reference passes all, each known bug fails one.

And whatever is changed in a right answer is refused by the clause that it breaks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import (
    find_bug,
)
from wheelproof_spec.base.known_limits import KnownLimit
from wheelproof_spec.base.port import RefusedError, judge_call
from wheelproof_spec.base.strict_json import JsonObject, MalformedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.bug_table import (
    BUGS as ACCUMULATOR_BUGS,
)
from wheelproof_spec.components.accumulator.bug_table import (
    AccumulatorBug,
)
from wheelproof_spec.components.accumulator.oracle import (
    KAFKA_ACCUMULATOR,
    WHEELPROOF_ACCUMULATOR,
    AccumulatorClause,
    AccumulatorContract,
    Appended,
    AppendOutcome,
    RecordOutcome,
    Told,
)
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.engines.drive.driver.messages import (
    Refusal,
    format_answer,
    format_request,
    parse_answer,
    parse_request,
)

_CONTRACTS = (WHEELPROOF_ACCUMULATOR, KAFKA_ACCUMULATOR)
_LEADERS = {0: 0, 1: 1}
_CONFIG = AccumulatorConfig(
    total_memory=910,
    batch_size=91,
    linger_ms=10,
    retry_backoff_ms=5,
    retry_backoff_max_ms=5,
    delivery_timeout_ms=50,
)

Spoil = Callable[[AccumulatorObservation], AccumulatorObservation]


def _append(record: str, partition: int = 0) -> Append:
    return Append(record=record, partition=partition, size=3, timeout_ms=0)


def _drain(node: int = 0) -> Drain:
    return Drain(node=node, partitions=(node,), most=1_000)


_SPOILT: list[tuple[Sequence[AccumulatorCall], Spoil, AccumulatorClause]] = [
    (
        (_append("a"), _drain(), Store(batch="b1", offset=0)),
        lambda seen: replace(seen, told=()),
        AccumulatorClause.COMPLETES_ONCE,
    ),
    (
        (_append("a"), _drain(), Store(batch="b1", offset=0)),
        lambda seen: replace(seen, told=seen.told * 2),
        AccumulatorClause.COMPLETES_ONCE,
    ),
    (
        (_append("a"), _append("b"), _drain(), Store(batch="b1", offset=0)),
        lambda seen: replace(seen, told=seen.told[::-1]),
        AccumulatorClause.IN_ORDER,
    ),
    (
        (_append("a"), _drain(), Store(batch="b1", offset=0)),
        lambda seen: replace(seen, told=(Told("a", RecordOutcome.STORED, 1),)),
        AccumulatorClause.RIGHT_OUTCOME,
    ),
    (
        (_append("a"), _append("b")),
        lambda seen: replace(
            seen, appended=(Appended("b", AppendOutcome.ACCEPTED, full=True, new_batch=True),)
        ),
        AccumulatorClause.APPEND_FINDS_ROOM,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, appended=(Appended("a", AppendOutcome.CLOSED),)),
        AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, appended=()),
        AccumulatorClause.NO_APPEND_WAITS_IN_VAIN,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, drained={}),
        AccumulatorClause.DRAINS_THE_HEADS,
    ),
    (
        (_append("a"), _append("b"), _drain(), Split(batch="b1", size=1)),
        lambda seen: replace(seen, children=seen.children + 1),
        AccumulatorClause.SPLITS_BY_SIZE,
    ),
    (
        (_append("a"), Ready(leaders=_LEADERS)),
        lambda seen: replace(seen, ready_nodes=frozenset({0})),
        AccumulatorClause.READY_TELLS_THE_TRUTH,
    ),
    (
        (_append("a"), Advance(to_ms=50), Expire()),
        lambda seen: replace(seen, told=()),
        AccumulatorClause.EXPIRES_IN_TIME,
    ),
    (
        (_append("a"), Advance(to_ms=49), Expire()),
        lambda seen: replace(seen, told=(Told("a", RecordOutcome.EXPIRED),)),
        AccumulatorClause.EXPIRES_IN_TIME,
    ),
    (
        (_append("a"), Flush(flush="f")),
        lambda seen: replace(seen, flushed={"f": False}),
        AccumulatorClause.FLUSH_WAITS,
    ),
    (
        (Flush(flush="f"),),
        lambda seen: replace(seen, flushed={}),
        AccumulatorClause.FLUSH_ENDS,
    ),
    (
        (_append("a"), Flush(flush="f"), Interrupt(name="f")),
        lambda seen: replace(seen, flushing=True),
        AccumulatorClause.FLUSH_ENDS,
    ),
    (
        (_append("a"), Close(), Abort()),
        lambda seen: replace(seen, undrained=True),
        AccumulatorClause.NOTHING_IS_LEFT,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, in_flight_ended=True),
        AccumulatorClause.NOTHING_IS_LEFT,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, available=910),
        AccumulatorClause.MEMORY_IS_CONSERVED,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, overwritten=("b1",)),
        AccumulatorClause.NOT_OVERWRITTEN,
    ),
]


_MALFORMED: list[tuple[AccumulatorCall, JsonObject, str]] = [
    (Close(), {"told": [{"record": "a", "outcome": "gone"}]}, "unknown value 'gone'"),
    (Close(), {"told": ["a"]}, "no JSON object"),
    (Close(), {"told": {}}, "no list"),
    (Close(), {"appended": [{"record": "a", "outcome": "accepted"}]}, "lacks the field 'full'"),
    (
        Close(),
        {"appended": [{"record": "a", "outcome": "closed", "full": True}]},
        "unknown field 'full'",
    ),
    (Close(), {"drained": []}, "unknown field 'drained'"),
    (Close(), {"available": None}, "no integer"),
    (Ready(leaders={}), {"ready_nodes": ["0"], "unknown_leaders": False}, "no integer"),
    (Ready(leaders={}), {"ready_nodes": []}, "lacks the field 'unknown_leaders'"),
    (
        _drain(),
        {"drained": [{"batch": "b1", "records": []}, {"batch": "b1", "records": []}]},
        "twice",
    ),
    (Split(batch="b1", size=1), {}, "lacks the field 'children'"),
]


def _broken_rule(
    scenario: Scenario[AccumulatorCall],
    accumulator_class: type[RecordAccumulator],
    contract: AccumulatorContract,
) -> str | None:
    judge, port = AccumulatorJudge(contract), ReferenceAccumulatorPort(accumulator_class)
    try:
        for call in scenario.calls:
            violation = judge_call(judge, port, call)
            if violation is not None:
                return violation.rule
        return None
    finally:
        port.close()


def _spoiled(calls: Sequence[AccumulatorCall], spoil: Spoil) -> Violation | None:
    """Judge the reference's answers to `calls`, the last one spoilt."""
    judge, port = AccumulatorJudge(), ReferenceAccumulatorPort()
    try:
        for call in (Reset(config=_CONFIG), *calls[:-1]):
            assert judge_call(judge, port, call) is None
        return judge.judge(calls[-1], spoil(port.perform(calls[-1])))
    finally:
        port.close()


@pytest.mark.parametrize("contract", _CONTRACTS, ids=lambda one: one.name)
@pytest.mark.parametrize("scenario", accumulator_scenarios(), ids=lambda one: one.name)
def test_accumulator_scenario_passes_on_the_reference(
    scenario: Scenario[AccumulatorCall], contract: AccumulatorContract
) -> None:
    assert _broken_rule(scenario, RecordAccumulator, contract) is None


@pytest.mark.parametrize("bug", ACCUMULATOR_BUGS, ids=lambda bug: bug.id)
def test_accumulator_scenarios_show_the_known_bugs(bug: AccumulatorBug) -> None:
    assert any(
        _broken_rule(scenario, bug.accumulator_class, WHEELPROOF_ACCUMULATOR)
        for scenario in accumulator_scenarios()
    )


def test_accumulator_of_kafka_is_allowed_its_order_of_ends() -> None:
    queued_first = find_bug(ACCUMULATOR_BUGS, "queued-first").accumulator_class
    for scenario in accumulator_scenarios():
        assert _broken_rule(scenario, queued_first, KAFKA_ACCUMULATOR) is None


@pytest.mark.parametrize(("calls", "spoil", "clause"), _SPOILT)
def test_accumulator_judge_refuses_a_spoilt_answer(
    calls: Sequence[AccumulatorCall], spoil: Spoil, clause: AccumulatorClause
) -> None:
    assert _spoiled(calls, lambda seen: seen) is None, "as it is, the answer is right"
    violation = _spoiled(calls, spoil)
    assert violation is not None
    assert violation.rule == clause


def test_accumulator_judge_refuses_a_drain_that_forgets_a_partition() -> None:
    judge, port = AccumulatorJudge(), ReferenceAccumulatorPort()
    rules: list[str | None] = []
    queued = (*(_append(name) for name in "abcdef"), _append("x", partition=1))
    calls: tuple[AccumulatorCall, ...] = (Reset(config=_CONFIG), *queued)
    for call in calls:
        assert judge_call(judge, port, call) is None
    for turn in (1, 2):
        # Two nodes that know nothing of each other: partition 1 is passed over each time.
        drain = Drain(node=turn, partitions=(0, 1), most=1)
        violation = judge.judge(replace(drain, node=0), port.perform(drain))
        rules.append(None if violation is None else violation.rule)
        port.perform(Store(batch=f"b{turn}", offset=0))
        judge.ledger.finish(f"b{turn}", RecordOutcome.STORED, 0)
        judge.ledger.muted.clear()
    port.close()
    assert rules == [None, AccumulatorClause.DRAIN_IS_FAIR]


@pytest.mark.parametrize("call", [_append("a"), Drain(node=0, partitions=(0,), most=1)], ids=repr)
def test_accumulator_judge_refuses_a_refusal_within_the_domain(call: AccumulatorCall) -> None:
    judge = AccumulatorJudge()
    judge.judge(Reset(config=_CONFIG), AccumulatorObservation())
    violation = judge.judge_refusal(call, RefusedError("IllegalArgument", "no"))
    assert violation is not None
    assert violation.rule == AccumulatorClause.KEEPS_TO_ITS_DOMAIN


def test_accumulator_judge_refuses_a_split_of_one_record_that_is_carried_out() -> None:
    judge, port = AccumulatorJudge(), ReferenceAccumulatorPort()
    for call in (Reset(config=_CONFIG), _append("a"), _drain()):
        assert judge_call(judge, port, call) is None
    port.close()
    split = Split(batch="b1", size=1)
    violation = judge.judge(split, AccumulatorObservation(children=1))
    assert violation is not None
    assert violation.rule == AccumulatorClause.KEEPS_TO_ITS_DOMAIN


def test_accumulator_suite_counts_each_clause_in_its_scenarios() -> None:
    suite, port = AccumulatorSuite(), ReferenceAccumulatorPort()
    seen: set[str] = set()
    for scenario in suite.scenarios():
        for call in scenario.calls:
            try:
                seen.update(suite.account(call, port.perform(call), ()).checked)
            except RefusedError:
                seen.add(AccumulatorClause.KEEPS_TO_ITS_DOMAIN)
    port.close()
    assert seen == set(suite.clauses)


def test_accumulator_suite_hides_the_gauges_that_are_known_limits() -> None:
    suite = AccumulatorSuite()
    limits = [
        KnownLimit(clause=clause, reason="tested")
        for clause in suite.skippable
        if clause in suite.clauses
    ]
    told = AccumulatorObservation(available=1, undrained=True, overwritten=("b1",), flushing=True)
    account = suite.account(Close(), told, limits)
    assert account.seen == AccumulatorObservation(flushing=True)
    assert set(account.skipped) == {limit.clause for limit in limits}


@pytest.mark.parametrize(
    "call",
    [
        Reset(config=_CONFIG),
        _append("a"),
        Append(
            record="a",
            partition=1,
            size=0,
            timeout_ms=5,
            fault=AppendFault.ALLOCATOR,
            callback=CallbackFault.RAISES,
        ),
        Ready(leaders={0: 1, 2: 0}),
        Ready(leaders={}),
        Drain(node=0, partitions=(0, 1), most=9),
        Store(batch="b1", offset=4),
        Fail(batch="b1"),
        Retry(batch="b1"),
        Split(batch="b1", size=7),
        Expire(),
        Flush(flush="f"),
        Interrupt(name="f"),
        Advance(to_ms=3),
        Close(),
        Abort(),
    ],
    ids=repr,
)
def test_accumulator_call_survives_the_wire(call: AccumulatorCall) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert parse_accumulator_call(operation, fields) == call


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (Reset(config=_CONFIG), AccumulatorObservation()),
        (
            Store(batch="b1", offset=3),
            AccumulatorObservation(
                told=(
                    Told("a", RecordOutcome.STORED, 3),
                    Told("b", RecordOutcome.FAILED),
                ),
                appended=(
                    Appended("c", AppendOutcome.ACCEPTED, full=True),
                    Appended("d", AppendOutcome.CLOSED),
                ),
                flushed={"f": True},
                available=3,
                undrained=False,
                incomplete=True,
                flushing=False,
                in_flight_ended=False,
                overwritten=("b1",),
            ),
        ),
        (
            Drain(node=0, partitions=(0,), most=1),
            AccumulatorObservation(drained={"b2": ("a", "b"), "b1": ()}),
        ),
        (
            Ready(leaders={}),
            AccumulatorObservation(ready_nodes=frozenset({0, 2}), unknown_leaders=True),
        ),
        (Split(batch="b1", size=1), AccumulatorObservation(children=2)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_accumulator_answer_survives_the_wire(
    call: AccumulatorCall, seen: AccumulatorObservation
) -> None:
    fields = parse_answer(format_answer(1, accumulator_answer(call, seen)), 1)
    assert not isinstance(fields, Refusal)
    assert parse_accumulator_answer(fields, call) == seen


@pytest.mark.parametrize(("call", "fields", "complaint"), _MALFORMED)
def test_accumulator_answer_that_is_malformed(
    call: AccumulatorCall, fields: JsonObject, complaint: str
) -> None:
    with pytest.raises(MalformedError, match=complaint):
        parse_accumulator_answer(fields, call)


@pytest.mark.parametrize(
    ("operation", "message", "complaint"),
    [
        ("ready", {"args": {"leaders": {"x": 0}}}, "no number"),
        ("abort", {"args": {}}, "unknown field"),
        ("explode", {}, "unknown operation"),
        (
            "append",
            {"args": {"record": "a", "partition": 0, "size": 1, "timeout_ms": 0, "fault": "no"}},
            "unknown value",
        ),
    ],
)
def test_accumulator_call_that_is_malformed(
    operation: str, message: JsonObject, complaint: str
) -> None:
    with pytest.raises(MalformedError, match=complaint):
        parse_accumulator_call(operation, message)
