"""Each known bug of the timer: the variant breaks in one chosen run, the reference holds in it."""

import pytest

from support.reference.interleaving import Interleaving, Step
from support.reference.timer import NamedTask
from support.reference.timer_bug_runs import CASES, Case
from wheelproof.sync import atomic_integer
from wheelproof.timer import SystemTimer, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import (
    BUGS,
    UnguardedEntryBucket,
)

_TAKE_ENTRY = Step("TimerTaskEntry.monitor", "__enter__")
_SET_LIST = Step("TimerTaskEntry.list", "set")
_IN_PROGRAMS = {
    "reaper-ends-at-error",
    "cancelled-error-ends-executor",
    "failed-start-counts",
    "close-wakes-one",
}
"""They need the thread of a reaper, of an executor or of a second advance: programs have it."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.scenario.__name__)
def test_the_variant_breaks_and_the_reference_holds(case: Case) -> None:
    assert case.scenario(find_bug(BUGS, case.bug_id).timer_class) == case.broken
    assert case.scenario(SystemTimer) == case.right


def _two_lists_race(list_class: type[TimerTaskList]) -> tuple[int, int]:
    """Return the counter once both lists have added one entry, and once that was removed."""
    with Interleaving() as interleaving:
        counter = atomic_integer(0, "counter")
        one, other = list_class(counter), list_class(counter)
        entry = TimerTaskEntry(NamedTask("raced for", 0, []), Millis(0))
        first = interleaving.run(lambda: one.add(entry))
        assert first.until(_SET_LIST)
        second = interleaving.run(lambda: other.add(entry))
        second.until(_TAKE_ENTRY)
        first.finish()
        second.finish()
        linked = counter.get()
        entry.remove()
        return linked, counter.get()


@pytest.mark.repeats("x-entry-lock")
def test_two_lists_race_for_one_entry() -> None:
    assert _two_lists_race(UnguardedEntryBucket) == (2, 1)
    assert _two_lists_race(TimerTaskList) == (1, 0)


def test_every_known_bug_of_the_timer_is_shown_here() -> None:
    shown = {case.bug_id for case in CASES} | {"entry-monitor-dropped"}
    assert shown | _IN_PROGRAMS == {bug.id for bug in BUGS}
    assert not shown & _IN_PROGRAMS
