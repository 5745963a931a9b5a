"""The threaded machine for the lists: entries that several threads move at the same time.

It puts far more contention on one entry than a timer does, where a move between two lists is rare.
After each burst every list is flushed, which shows whether the links, the counter and the entries
agree (standard 1.6, 1.13, 1.18).
"""

from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st

from wheelproof.sync import atomic_integer, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.components.timer.reference import TimerVariant
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz
from wheelproof_spec.fuzz.hooks import (
    Hook,
    InstrumentedRuntime,
    StepLimit,
    StepLimitExceededError,
)
from wheelproof_spec.fuzz.threaded_case import Burst

_LISTS = 3
_ENTRIES = 3
_STEPS_OF_A_FLUSH = 1_000


class ListClause(Clause):
    """The promises of a timer's lists, which only this machine can check."""

    FLUSH_ENDS = (
        "Timer.FlushEnds",
        Said(rule="1.6", promise="A flush empties its list, and ends."),
    )
    LINKS_ARE_CONSISTENT = (
        "Timer.LinksAreConsistent",
        Said(
            rule="1.13",
            promise="Every link leads on, and a list reaches every entry that it holds.",
        ),
    )
    ENTRY_IN_ONE_LIST = (
        "Timer.EntryInOneListAtMost",
        Said(rule="1.18", promise="An entry is in one list at most."),
    )
    COUNTER_EQUALS_LINKED = (
        "Timer.CounterEqualsLinkedEntries",
        Said(rule="1.14, 1.18", promise="The counter is the number of entries in all lists."),
    )


def run_list_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Let threads move entries between lists of `variant`; see `run_burst_fuzz`."""
    entries = st.integers(0, _ENTRIES - 1)
    adds = st.builds("add {} {}".format, entries, st.integers(0, _LISTS - 1))
    return run_burst_fuzz(
        "timer task lists, real threads",
        lambda case: _ListsUnderTest(variant.bucket_class, case.preemption()),
        st.just((("lists", _LISTS), ("entries", _ENTRIES))),
        bursts_of(adds | st.builds("remove {}".format, entries)),
        plan,
    )


class _ListsUnderTest:
    def __init__(self, bucket_class: type[TimerTaskList], preemption: Hook) -> None:
        self._preemption = preemption
        self._before: Hook = preemption
        with use_runtime(InstrumentedRuntime(ThreadsRuntime(), self._before_operation)):
            self._counter = atomic_integer(0, "task counter")
            self._lists = [bucket_class(self._counter) for _ in range(_LISTS)]
            self._entries = [TimerTaskEntry(_IdleTask(0), Millis(0)) for _ in range(_ENTRIES)]

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst, then flush all lists and compare."""
        self._before = self._preemption
        try:
            run_burst(
                [[self._call(words) for words in program] for program in burst], DEFINITION.title()
            )
        except BurstError as error:
            return error.violation
        return self._flush()

    def _call(self, words: str) -> Callable[[], None]:
        kind, *numbers = words.split()
        entry = self._entries[int(numbers[0])]
        if kind == "remove":
            return entry.remove
        return partial(self._lists[int(numbers[1])].add, entry)

    def _flush(self) -> Violation | None:
        counted = self._counter.get()
        flushed: list[TimerTaskEntry] = []
        self._before = StepLimit(_STEPS_OF_A_FLUSH)
        try:
            for bucket in self._lists:
                bucket.flush(flushed.append)
        except StepLimitExceededError as error:
            return _broken(ListClause.FLUSH_ENDS, "flush empties the list", str(error))
        except AttributeError as error:
            return _broken(ListClause.LINKS_ARE_CONSISTENT, "every link leads on", str(error))
        if len(set(map(id, flushed))) != len(flushed):
            return _broken(
                ListClause.ENTRY_IN_ONE_LIST, "no entry in two lists", f"{len(flushed)} flushed"
            )
        if counted != len(flushed):
            return _broken(
                ListClause.COUNTER_EQUALS_LINKED,
                f"the counter at {len(flushed)}, the entries flushed",
                f"the counter at {counted}",
            )
        held = [entry for entry in self._entries if entry.list.get() is not None]
        if held:
            return _broken(
                ListClause.LINKS_ARE_CONSISTENT,
                "every entry that a list holds is flushed from it",
                f"{len(held)} held by a list that no longer reaches them",
            )
        return None

    def _before_operation(self) -> None:
        self._before()


class _IdleTask(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: entries are moved here, never submitted."""


def _broken(clause: ListClause, expected: str, observed: str) -> Violation:
    return Violation(
        rule=clause,
        expected=expected,
        observed=observed,
        reason="threads that moved entries at the same time left the lists inconsistent",
    )
