"""The oracle's purgatory: each clause can be broken, and what the rules leave open is let pass."""

import pytest
from wheelproof_spec.components.purgatory.contract import (
    KAFKA_PURGATORY,
    NO_CALLBACKS,
    STRICT_PURGATORY,
    Callbacks,
    Gauges,
    OperationSpec,
    PurgatoryClause,
    PurgatoryContract,
)

from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory


def _oracle(
    contract: PurgatoryContract = STRICT_PURGATORY, purge_interval: int = 1_000
) -> OraclePurgatory:
    return OraclePurgatory(tick_ms=1, start_ms=0, purge_interval=purge_interval, contract=contract)


def _spec(name: str, keys: str = "k", conditions: str = "p", delay_ms: int = 10) -> OperationSpec:
    return OperationSpec(
        name=name, delay_ms=delay_ms, keys=tuple(keys), conditions=tuple(conditions)
    )


def _with(*specs: OperationSpec, contract: PurgatoryContract = STRICT_PURGATORY) -> OraclePurgatory:
    oracle = _oracle(contract)
    for spec in specs:
        assert oracle.watch(spec, False, NO_CALLBACKS) is None
    return oracle


def _completed(*names: str) -> Callbacks:
    return Callbacks(completed=names)


def _expired(*names: str) -> Callbacks:
    return Callbacks(completed=names, expired=names)


def _rule(violation: Violation | None) -> str | None:
    return None if violation is None else violation.rule


def test_a_trigger_completes_who_can_end() -> None:
    oracle = _with(_spec("a"), _spec("b", conditions="q"), _spec("c", keys="l"))
    assert oracle.set("p", NO_CALLBACKS) is None
    assert oracle.check("k", 1, _completed("a")) is None
    assert oracle.alive() == {"b", "c"}


def test_a_trigger_that_misses_somebody() -> None:
    oracle = _with(_spec("a"), _spec("b"))
    oracle.set("p", NO_CALLBACKS)
    assert _rule(oracle.check("k", 1, _completed("a"))) == PurgatoryClause.TRIGGER_COMPLETES


def test_a_trigger_in_another_order() -> None:
    oracle = _with(_spec("a"), _spec("b"))
    oracle.set("p", NO_CALLBACKS)
    violation = oracle.check("k", 2, _completed("b", "a"))
    assert _rule(violation) == PurgatoryClause.TRIES_IN_WATCH_ORDER


def test_a_trigger_that_counts_wrong() -> None:
    oracle = _with(_spec("a"))
    oracle.set("p", NO_CALLBACKS)
    assert _rule(oracle.check("k", 0, _completed("a"))) == PurgatoryClause.COUNTS_COMPLETED


def test_a_completion_without_a_trigger() -> None:
    oracle = _with(_spec("a"))
    assert _rule(oracle.set("p", _completed("a"))) == PurgatoryClause.COMPLETES_FOR_A_REASON


def test_a_second_completion() -> None:
    oracle = _with(_spec("a"))
    assert oracle.force("a", True, _completed("a")) is None
    violation = oracle.check("k", 1, _completed("a"))
    assert _rule(violation) == PurgatoryClause.COMPLETES_AT_MOST_ONCE


def test_a_watch_that_completes_and_says_no() -> None:
    oracle = _oracle()
    oracle.set("p", NO_CALLBACKS)
    violation = oracle.watch(_spec("a"), False, _completed("a"))
    assert _rule(violation) == PurgatoryClause.ANSWERS_TRULY


@pytest.mark.parametrize(
    ("to_ms", "seen"), [(9, _expired("a")), (10, NO_CALLBACKS)], ids=["early", "late"]
)
def test_an_expiry_at_the_wrong_time(to_ms: int, seen: Callbacks) -> None:
    violation = _with(_spec("a")).advance_to(to_ms, seen)
    assert _rule(violation) == PurgatoryClause.EXPIRES_IN_TIME


def test_a_cancel_returns_exactly_who_waits() -> None:
    assert _with(_spec("a"), _spec("b")).cancel("k", ("a", "b"), NO_CALLBACKS) is None
    for wrong in ((), ("a",), ("a", "b", "b"), ("a", "b", "c")):
        violation = _with(_spec("a"), _spec("b")).cancel("k", wrong, NO_CALLBACKS)
        assert _rule(violation) == PurgatoryClause.CANCELS_WHO_WAITS


def test_what_is_cancelled_stays_alive_under_its_other_keys_in_kafka_alone() -> None:
    for contract in (STRICT_PURGATORY, KAFKA_PURGATORY):
        oracle = _with(_spec("a", keys="kl"), contract=contract)
        assert oracle.cancel("k", ("a",), NO_CALLBACKS) is None
        assert oracle.advance_to(10, NO_CALLBACKS) is None
        oracle.set("p", NO_CALLBACKS)
        violation = oracle.check("l", 1, _completed("a"))
        assert (violation is None) == (contract is KAFKA_PURGATORY)


def test_a_cancel_may_return_who_is_done_in_kafka_alone() -> None:
    for contract in (STRICT_PURGATORY, KAFKA_PURGATORY):
        oracle = _with(_spec("a"), contract=contract)
        oracle.force("a", True, _completed("a"))
        violation = oracle.cancel("k", ("a",), NO_CALLBACKS)
        assert (violation is None) == (contract is KAFKA_PURGATORY)


def test_gauges_may_count_leftovers_but_not_miss_who_waits() -> None:
    oracle = _with(_spec("a", keys="kl"), _spec("b"))
    oracle.force("b", True, _completed("b"))
    for watched in (2, 3):
        assert oracle.gauges(Gauges(watched=watched, delayed=1, keys=2), NO_CALLBACKS) is None
    wrong = {
        PurgatoryClause.WATCHED_COUNTS: (Gauges(watched=1), Gauges(watched=4)),
        PurgatoryClause.DELAYED_COUNTS: (Gauges(delayed=0), Gauges(delayed=2)),
        PurgatoryClause.NO_EMPTY_KEY: (Gauges(keys=1), Gauges(keys=3)),
    }
    for rule, many in wrong.items():
        assert {_rule(oracle.gauges(gauges, NO_CALLBACKS)) for gauges in many} == {rule}


def test_a_visit_leaves_nobody_who_is_done() -> None:
    oracle = _with(_spec("a", keys="kl"))
    oracle.force("a", True, _completed("a"))
    oracle.check("k", 0, NO_CALLBACKS)
    assert oracle.gauges(Gauges(watched=1, keys=1), NO_CALLBACKS) is None
    violation = oracle.gauges(Gauges(watched=2), NO_CALLBACKS)
    assert _rule(violation) == PurgatoryClause.WATCHED_COUNTS


def test_garbage_beyond_the_interval_is_purged_by_an_advance() -> None:
    oracle = _oracle(purge_interval=1)
    for name in "abc":
        oracle.watch(_spec(name, delay_ms=5 if name == "c" else 50), False, NO_CALLBACKS)
    for name in "ab":
        oracle.force(name, True, _completed(name))
    assert oracle.gauges(Gauges(watched=3), NO_CALLBACKS) is None
    assert oracle.advance_to(5, _expired("c")) is None
    assert oracle.gauges(Gauges(watched=1), NO_CALLBACKS) is None
    violation = oracle.gauges(Gauges(watched=2), NO_CALLBACKS)
    assert _rule(violation) == PurgatoryClause.WATCHED_COUNTS


def test_who_may_have_been_purged_before_forces_no_purge() -> None:
    oracle = _oracle(purge_interval=1)
    for name in "ab":
        oracle.watch(_spec(name, delay_ms=50), False, NO_CALLBACKS)
    oracle.force("a", True, _completed("a"))
    assert oracle.advance_to(1, NO_CALLBACKS) is None
    oracle.force("b", True, _completed("b"))
    assert oracle.advance_to(2, NO_CALLBACKS) is None
    for watched in (0, 1):
        assert oracle.gauges(Gauges(watched=watched), NO_CALLBACKS) is None
    violation = oracle.gauges(Gauges(watched=2), NO_CALLBACKS)
    assert _rule(violation) == PurgatoryClause.WATCHED_COUNTS
