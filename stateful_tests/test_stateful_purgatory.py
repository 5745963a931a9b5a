"""The state machine of a purgatory: right purgatories pass, wrong ones and known bugs fail.

The threads of the wrong ones run in one order, so their races happen whenever threads meet.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

import pytest

from support import seeds
from support.contract_tests import NOT_SMALLER, failure, machine_of, steps
from support.testing import wrong_purgatories as wrong
from support.testing.heap_purgatory import HeapPurgatory
from support.testing.meeting import run_in_order
from support.testing.python_purgatory import ReferencePurgatory
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.purgatory import BUGS
from wheelproof_spec.testing import MakePurgatory, PurgatoryClause, PurgatoryMachine


@pytest.mark.campaign
class TestReference(PurgatoryMachine):
    make = ReferencePurgatory
    seed = seeds.seed(PurgatoryMachine.seed)


@pytest.mark.campaign
class TestHeapPurgatory(PurgatoryMachine):
    """One lock for the map of keys, and a heap of time-outs."""

    make = HeapPurgatory
    seed = seeds.seed(PurgatoryMachine.seed)


class _InOrder(PurgatoryMachine):
    """The threads of a burst run in the order of `support.testing.meeting`."""

    def run_burst(self, programs: Sequence[Sequence[Callable[[], object]]], of: str) -> object:
        return run_in_order(programs, of)


_RACES: Collection[object] = (
    wrong.TriesOnce,
    wrong.LooksThenSets,
    wrong.ExpiresTheCompleted,
    wrong.CancelsTheCompleted,
    wrong.AddsTimeoutsOfTheDone,
)
"""The wrong ones that one thread does not show."""


@pytest.mark.parametrize(
    ("made", "clause"),
    [
        (wrong.CompletesAgain, PurgatoryClause.COMPLETES_AT_MOST_ONCE),
        (wrong.NeverTriesAtHandIn, PurgatoryClause.TRIGGER_COMPLETES),
        (wrong.KeepsTimeouts, PurgatoryClause.DELAYED_COUNTS),
        (wrong.ExpiresTheDone, PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION),
        (wrong.NeverTellsOfExpiry, PurgatoryClause.COMPLETES_FOR_A_REASON),
        (wrong.LeavesTheDue, PurgatoryClause.EXPIRES_IN_TIME),
        (wrong.CountsTheTried, PurgatoryClause.COUNTS_COMPLETED),
        (wrong.NewestFirst, PurgatoryClause.TRIES_IN_WATCH_ORDER),
        (wrong.TriesTheFirst, PurgatoryClause.TRIGGER_COMPLETES),
        (wrong.CancelLeavesOne, PurgatoryClause.CANCELS_WHO_WAITS),
        (wrong.CancelsTimeouts, PurgatoryClause.CANCELS_WHO_WAITS),
        (wrong.CancelsWithoutTelling, PurgatoryClause.CANCELS_WHO_WAITS),
        (wrong.ForceLies, PurgatoryClause.ANSWERS_TRULY),
        (wrong.KeepsKeys, PurgatoryClause.NO_EMPTY_KEY),
        (wrong.CountsTheDone, PurgatoryClause.WATCHED_COUNTS),
        (wrong.TriesOnce, PurgatoryClause.TRIGGER_COMPLETES),
        (wrong.LooksThenSets, PurgatoryClause.COMPLETES_AT_MOST_ONCE),
        (wrong.ExpiresTheCompleted, PurgatoryClause.EXPIRES_ONCE_AFTER_COMPLETION),
        (wrong.CancelsTheCompleted, PurgatoryClause.CANCELS_WHO_WAITS),
        (wrong.AddsTimeoutsOfTheDone, PurgatoryClause.DELAYED_COUNTS),
    ],
)
def test_a_wrong_purgatory_fails_by_its_clause(
    made: MakePurgatory, clause: PurgatoryClause
) -> None:
    error = failure(machine_of(_InOrder, made, settings=NOT_SMALLER))
    assert error.violation.rule == clause
    first, *between, last = steps(error)
    assert first.startswith("state.new_purgatory("), "shown as code"
    assert last == "state.teardown()"
    is_race = made in _RACES
    assert between[-1].startswith(("state.together(", "state.race(")) == is_race


_FOUND: Mapping[str, PurgatoryClause] = {
    "KAFKA-664": PurgatoryClause.WATCHED_COUNTS,
    "KAFKA-2160": PurgatoryClause.NO_EMPTY_KEY,
    "cancels-timeout-only": PurgatoryClause.CANCELS_WHO_WAITS,
    "estimate-overwritten": PurgatoryClause.WATCHED_COUNTS,
}
"""All known bugs of a purgatory that one thread can meet.

KAFKA-19567 is none: it is a predicate that is wrong, and here the machine makes the predicates.
"""


@pytest.mark.parametrize("bug", _FOUND)
def test_a_known_bug_is_found_by_one_call_after_the_other(bug: str) -> None:
    bugs = {"purgatory_class": find_bug(BUGS, bug).purgatory_class}
    made = type("Buggy", (ReferencePurgatory,), bugs)
    error = failure(machine_of(PurgatoryMachine, made, settings=NOT_SMALLER))
    assert error.violation.rule == _FOUND[bug]
    assert not any(step.startswith(("state.together(", "state.race(")) for step in steps(error))
