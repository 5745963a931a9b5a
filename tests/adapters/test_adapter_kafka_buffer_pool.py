"""Apache Kafka's own BufferPool, driven: its verdict, and its known limits as they are."""

from collections.abc import Iterator

import pytest
from wheelproof_spec.components.buffer_pool.calls import (
    Advance,
    Allocate,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolObservation,
    Reset,
    parse_pool_answer,
)

from support.drive.adapters import KAFKA, conform
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.oracle import PoolClause, PoolOutcome
from wheelproof_spec.engines.drive.driver.port import DriverPort
from wheelproof_spec.engines.drive.driver.session import DriverSession

pytestmark = pytest.mark.slow

PoolDriver = DriverPort[PoolCall, PoolObservation]
LIMITS = KAFKA / "known-limits-buffer_pool.txt"
GIB = 2**30
LONG_MS = 60_000


@pytest.fixture
def port(kafka: str) -> Iterator[PoolDriver]:
    with DriverSession(kafka) as session:
        session.introduce()
        yield DriverPort(session, parse_pool_answer)


def test_kafka_passes_under_its_own_profile(kafka: str) -> None:
    result = conform(kafka, 60, LIMITS, "kafka", "buffer_pool", must_fail=True)
    assert result.verdict is Verdict.PASS
    judged = [count for count in result.clauses if count.clause in tuple(PoolClause)]
    assert all(count.checked > 0 for count in judged)


def test_kafka_serves_newcomers_before_those_who_wait(kafka: str) -> None:
    result = conform(kafka, 1, LIMITS, "longest-waiting-first", "buffer_pool")
    assert {failure.violation.rule for failure in result.failures} == {
        PoolClause.LONGEST_WAITING_FIRST
    }
    scenario = result.failures[0]
    assert scenario.case == "a newcomer and a thread that waits for more than there is"
    assert len(scenario.lines) == 4


def test_with_2_gib_of_pooled_buffers_the_pool_does_not_see_them(port: PoolDriver) -> None:
    port.perform(Reset(config=PoolConfig(total_memory=2 * GIB, poolable_size=GIB)))
    for call in ("a", "b"):
        assert _allocate(port, call, GIB).ended == {call: PoolOutcome.BUFFER}
    for call in ("a", "b"):
        port.perform(Deallocate(call=call))
    waiting = _allocate(port, "c", 1)
    assert (waiting.available, waiting.queued, waiting.ended) == (2 * GIB, 1, {})
    late = port.perform(Advance(to_ms=LONG_MS))
    assert late.ended == {"c": PoolOutcome.EXHAUSTED}


def test_a_buffer_that_is_given_back_twice_has_two_users(port: PoolDriver) -> None:
    port.perform(Reset(config=PoolConfig(total_memory=16, poolable_size=16)))
    _allocate(port, "a", 16)
    port.perform(Deallocate(call="a"))
    assert port.perform(Deallocate(call="a")).available == 32
    for call in ("b", "c"):
        assert _allocate(port, call, 16).ended == {call: PoolOutcome.BUFFER}


def _allocate(port: PoolDriver, call: str, size: int) -> PoolObservation:
    return port.perform(Allocate(call=call, size=size, timeout_ms=LONG_MS))
