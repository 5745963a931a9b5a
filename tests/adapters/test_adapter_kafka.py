"""Apache Kafka's own timing wheel, driven: its verdict, and its known limits as they are."""

from collections.abc import Iterator

import pytest
from adapter_support import KAFKA, conform

from wheelproof_spec.conformance.driver_process import DriverFailedError, DriverLimits
from wheelproof_spec.conformance.driver_session import DriverSession
from wheelproof_spec.conformance.driver_timer import DriverTimerPort
from wheelproof_spec.conformance.timer_clauses import TimerClause, TimerLimit
from wheelproof_spec.conformance.timer_port import RefusedError, TimerConfig
from wheelproof_spec.verdicts import Verdict

pytestmark = pytest.mark.slow

SOON = DriverLimits(timeout_s=1.0)
LONGEST_64_BIT = 2**63 - 1


@pytest.fixture
def port(kafka: str) -> Iterator[DriverTimerPort]:
    with DriverSession(kafka, SOON) as session:
        session.introduce()
        yield DriverTimerPort(session)


def test_kafka_passes(kafka: str) -> None:
    result = conform(kafka, 150, KAFKA / "known-limits.txt")
    assert result.verdict is Verdict.PASS
    assert result.implementation is not None
    assert result.implementation.implementation == "kafka-server-common"
    # Kafka's cancel returns nothing that could be judged.
    silent = {TimerClause.CANCEL_TELLS_THE_TRUTH, *TimerLimit}
    assert all(count.checked > 0 for count in result.clauses if count.clause not in silent)


def test_the_version_is_that_of_the_jar(kafka: str) -> None:
    with DriverSession(kafka) as session:
        version = session.introduce().version
    assert (KAFKA / "target" / "lib" / f"kafka-server-common-{version}.jar").is_file()


def test_a_wheel_of_one_bucket_recurses_without_end(port: DriverTimerPort) -> None:
    port.reset(TimerConfig(wheel_size=1))
    assert port.add("now", 0).fired == ("now",)
    with pytest.raises(RefusedError, match="StackOverflowError"):
        port.add("later", 1)


def test_the_longest_64_bit_delay_runs_at_once(port: DriverTimerPort) -> None:
    port.reset(TimerConfig(start_ms=1))
    assert port.add("never", LONGEST_64_BIT).fired == ("never",)


@pytest.mark.parametrize(("tick_ms", "wheel_size"), [(1, 2), (1_000, 64)])
def test_a_very_long_delay_divides_by_zero(
    tick_ms: int, wheel_size: int, port: DriverTimerPort
) -> None:
    port.reset(TimerConfig(tick_ms=tick_ms, wheel_size=wheel_size))
    with pytest.raises(RefusedError, match="by zero"):
        port.add("never", 2**62)


def test_with_the_usual_wheel_a_delay_of_a_whole_interval_of_64_bits_never_ends(
    port: DriverTimerPort,
) -> None:
    """From 20^14 ms on, the bucket's expiration lies before the entry's, and flush goes on."""
    port.reset(TimerConfig())
    assert port.add("far", 20**14 - 1).fired == ()
    assert port.advance(10).fired == ()
    port.reset(TimerConfig())
    assert port.add("too far", 20**14).fired == ()
    with pytest.raises(DriverFailedError, match="was silent"):
        port.advance(10)


def test_what_is_no_request_is_refused(port: DriverTimerPort) -> None:
    port.reset(TimerConfig())
    with pytest.raises(RefusedError):
        port.add("never", LONGEST_64_BIT + 1)
    with pytest.raises(RefusedError, match="IllegalArgument"):
        port.reset(TimerConfig(tick_ms=0))
    port.advance(5)
    with pytest.raises(RefusedError, match="cannot go back"):
        port.advance(4)
