"""The named cases of the buffer pool: the reference passes all, each known bug fails one."""

import pytest
from wheelproof_spec.components.buffer_pool.calls import (
    Allocate,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolObservation,
    Reset,
    parse_pool_answer,
    parse_pool_call,
    pool_answer,
)
from wheelproof_spec.components.buffer_pool.judge import PoolJudge
from wheelproof_spec.components.buffer_pool.scenarios import pool_scenarios

from wheelproof.producer import BufferPool
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.buffer_pool.oracle import (
    KAFKA_POOL,
    LONGEST_WAITING_FIRST,
    PoolContract,
    PoolFault,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.components.bugs import BUFFER_POOL_BUGS, BufferPoolBug, find_bug
from wheelproof_spec.engines.drive.driver.messages import (
    Refusal,
    format_answer,
    format_request,
    parse_answer,
    parse_request,
)


def _broken_rule(
    scenario: Scenario[PoolCall], pool_class: type[BufferPool], contract: PoolContract
) -> str | None:
    judge, port = PoolJudge(contract), ReferencePoolPort(pool_class)
    try:
        for call in scenario.calls:
            violation = judge_call(judge, port, call)
            if violation is not None:
                return violation.rule
        return None
    finally:
        port.close()


@pytest.mark.parametrize("contract", [LONGEST_WAITING_FIRST, KAFKA_POOL], ids=lambda one: one.name)
@pytest.mark.parametrize("scenario", pool_scenarios(), ids=lambda one: one.name)
def test_pool_scenario_passes_on_the_reference(
    scenario: Scenario[PoolCall], contract: PoolContract
) -> None:
    assert _broken_rule(scenario, BufferPool, contract) is None


@pytest.mark.parametrize("bug", BUFFER_POOL_BUGS, ids=lambda bug: bug.id)
def test_pool_scenarios_show_the_known_bugs(bug: BufferPoolBug) -> None:
    assert any(
        _broken_rule(scenario, bug.pool_class, LONGEST_WAITING_FIRST)
        for scenario in pool_scenarios()
    )


def test_pool_of_kafka_is_allowed_to_let_newcomers_go_first() -> None:
    barging = find_bug(BUFFER_POOL_BUGS, "barging").pool_class
    for scenario in pool_scenarios():
        assert _broken_rule(scenario, barging, KAFKA_POOL) is None


@pytest.mark.parametrize(
    "call",
    [
        Reset(config=PoolConfig(total_memory=5, poolable_size=1)),
        Allocate(call="a", size=1, timeout_ms=2, fault=PoolFault.METRIC),
        Allocate(call="a", size=1, timeout_ms=2),
        Deallocate(call="a"),
    ],
    ids=repr,
)
def test_pool_call_survives_the_wire(call: PoolCall) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert parse_pool_call(operation, fields) == call


def test_pool_answer_survives_the_wire() -> None:
    call = Deallocate(call="a")
    seen = PoolObservation(ended={"b": PoolOutcome.BUFFER}, available=3, queued=0)
    fields = parse_answer(format_answer(1, pool_answer(call, seen)), 1)
    assert not isinstance(fields, Refusal)
    assert parse_pool_answer(fields, call) == seen


def test_pool_answer_with_an_unknown_outcome_is_malformed() -> None:
    with pytest.raises(MalformedError, match="unknown value"):
        parse_pool_answer({"ended": {"a": "gone"}}, Deallocate(call="a"))
