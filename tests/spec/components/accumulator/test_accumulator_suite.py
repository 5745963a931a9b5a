"""The named cases of the accumulator: the reference passes all, each known bug fails one.

And whatever is changed in a right answer is refused by the clause that it breaks.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from wheelproof.producer import RecordAccumulator
from wheelproof.producer.record_sizes import (
    RECORD_BATCH_OVERHEAD,
    batch_size_upper_bound,
    payload_size,
)
from wheelproof.producer.record_sizes import record_size as record_size_of_the_reference
from wheelproof_lab.bugs.accumulator import BUGS, AccumulatorBug
from wheelproof_lab.bugs.known_bug import Sight, find_bug
from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.port import RefusedError, first_violation, judge_call
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import JsonObject, MalformedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.accumulator.calls import (
    EXPIRED,
    FAILED,
    NEVER_MS,
    Abort,
    Append,
    AppendedRecord,
    AppendFault,
    AppendRefusal,
    Callback,
    CallbackFault,
    Drain,
    DrainedBatch,
    Expire,
    Flush,
    Ready,
    Reenqueue,
    Respond,
    Split,
)
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import (
    DEFINITION,
    KAFKA,
    WHEELPROOF,
    AccumulatorCall,
    AccumulatorClause,
    AccumulatorConfig,
    AccumulatorObservation,
)
from wheelproof_spec.components.accumulator.oracle.ledger import BatchLedger
from wheelproof_spec.components.accumulator.oracle.records import (
    EMPTY_BATCH,
    record_size,
    upper_bound,
)
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.drive.driver.messages import (
    Refusal,
    format_answer,
    format_request,
    parse_answer,
    parse_request,
)

_WIRE = DrivenWire(DEFINITION)
_LEADERS = {0: 0, 1: 1}
_CONFIG = AccumulatorConfig(
    total_memory=910,
    batch_size=91,
    linger_ms=10,
    retry_backoff_ms=5,
    retry_backoff_max_ms=5,
    delivery_timeout_ms=50,
    topics={1: "topic of 1"},
)

_NEW_BATCH = AppendedRecord(record="a", batch_is_full=False, new_batch_created=True)
_APPENDED: dict[str, object] = {"record": "a", "batch_is_full": True, "new_batch_created": True}

Spoil = Callable[[AccumulatorObservation], AccumulatorObservation]


def _append(record: str, partition: int = 0) -> Append:
    return Append(record=record, partition=partition, size=3, max_time_to_block_ms=0)


def _drain(node: int = 0) -> Drain:
    return Drain(node=node, partitions=(node,), max_size=1_000)


_SPOILT: list[tuple[Sequence[AccumulatorCall], Spoil, AccumulatorClause]] = [
    (
        (_append("a"), _drain(), Respond(batch="b1", offset=0)),
        lambda seen: replace(seen, called_back=()),
        AccumulatorClause.COMPLETES_ONCE,
    ),
    (
        (_append("a"), _drain(), Respond(batch="b1", offset=0)),
        lambda seen: replace(seen, called_back=seen.called_back * 2),
        AccumulatorClause.COMPLETES_ONCE,
    ),
    (
        (_append("a"), _append("b"), _drain(), Respond(batch="b1", offset=0)),
        lambda seen: replace(seen, called_back=seen.called_back[::-1]),
        AccumulatorClause.IN_ORDER,
    ),
    (
        (_append("a"), _drain(), Respond(batch="b1", offset=0)),
        lambda seen: replace(seen, called_back=(Callback(record="a", offset=1, error=None),)),
        AccumulatorClause.RIGHT_OUTCOME,
    ),
    (
        (_append("a"), _append("b")),
        lambda seen: replace(
            seen,
            appended=(AppendedRecord(record="b", batch_is_full=True, new_batch_created=True),),
        ),
        AccumulatorClause.APPEND_FINDS_ROOM,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, appended=(), refused={"a": AppendRefusal.CLOSED}),
        AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, appended=()),
        AccumulatorClause.NO_APPEND_WAITS_IN_VAIN,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, batches=()),
        AccumulatorClause.DRAINS_THE_HEADS,
    ),
    (
        (_append("a"), _append("b"), _drain(), Split(batch="b1", size=1)),
        lambda seen: replace(seen, children=seen.children + 1),
        AccumulatorClause.SPLITS_BY_SIZE,
    ),
    (
        (_append("a"), Ready(leaders=_LEADERS)),
        lambda seen: replace(seen, ready_nodes=(0,)),
        AccumulatorClause.READY_TELLS_THE_TRUTH,
    ),
    *(
        (
            (_append("a"), Advance(to_ms=4), Ready(leaders=_LEADERS)),
            lambda seen, delay_ms=delay_ms: replace(seen, next_ready_check_delay_ms=delay_ms),
            AccumulatorClause.CHECKS_AGAIN_IN_TIME,
        )
        for delay_ms in (0, 5, 7, NEVER_MS)
    ),
    (
        (_append("a"), _drain(), Ready(leaders=_LEADERS)),
        lambda seen: replace(seen, next_ready_check_delay_ms=10),
        AccumulatorClause.CHECKS_AGAIN_IN_TIME,
    ),
    *(
        (
            (_append("a"), _append("b", partition=1), Ready(leaders={0: 0})),
            lambda seen, topics=topics: replace(seen, unknown_leader_topics=topics),
            AccumulatorClause.NAMES_TOPICS,
        )
        for topics in ((), ("topic",), ("topic", "topic of 1"))
    ),
    *(
        (
            (_append("a"), Advance(to_ms=4), _append("b", partition=1), Expire()),
            lambda seen, expiry_ms=expiry_ms: replace(seen, next_expiry_ms=expiry_ms),
            AccumulatorClause.TELLS_NEXT_EXPIRY,
        )
        for expiry_ms in (0, 49, 51, 54, NEVER_MS)
    ),
    (
        (_append("a"), Advance(to_ms=50), Expire()),
        lambda seen: replace(seen, called_back=()),
        AccumulatorClause.EXPIRES_IN_TIME,
    ),
    (
        (_append("a"), Advance(to_ms=49), Expire()),
        lambda seen: replace(seen, called_back=(Callback(record="a", offset=None, error=EXPIRED),)),
        AccumulatorClause.EXPIRES_IN_TIME,
    ),
    (
        (_append("a"), _drain(), Respond(batch="b1", offset=0)),
        lambda seen: replace(seen, called_back=(Callback(record="a", offset=0, error=FAILED),)),
        AccumulatorClause.OFFSET_OR_ERROR,
    ),
    (
        (_append("a"), _drain(), Respond(batch="b1")),
        lambda seen: replace(seen, called_back=(Callback(record="a", offset=None, error="?"),)),
        AccumulatorClause.RIGHT_OUTCOME,
    ),
    (
        (Close(), _append("a")),
        lambda seen: replace(seen, refused={}, appended=(_NEW_BATCH,)),
        AccumulatorClause.REFUSES_AFTER_CLOSE,
    ),
    (
        (_append("a"), _append("b", partition=1), Drain(node=0, partitions=(0, 1), max_size=999)),
        lambda seen: replace(seen, batches=seen.batches[:1] * 2),
        AccumulatorClause.DRAINS_THE_HEADS,
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
        lambda seen: replace(seen, flush_in_progress=True),
        AccumulatorClause.FLUSH_ENDS,
    ),
    (
        (_append("a"), Close(), Abort()),
        lambda seen: replace(seen, has_undrained=True),
        AccumulatorClause.NOTHING_IS_LEFT,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, in_flight_ended=True),
        AccumulatorClause.NOTHING_IS_LEFT,
    ),
    (
        (_append("a"),),
        lambda seen: replace(seen, available_memory=910),
        AccumulatorClause.MEMORY_IS_CONSERVED,
    ),
    (
        (_append("a"), _drain()),
        lambda seen: replace(seen, overwritten=("b1",)),
        AccumulatorClause.NOT_OVERWRITTEN,
    ),
]


_MALFORMED: list[tuple[AccumulatorCall, JsonObject, str]] = [
    (Close(), {"refused": {"a": "gone"}}, "'gone' that is not"),
    (Close(), {"called_back": ["a"]}, "no JSON object"),
    (Close(), {"called_back": {}}, "not a list"),
    (Close(), {"called_back": [{"record": "a", "offset": 0}]}, "lacks the field .*error"),
    (Close(), {"appended": [{"batch_is_full": True}]}, "lacks the field .*record"),
    (Close(), {"appended": [_APPENDED | {"outcome": "closed"}]}, "unknown field .*outcome"),
    (Close(), {"batches": []}, "unknown field 'batches'"),
    (Close(), {"available_memory": None}, "no integer"),
    (Ready(leaders={}), {"ready_nodes": ["0"], "unknown_leader_topics": []}, "no integer"),
    (Ready(leaders={}), {"unknown_leader_topics": []}, "lacks the field 'ready_nodes'"),
    (_drain(), {"batches": [{"batch": "b1", "partition": "p", "records": []}]}, "no integer"),
    (Split(batch="b1", size=1), {}, "lacks the field 'children'"),
]


def _broken_rule(
    scenario: Scenario[AccumulatorCall],
    accumulator_class: type[RecordAccumulator],
    profile: str,
    tally: Tally | None = None,
) -> str | None:
    port = ReferenceAccumulatorPort(accumulator_class)
    try:
        violation = first_violation(BatchLedger(profile, tally or Tally()), port, scenario.calls)
    finally:
        port.close()
    return None if violation is None else violation.rule


def _spoiled(
    calls: Sequence[AccumulatorCall], spoil: Spoil, tally: Tally | None = None
) -> Violation | None:
    """Judge the reference's answers to `calls`, the last one faulty."""
    judge, port = BatchLedger(WHEELPROOF, tally or Tally()), ReferenceAccumulatorPort()
    try:
        for call in (Reset(config=_CONFIG), *calls[:-1]):
            assert judge_call(judge, port, call) is None
        return judge.judge(calls[-1], spoil(port.perform(calls[-1])))
    finally:
        port.close()


@pytest.mark.parametrize("profile", DEFINITION.profiles)
@pytest.mark.parametrize("scenario", ACCUMULATOR.scenarios(), ids=lambda scenario: scenario.name)
def test_accumulator_scenario_passes_on_the_reference(
    scenario: Scenario[AccumulatorCall], profile: str
) -> None:
    assert _broken_rule(scenario, RecordAccumulator, profile) is None


@pytest.mark.repeats("k-8202")
@pytest.mark.parametrize(
    "bug", [bug for bug in BUGS if Sight.DRIVEN in bug.seen], ids=lambda bug: bug.id
)
def test_accumulator_scenarios_show_the_known_bugs(bug: AccumulatorBug) -> None:
    assert any(
        _broken_rule(scenario, bug.accumulator_class, WHEELPROOF)
        for scenario in ACCUMULATOR.scenarios()
    )


def test_accumulator_of_kafka_is_allowed_its_order_of_ends() -> None:
    queued_first = find_bug(BUGS, "queued-first").accumulator_class
    for scenario in ACCUMULATOR.scenarios():
        assert _broken_rule(scenario, queued_first, KAFKA) is None


@pytest.mark.parametrize(("calls", "spoil", "clause"), _SPOILT)
def test_accumulator_judge_refuses_a_faulty_answer(
    calls: Sequence[AccumulatorCall], spoil: Spoil, clause: AccumulatorClause
) -> None:
    assert _spoiled(calls, lambda seen: seen) is None, "as it is, the answer is right"
    violation = _spoiled(calls, spoil)
    assert violation is not None
    assert violation.rule == clause


def test_a_drain_that_forgets_a_partition_is_no_drain() -> None:
    judge, port = BatchLedger(WHEELPROOF, Tally()), ReferenceAccumulatorPort()
    rules: list[str | None] = []
    queued = (*(_append(name) for name in "abcdef"), _append("x", partition=1))
    calls: tuple[AccumulatorCall, ...] = (Reset(config=_CONFIG), *queued)
    for call in calls:
        assert judge_call(judge, port, call) is None
    for turn in (1, 2):
        # Two nodes that know nothing of each other: partition 1 is passed over each time.
        drain = Drain(node=turn, partitions=(0, 1), max_size=1)
        violation = judge.judge(replace(drain, node=0), port.perform(drain))
        rules.append(None if violation is None else violation.rule)
        assert judge_call(judge, port, Respond(batch=f"b{turn}", offset=0)) is None
    port.close()
    assert rules == [None, AccumulatorClause.DRAIN_IS_FAIR]


@pytest.mark.parametrize(
    "call", [_append("a"), Drain(node=0, partitions=(0,), max_size=1)], ids=repr
)
def test_accumulator_judge_refuses_a_refusal_within_the_domain(call: AccumulatorCall) -> None:
    judge = BatchLedger(WHEELPROOF, Tally())
    judge.judge(Reset(config=_CONFIG), AccumulatorObservation())
    violation = judge.judge_refusal(call, RefusedError("IllegalArgument", "no"))
    assert violation is not None
    assert violation.rule == AccumulatorClause.KEEPS_TO_ITS_DOMAIN


def test_accumulator_judge_refuses_a_split_of_one_record_that_is_carried_out() -> None:
    judge, port = BatchLedger(WHEELPROOF, Tally()), ReferenceAccumulatorPort()
    for call in (Reset(config=_CONFIG), _append("a"), _drain()):
        assert judge_call(judge, port, call) is None
    port.close()
    split = Split(batch="b1", size=1)
    violation = judge.judge(split, AccumulatorObservation(children=1))
    assert violation is not None
    assert violation.rule == AccumulatorClause.KEEPS_TO_ITS_DOMAIN


def test_accumulator_scenarios_test_every_clause() -> None:
    tally = Tally(clauses_of(AccumulatorClause, Wire.DRIVEN, WHEELPROOF))
    for scenario in ACCUMULATOR.scenarios():
        assert _broken_rule(scenario, RecordAccumulator, WHEELPROOF, tally) is None
    assert tally.untested() == ()


def test_accumulator_gauges_that_are_known_limits_are_not_judged() -> None:
    tally = Tally(limits=DEFINITION.skippable)
    for calls, spoil, clause in _SPOILT:
        if clause in DEFINITION.skippable:
            assert _spoiled(calls, spoil, tally) is None
    assert all(tally.skipped.values())
    assert len(tally.skipped) == 3


@pytest.mark.parametrize("number", [0, 1, 63, 64, 8_191, 8_192])
def test_record_sizes_are_those_of_the_reference(number: int) -> None:
    for size in (*range(200), *range(8_000, 8_300), 2**20 - 12, 2**20, 2**21):
        payload = payload_size(None, bytes(size), ())
        assert record_size(number, size) == record_size_of_the_reference(number, 0, payload)
        assert upper_bound(size) == batch_size_upper_bound(payload)
    assert EMPTY_BATCH == RECORD_BATCH_OVERHEAD


@pytest.mark.parametrize(
    "call",
    [
        Reset(config=_CONFIG),
        _append("a"),
        Append(
            record="a",
            partition=1,
            size=0,
            max_time_to_block_ms=5,
            fault=AppendFault.ALLOCATOR,
            callback=CallbackFault.RAISES,
        ),
        Ready(leaders={0: 1, 2: 0}),
        Ready(leaders={}),
        Drain(node=0, partitions=(0, 1), max_size=9),
        Respond(batch="b1", offset=4),
        Respond(batch="b1"),
        Reenqueue(batch="b1"),
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
    assert _WIRE.parse_call(operation, fields) == call


@pytest.mark.parametrize(
    ("call", "seen"),
    [
        (Reset(config=_CONFIG), AccumulatorObservation()),
        (
            Respond(batch="b1", offset=3),
            AccumulatorObservation(
                called_back=(
                    Callback(record="a", offset=3, error=None),
                    Callback(record="b", offset=None, error=FAILED),
                ),
                appended=(AppendedRecord(record="c", batch_is_full=True, new_batch_created=False),),
                refused={"d": AppendRefusal.CLOSED},
                flushed={"f": True},
                available_memory=3,
                has_undrained=False,
                has_incomplete=True,
                flush_in_progress=False,
                in_flight_ended=False,
                overwritten=("b1",),
            ),
        ),
        (
            Drain(node=0, partitions=(0,), max_size=1),
            AccumulatorObservation(
                batches=(
                    DrainedBatch(batch="b2", partition=1, records=("a", "b")),
                    DrainedBatch(batch="b1", partition=0, records=()),
                )
            ),
        ),
        (
            Ready(leaders={}),
            AccumulatorObservation(
                ready_nodes=(0, 2), unknown_leader_topics=("t",), next_ready_check_delay_ms=3
            ),
        ),
        (Split(batch="b1", size=1), AccumulatorObservation(children=2)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_accumulator_answer_survives_the_wire(
    call: AccumulatorCall, seen: AccumulatorObservation
) -> None:
    fields = parse_answer(format_answer(1, _WIRE.answer(call, seen)), 1)
    assert not isinstance(fields, Refusal)
    assert _WIRE.parse_answer(fields, call) == seen


@pytest.mark.parametrize(("call", "fields", "complaint"), _MALFORMED)
def test_accumulator_answer_that_is_malformed(
    call: AccumulatorCall, fields: JsonObject, complaint: str
) -> None:
    with pytest.raises(MalformedError, match=complaint):
        _WIRE.parse_answer(fields, call)


@pytest.mark.parametrize(
    ("operation", "message", "complaint"),
    [
        ("ready", {"args": {"leaders": {"x": 0}}}, "no number"),
        ("abort", {"args": {}}, "unknown field"),
        ("explode", {}, "unknown operation"),
        (
            "append",
            {
                "args": {
                    "record": "a",
                    "partition": 0,
                    "size": 1,
                    "max_time_to_block_ms": 0,
                    "fault": "no",
                }
            },
            "'no' that is not",
        ),
    ],
)
def test_accumulator_call_that_is_malformed(
    operation: str, message: JsonObject, complaint: str
) -> None:
    with pytest.raises(MalformedError, match=complaint):
        _WIRE.parse_call(operation, message)
