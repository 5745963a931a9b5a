"""Netty's own HashedWheelTimer, driven: right by its own profile, wrong by the others."""

import re

import pytest

from support.drive.adapters import NETTY, conform
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TimerClause,
    TimerConfig,
    TimerLimit,
)
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.session import DriverSession

pytestmark = pytest.mark.slow

_WIRE = DrivenWire(DEFINITION)
LIMITS = NETTY / "known-limits.txt"


def test_netty_passes_under_its_own_profile(netty: str) -> None:
    result = conform(netty, 100, LIMITS, "hashed-wheel", must_fail=True)
    assert result.verdict is Verdict.PASS
    assert result.subject.startswith("netty-common 4.")
    silent = {TimerClause.SIZE_COUNTS_WAITING, *TimerLimit}
    assert all(count.checked > 0 for count in result.clauses if count.clause not in silent)


@pytest.mark.parametrize("profile", ["kafka", "never-early"])
def test_netty_is_late_by_a_tick_for_whoever_expects_another_contract(
    netty: str, profile: str
) -> None:
    result = conform(netty, 5, LIMITS, profile)
    assert result.verdict is Verdict.FAIL
    rules = {failure.violation.rule for failure in result.failures}
    assert rules == {TimerClause.NOTHING_LEFT_BEHIND}
    reasons = [failure.violation.reason for failure in result.failures]
    late = re.compile(r"'t0' was due at (\d+) ms; advance\(\1\) returned without running it")
    assert any(late.fullmatch(reason) for reason in reasons), reasons


def test_the_known_limits_are_as_they_say(netty: str) -> None:
    with DriverSession(netty) as session:
        session.introduce()
        port = DriverPort(session, _WIRE.parse_answer)
        port.perform(Reset(config=TimerConfig(tick_ms=10)))
        port.perform(Add(task="a", delay_ms=35))
        assert port.perform(Cancel(task="a")).cancelled is True
        assert port.perform(Size()).size == 1
        assert port.perform(Advance(to_ms=10)).fired == ()
        assert port.perform(Size()).size == 0
        port.perform(Add(task="b", delay_ms=-25))
        assert port.perform(Advance(to_ms=19)).fired == ()
        assert port.perform(Advance(to_ms=20)).fired == ("b",)
