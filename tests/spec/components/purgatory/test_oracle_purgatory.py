"""The oracle's purgatory: each clause can be broken, and what the rules leave open is let pass."""

import pytest

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.component import (
    KAFKA,
    WHEELPROOF,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryCall,
    PurgatoryClause,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.oracle import PurgatoryOracle

_NOTHING = PurgatoryObservation()
_NOT_YET = PurgatoryObservation(completed=False)


class _Case:
    """An oracle that is told what was seen."""

    def __init__(
        self,
        *operations: TryCompleteElseWatch,
        profile: str = WHEELPROOF,
        purge_interval: int = 1_000,
        limits: tuple[str, ...] = (),
    ) -> None:
        self.tally = Tally(PurgatoryClause, limits)
        self.oracle = PurgatoryOracle(profile, self.tally)
        config = PurgatoryConfig(purge_interval=purge_interval)
        assert self.rule(Reset(config=config), _NOTHING) is None
        for operation in operations:
            assert self.rule(operation, _NOT_YET) is None

    def rule(self, call: PurgatoryCall, seen: PurgatoryObservation = _NOTHING) -> str | None:
        violation = self.oracle.judge(call, seen)
        return None if violation is None else violation.rule

    def set(self) -> str | None:
        return self.rule(SetCondition(condition="p"))

    def check(self, count: int, *completed: str, key: str = "k") -> str | None:
        seen = PurgatoryObservation(count=count, on_complete=completed)
        return self.rule(CheckAndComplete(key=key), seen)

    def force(self, name: str) -> str | None:
        seen = PurgatoryObservation(completed=True, on_complete=(name,))
        return self.rule(ForceComplete(operation=name), seen)

    def cancel(self, *cancelled: str) -> str | None:
        return self.rule(CancelForKey(key="k"), PurgatoryObservation(cancelled=cancelled))

    def advance(self, to_ms: int, *expired: str) -> str | None:
        seen = PurgatoryObservation(on_complete=expired, on_expiration=expired)
        return self.rule(Advance(to_ms=to_ms), seen)

    def gauges(
        self, watched: int | None = None, delayed: int | None = None, keys: int | None = None
    ) -> str | None:
        seen = PurgatoryObservation(watched=watched, num_delayed=delayed, num_keys=keys)
        return self.rule(AskGauges(), seen)


def _operation(
    name: str, keys: str = "k", conditions: str = "p", delay_ms: int = 10
) -> TryCompleteElseWatch:
    return TryCompleteElseWatch(
        operation=name, delay_ms=delay_ms, keys=tuple(keys), conditions=tuple(conditions)
    )


def test_a_trigger_completes_who_can_end() -> None:
    case = _Case(_operation("a"), _operation("b", conditions="q"), _operation("c", keys="l"))
    assert case.set() is None
    assert case.check(1, "a") is None
    assert case.oracle.alive() == ("b", "c")


def test_a_trigger_that_misses_somebody() -> None:
    case = _Case(_operation("a"), _operation("b"))
    case.set()
    assert case.check(1, "a") == PurgatoryClause.TRIGGER_COMPLETES


@pytest.mark.repeats("pu-watchers-walk")
def test_a_trigger_in_another_order() -> None:
    case = _Case(_operation("a"), _operation("b"))
    case.set()
    assert case.check(2, "b", "a") == PurgatoryClause.TRIES_IN_WATCH_ORDER


def test_a_trigger_that_counts_wrong() -> None:
    case = _Case(_operation("a"))
    case.set()
    assert case.check(0, "a") == PurgatoryClause.COUNTS_COMPLETED


def test_a_completion_without_a_trigger() -> None:
    case = _Case(_operation("a"))
    seen = PurgatoryObservation(on_complete=("a",))
    assert case.rule(SetCondition(condition="p"), seen) == PurgatoryClause.COMPLETES_FOR_A_REASON


def test_a_second_completion() -> None:
    case = _Case(_operation("a"))
    assert case.force("a") is None
    assert case.check(1, "a") == PurgatoryClause.COMPLETES_AT_MOST_ONCE


def test_a_watch_that_completes_and_says_no() -> None:
    case = _Case()
    case.set()
    seen = PurgatoryObservation(completed=False, on_complete=("a",))
    assert case.rule(_operation("a"), seen) == PurgatoryClause.ANSWERS_TRULY


@pytest.mark.parametrize(("to_ms", "expired"), [(9, ("a",)), (10, ())], ids=["early", "late"])
def test_an_expiry_at_the_wrong_time(to_ms: int, expired: tuple[str, ...]) -> None:
    assert _Case(_operation("a")).advance(to_ms, *expired) == PurgatoryClause.EXPIRES_IN_TIME


def test_expiries_in_the_wrong_order() -> None:
    for order, rule in (("ab", PurgatoryClause.EXPIRES_IN_TIME), ("ba", None)):
        case = _Case(_operation("a", delay_ms=20), _operation("b", delay_ms=10))
        assert case.advance(20, *order) == rule


def test_an_expiry_of_who_has_no_time_out_any_more() -> None:
    case = _Case(_operation("a", keys="kl"), profile=KAFKA)
    assert case.cancel("a") is None
    assert case.advance(10, "a") == PurgatoryClause.EXPIRES_IN_TIME


def test_a_cancel_returns_exactly_who_waits() -> None:
    assert _Case(_operation("a"), _operation("b")).cancel("a", "b") is None
    for wrong in ((), ("a",), ("a", "b", "b"), ("a", "b", "c")):
        case = _Case(_operation("a"), _operation("b"))
        assert case.cancel(*wrong) == PurgatoryClause.CANCELS_WHO_WAITS


@pytest.mark.parametrize("profile", [WHEELPROOF, KAFKA])
def test_what_is_cancelled_stays_alive_under_its_other_keys_in_kafka_alone(profile: str) -> None:
    case = _Case(_operation("a", keys="kl"), profile=profile)
    assert case.cancel("a") is None
    assert case.advance(10) is None
    case.set()
    assert (case.check(1, "a", key="l") is None) == (profile == KAFKA)


@pytest.mark.parametrize("profile", [WHEELPROOF, KAFKA])
def test_a_cancel_may_return_who_is_done_in_kafka_alone(profile: str) -> None:
    case = _Case(_operation("a"), profile=profile)
    case.force("a")
    assert (case.cancel("a") is None) == (profile == KAFKA)


@pytest.mark.repeats("pu-gauges")
def test_gauges_may_count_leftovers_but_not_miss_who_waits() -> None:
    case = _Case(_operation("a", keys="kl"), _operation("b"))
    case.force("b")
    for watched in (2, 3):
        assert case.gauges(watched=watched, delayed=1, keys=2) is None
    for watched in (1, 4):
        assert case.gauges(watched=watched) == PurgatoryClause.WATCHED_COUNTS
    for delayed in (0, 2):
        assert case.gauges(delayed=delayed) == PurgatoryClause.DELAYED_COUNTS
    for keys in (1, 3):
        assert case.gauges(keys=keys) == PurgatoryClause.NO_EMPTY_KEY


@pytest.mark.repeats("pu-walk-drops")
def test_a_visit_leaves_nobody_who_is_done() -> None:
    case = _Case(_operation("a", keys="kl"))
    case.force("a")
    assert case.check(0) is None
    assert case.gauges(watched=1, keys=1) is None
    assert case.gauges(watched=2) == PurgatoryClause.WATCHED_COUNTS


def test_garbage_beyond_the_interval_is_purged_by_an_advance() -> None:
    operations = [_operation(name, delay_ms=5 if name == "c" else 50) for name in "abc"]
    case = _Case(*operations, purge_interval=1)
    for name in "ab":
        case.force(name)
    assert case.gauges(watched=3) is None
    assert case.advance(5, "c") is None
    assert case.gauges(watched=1) is None
    assert case.gauges(watched=2) == PurgatoryClause.WATCHED_COUNTS


def test_who_may_have_been_purged_before_forces_no_purge() -> None:
    case = _Case(*[_operation(name, delay_ms=50) for name in "ab"], purge_interval=1)
    case.force("a")
    assert case.advance(1) is None
    case.force("b")
    assert case.advance(2) is None
    for watched in (0, 1):
        assert case.gauges(watched=watched) is None
    assert case.gauges(watched=2) == PurgatoryClause.WATCHED_COUNTS


def test_each_clause_is_counted_where_it_is_tested() -> None:
    case = _Case(_operation("a"), _operation("b"))
    case.set()
    case.check(2, "a", "b")
    checked = {clause: times for clause, times in case.tally.checked.items() if times}
    assert checked == {
        PurgatoryClause.ACCEPTS_ITS_DOMAIN: 4,
        PurgatoryClause.ANSWERS_TRULY: 2,
        PurgatoryClause.COMPLETES_AT_MOST_ONCE: 2,
        PurgatoryClause.COMPLETES_FOR_A_REASON: 2,
        PurgatoryClause.TRIGGER_COMPLETES: 2,
        PurgatoryClause.TRIES_IN_WATCH_ORDER: 1,
        PurgatoryClause.COUNTS_COMPLETED: 1,
    }


def test_a_known_limit_is_not_judged() -> None:
    case = _Case(_operation("a"), limits=(PurgatoryClause.WATCHED_COUNTS,))
    assert case.gauges(watched=7) is None
    assert case.tally.skipped == {PurgatoryClause.WATCHED_COUNTS: 1}
    assert case.gauges(keys=7) == PurgatoryClause.NO_EMPTY_KEY


def test_a_call_of_the_domain_may_not_be_refused() -> None:
    case = _Case()
    violation = case.oracle.judge_refusal(_operation("a"), RefusedError("IllegalArgument", "no"))
    assert violation.rule == PurgatoryClause.ACCEPTS_ITS_DOMAIN
