"""Apache Kafka's own BufferPool, driven: its verdict, and its known limits as they are."""

from collections.abc import Iterator

import pytest

from support.drive.adapters import KAFKA, conform
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    Allocate,
    Deallocate,
    PoolCall,
    PoolClause,
    PoolConfig,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.session import DriverSession

pytestmark = pytest.mark.slow

PoolDriver = DriverPort[PoolCall, PoolObservation]
LIMITS = KAFKA / "known-limits-buffer_pool.txt"
GIB = 2**30
LONG_MS = 60_000


@pytest.fixture
def port(kafka: str) -> Iterator[PoolDriver]:
    with DriverSession(kafka) as session:
        session.introduce()
        yield DriverPort(session, DrivenWire(DEFINITION).parse_answer)


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
    for buffer in ("a", "b"):
        assert _allocate(port, buffer, GIB).ended == {buffer: PoolOutcome.BUFFER}
    for buffer in ("a", "b"):
        port.perform(Deallocate(buffer=buffer))
    waiting = _allocate(port, "c", 1)
    assert (waiting.available_memory, waiting.queued, waiting.ended) == (2 * GIB, 1, {})
    late = port.perform(Advance(to_ms=LONG_MS))
    assert late.ended == {"c": PoolOutcome.EXHAUSTED}


def test_a_buffer_that_is_given_back_twice_has_two_users(port: PoolDriver) -> None:
    port.perform(Reset(config=PoolConfig(total_memory=16, poolable_size=16)))
    _allocate(port, "a", 16)
    port.perform(Deallocate(buffer="a"))
    assert port.perform(Deallocate(buffer="a")).available_memory == 32
    for buffer in ("b", "c"):
        assert _allocate(port, buffer, 16).ended == {buffer: PoolOutcome.BUFFER}


def _allocate(port: PoolDriver, buffer: str, size: int) -> PoolObservation:
    return port.perform(Allocate(buffer=buffer, size=size, max_time_to_block_ms=LONG_MS))
