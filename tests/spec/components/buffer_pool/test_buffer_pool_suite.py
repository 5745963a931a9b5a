"""The named cases of the buffer pool: the reference passes all, each known bug fails one."""

from dataclasses import replace

import pytest

from wheelproof.producer import BufferPool
from wheelproof.producer.byte_buffer import ByteBuffer
from wheelproof.producer.pooled_memory import Loan, PooledMemory
from wheelproof_lab.bugs.buffer_pool import BUGS, BufferPoolBug
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.port import first_violation
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    KAFKA,
    LONGEST_WAITING_FIRST,
    Allocate,
    Deallocate,
    PoolCall,
    PoolClause,
    PoolConfig,
    PoolFault,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.drive.driver.messages import (
    Refusal,
    format_answer,
    format_request,
    parse_answer,
    parse_request,
)

WIRE = DrivenWire(DEFINITION)


def _broken_rule(
    scenario: Scenario[PoolCall],
    pool_class: type[BufferPool],
    profile: str,
    tally: Tally | None = None,
) -> str | None:
    port = ReferencePoolPort(pool_class)
    try:
        violation = first_violation(PoolOracle(profile, tally or Tally()), port, scenario.calls)
    finally:
        port.close()
    return None if violation is None else violation.rule


@pytest.mark.parametrize("profile", DEFINITION.profiles)
@pytest.mark.parametrize("scenario", BUFFER_POOL.scenarios(), ids=lambda scenario: scenario.name)
def test_pool_scenario_passes_on_the_reference(scenario: Scenario[PoolCall], profile: str) -> None:
    assert _broken_rule(scenario, BufferPool, profile) is None


def test_pool_scenarios_test_every_clause() -> None:
    tally = Tally(clauses_of(PoolClause, Wire.DRIVEN, LONGEST_WAITING_FIRST))
    for scenario in BUFFER_POOL.scenarios():
        assert _broken_rule(scenario, BufferPool, LONGEST_WAITING_FIRST, tally) is None
    assert tally.untested() == ()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_pool_scenarios_show_the_known_bugs(bug: BufferPoolBug) -> None:
    assert any(
        _broken_rule(scenario, bug.pool_class, LONGEST_WAITING_FIRST)
        for scenario in BUFFER_POOL.scenarios()
    )


def test_pool_of_kafka_is_allowed_to_let_newcomers_go_first() -> None:
    barging = find_bug(BUGS, "barging").pool_class
    for scenario in BUFFER_POOL.scenarios():
        assert _broken_rule(scenario, barging, KAFKA) is None


@pytest.mark.parametrize(
    ("at_ms", "total_ns", "ratio_ppm", "right"),
    [
        (4, 0, 0, True),
        (4, 4_000_000, 133, True),
        (4, 5_000_000, 0, False),
        (10, 10_000_000, 333, True),
        (10, 10_000_000, 111, True),
        (10, 10_000_000, 0, False),
        (10, 10_000_000, 1_000_000, False),
        (10, 10, 333, False),
        (10, 0, 333, False),
        (110_000, 10_000_000, 0, True),
        (110_000, 10_000_000, 1, False),
    ],
)
def test_pool_judge_knows_how_long_was_waited(
    at_ms: int, total_ns: int, ratio_ppm: int, right: bool
) -> None:
    judge = PoolOracle(DEFINITION.profiles[0], Tally())
    calls: tuple[PoolCall, ...] = (
        Reset(config=PoolConfig(total_memory=10, poolable_size=1)),
        Allocate(buffer="a", size=10, max_time_to_block_ms=0),
        Allocate(buffer="b", size=5, max_time_to_block_ms=10),
        *(Advance(to_ms=to_ms) for to_ms in (4, 10, 110_000) if to_ms <= at_ms),
    )
    port = ReferencePoolPort()
    for call in calls[:-1]:
        assert judge.judge(call, port.perform(call)) is None
    seen = port.perform(calls[-1])
    port.close()
    told = replace(seen, wait_time_ns_total=total_ns, wait_ratio_ppm=ratio_ppm)
    violation = judge.judge(calls[-1], told)
    assert (None if violation is None else violation.rule) == (
        None if right else PoolClause.COUNTS_WAITS
    )


@pytest.mark.parametrize(
    "call",
    [
        Reset(config=PoolConfig(total_memory=5, poolable_size=1)),
        Allocate(buffer="a", size=1, max_time_to_block_ms=2, fault=PoolFault.METRIC),
        Allocate(buffer="a", size=1, max_time_to_block_ms=2),
        Deallocate(buffer="a"),
        Interrupt(name="a"),
        Advance(to_ms=3),
        Close(),
    ],
    ids=repr,
)
def test_pool_call_survives_the_wire(call: PoolCall) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert WIRE.parse_call(operation, fields) == call


def test_pool_answer_survives_the_wire() -> None:
    call = Deallocate(buffer="a")
    seen = PoolObservation(ended={"b": PoolOutcome.BUFFER}, available_memory=3, queued=0)
    fields = parse_answer(format_answer(1, WIRE.answer(call, seen)), 1)
    assert not isinstance(fields, Refusal)
    assert WIRE.parse_answer(fields, call) == seen


def test_pool_answer_with_an_unknown_outcome_is_malformed() -> None:
    with pytest.raises(MalformedError, match="'gone' that is not 'buffer' or"):
        WIRE.parse_answer({"ended": {"a": "gone"}}, Deallocate(buffer="a"))


class _KeepsNothing(PooledMemory):
    def take_back(self, buffer: ByteBuffer, size: int) -> None:
        del buffer
        self.non_pooled += size


class _TakesNoKeptBuffer(PooledMemory):
    def take(self, size: int) -> Loan:
        self.free_up(size)
        self.non_pooled -= size
        loan = Loan(size)
        self.loans.add(loan)
        return loan


class _BreaksUpAll(PooledMemory):
    def free_up(self, wanted: int) -> None:
        super().free_up(wanted)
        self.non_pooled += len(self.free) * self.poolable_size
        self.free.clear()


@pytest.mark.parametrize("profile", DEFINITION.profiles)
@pytest.mark.parametrize("wrong", [_KeepsNothing, _TakesNoKeptBuffer, _BreaksUpAll])
def test_a_pool_that_does_not_keep_its_buffers_fails(
    wrong: type[PooledMemory], profile: str
) -> None:
    class _Pool(BufferPool):
        _memory_class = wrong

    found = {_broken_rule(scenario, _Pool, profile) for scenario in BUFFER_POOL.scenarios()}
    assert found - {None} == {PoolClause.KEEPS_BUFFERS}


@pytest.mark.parametrize("outcome", PoolOutcome)
@pytest.mark.parametrize("last", [Interrupt(name="b"), Close(), Deallocate(buffer="a")], ids=repr)
def test_whatever_ends_a_wait_a_metric_that_fails_ends_the_call(
    last: PoolCall, outcome: PoolOutcome
) -> None:
    judge = PoolOracle(DEFINITION.profiles[0], Tally())
    for call, ended in (
        (Reset(config=PoolConfig(total_memory=10, poolable_size=1)), {}),
        (Allocate(buffer="a", size=10, max_time_to_block_ms=0), {"a": PoolOutcome.BUFFER}),
        (Allocate(buffer="b", size=5, max_time_to_block_ms=9, fault=PoolFault.METRIC), {}),
    ):
        assert judge.judge(call, PoolObservation(ended=ended)) is None
    violation = judge.judge(last, PoolObservation(ended={"b": outcome}))
    assert (violation is None) is (outcome is PoolOutcome.METRIC_FAILED)


@pytest.mark.parametrize("outcome", [PoolOutcome.EXHAUSTED, PoolOutcome.INTERRUPTED])
def test_an_interrupt_before_the_call_ends_a_wait_without_time(outcome: PoolOutcome) -> None:
    judge = PoolOracle(DEFINITION.profiles[0], Tally())
    lent = Allocate(buffer="a", size=10, max_time_to_block_ms=0)
    late = replace(lent, buffer="b", fault=PoolFault.INTERRUPTED_BEFORE)
    reset = Reset(config=PoolConfig(total_memory=10, poolable_size=1))
    assert judge.judge(reset, PoolObservation()) is None
    assert judge.judge(lent, PoolObservation(ended={"a": PoolOutcome.BUFFER})) is None
    violation = judge.judge(late, PoolObservation(ended={"b": outcome}))
    broken = None if outcome is PoolOutcome.INTERRUPTED else PoolClause.INTERRUPTION_ENDS_THE_WAIT
    assert (None if violation is None else violation.rule) == broken
