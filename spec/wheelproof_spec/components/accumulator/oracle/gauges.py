"""Compares the gauges that the accumulator reports with the ledger."""

from collections.abc import Callable

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.component import (
    AccumulatorClause,
    AccumulatorObservation,
)
from wheelproof_spec.components.accumulator.oracle.queues import Queues

Tests = Callable[[str], bool]
Wrong = Callable[[AccumulatorClause, str, str], Violation]


def judge_gauges(
    seen: AccumulatorObservation,
    queues: Queues,
    tests: Tests,
    wrong: Wrong,
    *,
    flushing: bool,
    waiting: bool,
) -> Violation | None:
    """Return a violation, made by `wrong`, if a gauge is wrong once no thread can go on.

    `flushing` says whether a flush is under way, `waiting` whether an append waits.
    """
    right = {
        "has_undrained": queues.is_any_queued(),
        "has_incomplete": queues.is_any_incomplete(),
        "in_flight_ended": False,
    }
    told = {
        "has_undrained": seen.has_undrained,
        "has_incomplete": seen.has_incomplete,
        "in_flight_ended": seen.in_flight_ended,
    }
    clause = AccumulatorClause.NOTHING_IS_LEFT
    if any(gauge is not None for gauge in told.values()) and tests(clause):
        different = [name for name, gauge in told.items() if gauge not in (None, right[name])]
        if different:
            expected = ", ".join(f"{name}: {right[name]}" for name in different)
            observed = ", ".join(f"{name}: {told[name]}" for name in different)
            return wrong(clause, expected, observed)
    clause = AccumulatorClause.FLUSH_ENDS
    if seen.flush_in_progress is not None:
        tests(clause)
    if seen.flush_in_progress not in (None, flushing):
        expected, other = ("a flush waits", "no flush waits")[:: 1 if flushing else -1]
        return wrong(clause, expected, f"the gauge says that {other}")
    clause = AccumulatorClause.NOT_OVERWRITTEN
    if seen.overwritten is not None and tests(clause) and seen.overwritten:
        expected = "the memory of a request is left alone until its response"
        return wrong(clause, expected, f"the memory of {', '.join(seen.overwritten)} was reused")
    clause = AccumulatorClause.MEMORY_IS_CONSERVED
    if seen.available_memory is None or not tests(clause):
        return None
    most = queues.free_memory()
    # An append that waits may already hold a part of the memory that it needs.
    if seen.available_memory == most or (waiting and 0 <= seen.available_memory <= most):
        return None
    return wrong(clause, f"{most} bytes available", f"{seen.available_memory} bytes available")
