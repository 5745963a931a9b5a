"""The rules that the history of an accumulator can break, each with its words."""

from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.oracle import AccumulatorClause


def called_back_wrongly(name: str, observed: str) -> Violation:
    """A callback that does not belong to an append, or belongs to one that had its callback."""
    return Violation(
        rule=AccumulatorClause.COMPLETES_ONCE,
        expected=f"one callback of {name!r}, after its append began, unless that is refused",
        observed=observed,
        reason="callbacks run exactly once (semantics.md 4.11)",
    )


def never_called_back(name: str, why: str) -> Violation:
    """A callback is missing."""
    return Violation(
        rule=AccumulatorClause.COMPLETES_ONCE,
        expected=f"{name!r} is called back",
        observed="it was not",
        reason=f"its append was accepted, and {why}",
    )


def neither_offset_nor_error(offset: int | None, error: str | None) -> Violation:
    """A callback that says nothing, or both."""
    return Violation(
        rule="Accumulator.AnswersWithAnOffsetOrAnError",
        expected="an offset or an error",
        observed=f"offset {offset}, error {error}",
        reason="a record either has its place or has failed (semantics.md 4.11)",
    )


def wrong_outcome(name: str, batch: str, expected: str, observed: str) -> Violation:
    """A record of a batch was told something else than the others."""
    return Violation(
        rule=AccumulatorClause.RIGHT_OUTCOME,
        expected=expected,
        observed=observed,
        reason=f"{name!r} gets the result of batch {batch!r} plus its place (semantics.md 4.11)",
    )


def called_back_out_of_order(name: str, earlier: str) -> Violation:
    """A callback overtook that of an earlier record."""
    return Violation(
        rule=AccumulatorClause.IN_ORDER,
        expected=f"{earlier!r} is called back before {name!r}",
        observed=f"{name!r} is called back, {earlier!r} is not",
        reason=f"the append of {earlier!r} had returned when that of {name!r} began, in the same "
        "partition (semantics.md 4.11)",
    )


def expired_early(name: str, age_ms: int, timeout_ms: int) -> Violation:
    """A record expired before its delivery timeout."""
    return Violation(
        rule=AccumulatorClause.EXPIRES_IN_TIME,
        expected=f"{name!r} does not expire before its batch is {timeout_ms} ms old",
        observed=f"it expires, {age_ms} ms old at most",
        reason="a batch expires when its delivery timeout has passed (semantics.md 4.5)",
    )


def drained_wrongly(batch: str, expected: str, observed: str, reason: str) -> Violation:
    """A drain took what it may not take."""
    return Violation(
        rule=AccumulatorClause.DRAINS_THE_HEADS,
        expected=expected,
        observed=f"the drain takes batch {batch!r}: {observed}",
        reason=reason,
    )


def flushed_too_early(name: str) -> Violation:
    """A flush did not wait."""
    return Violation(
        rule=AccumulatorClause.FLUSH_WAITS,
        expected=f"{name!r} is called back before the flush returns",
        observed="the flush returns, and it was not",
        reason="its append had returned when the flush began (semantics.md 4.8)",
    )


def accepted_after_close(name: str) -> Violation:
    """An append was served after close."""
    return Violation(
        rule="Accumulator.RefusesAfterClose",
        expected=f"the append of {name!r} is refused",
        observed="it is accepted",
        reason="close had returned before it began (semantics.md 4.1, 4.9)",
    )


def refused_while_open(name: str) -> Violation:
    """An append was refused as after close."""
    return Violation(
        rule=AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
        expected=f"{name!r} is accepted, or memory is exhausted",
        observed="it was refused because the accumulator is closed",
        reason="neither close nor abort has been called",
    )


def exhausted_with_memory(name: str, held: int, total: int) -> Violation:
    """An append was refused though there was memory."""
    return Violation(
        rule=AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
        expected=f"{name!r} is accepted",
        observed="refused because memory is exhausted",
        reason=f"with what it needs itself at most {held} of {total} bytes can have been held, and "
        "nobody else asked for any (semantics.md 3.2)",
    )


def gave_up_early(name: str) -> Violation:
    """An append was refused before its time was over."""
    return Violation(
        rule=AccumulatorClause.APPEND_ENDS_FOR_A_REASON,
        expected=f"the append of {name!r} waits for memory as long as it may",
        observed="refused earlier because memory is exhausted",
        reason="a time-out lasts at least its limit (semantics.md 3.3, 5)",
    )


def holds_too_much(held: int, total: int) -> Violation:
    """More batches than memory."""
    return Violation(
        rule=AccumulatorClause.MEMORY_IS_CONSERVED,
        expected=f"at most {total} bytes are held",
        observed=f"the batches that have not ended hold {held} bytes at least",
        reason="the memory of a batch is given back when the batch has ended (semantics.md 3.9)",
    )


def wrong_memory(least: int, most: int, seen: int) -> Violation:
    """What is available and what is held do not add up."""
    return Violation(
        rule=AccumulatorClause.MEMORY_IS_CONSERVED,
        expected=f"{least} to {most} bytes are available",
        observed=f"{seen} bytes",
        reason="what is available and what batches hold add up to the total (semantics.md 3.9)",
    )
