"""Judges the answers about the future: ready nodes, the next check, and the next expiry."""

from collections.abc import Callable
from dataclasses import dataclass, field

from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import NEVER_MS
from wheelproof_spec.components.accumulator.component import (
    AccumulatorClause,
    AccumulatorObservation,
)

Tests = Callable[[str], bool]
Wrong = Callable[[AccumulatorClause, str, str], Violation]


@dataclass(slots=True)
class Outlook:
    """The readiness that the heads of all queues imply (standard 4.2)."""

    nodes: set[int] = field(default_factory=set[int])
    """The nodes that are ready."""
    perhaps: set[int] = field(default_factory=set[int])
    """The nodes that may be ready."""
    topics: set[str] = field(default_factory=set[str])
    """The topics with data in a partition without a leader."""
    waits: list[tuple[int, int | None]] = field(default_factory=list[tuple[int, int | None]])
    """For each queue that is not ready: its node, and the time left in ms, None if not known."""

    def delays_ms(self, told: set[int]) -> set[int] | None:
        """Return the right delays until the next check; None if one is not known.

        `told` has the nodes that were reported ready: whether the other batches of such a node
        count depends on the order in which the implementation visits the queues.
        """
        known = [(node, left_ms) for node, left_ms in self.waits if left_ms is not None]
        if len(known) < len(self.waits):
            return None
        longest_ms = min((left_ms for node, left_ms in known if node not in told), default=NEVER_MS)
        sooner = {left_ms for _, left_ms in known if left_ms < longest_ms}
        return {longest_ms, *sooner}


def judge_ready(
    seen: AccumulatorObservation, outlook: Outlook, tests: Tests, wrong: Wrong, slack_ms: int
) -> Violation | None:
    """Return a violation, made by `wrong`, if an answer to `ready` is wrong.

    A time may be off by `slack_ms`.
    """
    clause, told = AccumulatorClause.READY_TELLS_THE_TRUTH, set(seen.ready_nodes)
    tests(clause)
    if not outlook.nodes <= told <= outlook.nodes | outlook.perhaps:
        expected = f"ready nodes: {sorted(outlook.nodes)}"
        return wrong(clause, expected, f"ready nodes: {sorted(told)}")
    clause, topics = AccumulatorClause.NAMES_TOPICS, seen.unknown_leader_topics
    if topics is not None and tests(clause) and set(topics) != outlook.topics:
        expected = f"topics without a leader: {sorted(outlook.topics)}"
        return wrong(clause, expected, f"topics without a leader: {sorted(topics)}")
    clause, delay_ms = AccumulatorClause.CHECKS_AGAIN_IN_TIME, seen.next_ready_check_delay_ms
    right = outlook.delays_ms(told)
    if delay_ms is None or right is None:
        return None
    tests(clause)
    if any(_is_about(delay_ms, right_ms, slack_ms) for right_ms in right):
        return None
    expected = " or ".join(_shown(right_ms) for right_ms in sorted(right))
    return wrong(clause, f"next check {expected}", f"next check {_shown(delay_ms)}")


def judge_next_expiry(
    told_ms: int | None, right_ms: int, tests: Tests, wrong: Wrong, slack_ms: int
) -> Violation | None:
    """Return what is wrong with the time of the next expiry."""
    clause = AccumulatorClause.TELLS_NEXT_EXPIRY
    if told_ms is None:
        return None
    tests(clause)
    if _is_about(told_ms, right_ms, slack_ms):
        return None
    expected, told = ("never" if at >= NEVER_MS else f"at {at} ms" for at in (right_ms, told_ms))
    return wrong(clause, f"next expiry {expected}", f"next expiry {told}")


def _is_about(told_ms: int, right_ms: int, slack_ms: int) -> bool:
    if right_ms >= NEVER_MS:
        return told_ms >= NEVER_MS
    return abs(told_ms - right_ms) <= slack_ms


def _shown(delay_ms: int) -> str:
    return "never" if delay_ms >= NEVER_MS else f"in {delay_ms} ms"
