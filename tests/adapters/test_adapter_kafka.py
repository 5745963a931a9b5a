"""Apache Kafka's own timing wheel, driven: its verdict, and its known limits as they are."""

from collections.abc import Iterator

import pytest

from support.drive.adapters import KAFKA, conform
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    TimerCall,
    TimerClause,
    TimerConfig,
    TimerLimit,
    TimerObservation,
)
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.drive.driver.session import DriverSession

pytestmark = pytest.mark.slow

TimerDriver = DriverPort[TimerCall, TimerObservation]
_WIRE = DrivenWire(DEFINITION)
SOON = DriverLimits(timeout_s=1.0)
LONGEST_64_BIT = 2**63 - 1


@pytest.fixture
def port(kafka: str) -> Iterator[TimerDriver]:
    with DriverSession(kafka, SOON) as session:
        session.introduce()
        yield DriverPort(session, _WIRE.parse_answer)


def test_kafka_passes(kafka: str) -> None:
    result = conform(kafka, 150, KAFKA / "known-limits.txt", must_fail=True)
    assert result.verdict is Verdict.PASS
    assert result.implementation is not None
    assert result.implementation.implementation == "kafka-server-common and kafka-clients"
    # Kafka's cancel returns nothing that could be judged.
    silent = {TimerClause.CANCEL_TELLS_THE_TRUTH, *TimerLimit}
    assert all(count.checked > 0 for count in result.clauses if count.clause not in silent)


def test_the_version_is_that_of_the_jar(kafka: str) -> None:
    with DriverSession(kafka) as session:
        version = session.introduce().version
    assert (KAFKA / "target" / "lib" / f"kafka-server-common-{version}.jar").is_file()


def test_a_wheel_of_one_bucket_recurses_without_end(
    port: TimerDriver,
) -> None:
    port.perform(Reset(config=TimerConfig(wheel_size=1)))
    assert port.perform(Add(task="now", delay_ms=0)).fired == ("now",)
    with pytest.raises(RefusedError, match="StackOverflowError"):
        port.perform(Add(task="later", delay_ms=1))


def test_the_longest_64_bit_delay_runs_at_once(
    port: TimerDriver,
) -> None:
    port.perform(Reset(config=TimerConfig(start_ms=1)))
    assert port.perform(Add(task="never", delay_ms=LONGEST_64_BIT)).fired == ("never",)


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(1, 2), (1_000, 64)])
def test_a_very_long_delay_divides_by_zero(
    tick_ms: int, wheel_size: int, port: TimerDriver
) -> None:
    port.perform(Reset(config=TimerConfig(tick_ms=tick_ms, wheel_size=wheel_size)))
    with pytest.raises(RefusedError, match="by zero"):
        port.perform(Add(task="never", delay_ms=2**62))


def test_with_the_usual_wheel_a_delay_of_a_whole_interval_of_64_bits_never_ends(
    port: TimerDriver,
) -> None:
    """From 20^14 ms on, the bucket's expiration lies before the entry's, and flush goes on."""
    port.perform(Reset(config=TimerConfig()))
    assert port.perform(Add(task="far", delay_ms=20**14 - 1)).fired == ()
    assert port.perform(Advance(to_ms=10)).fired == ()
    port.perform(Reset(config=TimerConfig()))
    assert port.perform(Add(task="too far", delay_ms=20**14)).fired == ()
    with pytest.raises(DriverFailedError, match="was silent"):
        port.perform(Advance(to_ms=10))


def test_what_is_no_request_is_refused(port: TimerDriver) -> None:
    port.perform(Reset(config=TimerConfig()))
    with pytest.raises(RefusedError):
        port.perform(Add(task="never", delay_ms=LONGEST_64_BIT + 1))
    with pytest.raises(RefusedError, match="IllegalArgument"):
        port.perform(Reset(config=TimerConfig(tick_ms=0)))
    port.perform(Advance(to_ms=5))
    with pytest.raises(RefusedError, match="cannot go back"):
        port.perform(Advance(to_ms=4))
