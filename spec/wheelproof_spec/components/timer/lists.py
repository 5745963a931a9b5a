"""The threaded machine for the lists: entries that several threads move at the same time.

It puts far more contention on one entry than a timer does, where a move between two lists is rare.
After each burst every list is flushed, which shows whether the links, the counter and the entries
agree (standard 1.6, 1.13, 1.18).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from wheelproof.sync import atomic_integer, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_spec.base.clause import Clause, Said
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.components.timer.reference import TimerVariant
from wheelproof_spec.drive.work import Alphabet, Draw, Kind
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz, setups_of
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


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEntry(Call):
    """Add an entry to a list."""

    entry: int
    to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveEntry(Call):
    """Remove an entry from the list that it is in."""

    entry: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """How many lists there are, and how many entries."""

    lists: int
    entries: int


class _Moves:
    def setup(self, draw: Draw) -> Lists:
        """Return the numbers, which are always the same."""
        del draw
        return Lists(lists=_LISTS, entries=_ENTRIES)

    def kinds(self) -> Alphabet[Lists, AddEntry | RemoveEntry]:
        """Return the alphabet; see `Work.kinds`."""
        return {
            "add": Kind(
                draw=lambda draw, _: AddEntry(entry=draw.below(_ENTRIES), to=draw.below(_LISTS)),
                weight=1,
            ),
            "remove": Kind(draw=lambda draw, _: RemoveEntry(entry=draw.below(_ENTRIES)), weight=1),
        }


def run_list_fuzz(variant: TimerVariant, plan: FuzzPlan) -> FuzzReport:
    """Let threads move entries between lists of `variant`; see `run_burst_fuzz`."""
    work = _Moves()
    return run_burst_fuzz(
        "timer task lists, real threads",
        lambda case: _ListsUnderTest(variant.bucket_class, case.preemption()),
        setups_of(work),
        bursts_of(work),
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

    def run(self, burst: Burst[AddEntry | RemoveEntry]) -> Violation | None:
        """Run one burst, then flush all lists and compare."""
        self._before = self._preemption
        try:
            run_burst(
                [[self._call(step) for step in program] for program in burst], DEFINITION.title()
            )
        except BurstError as error:
            return error.violation
        return self._flush()

    def _call(self, step: AddEntry | RemoveEntry) -> Callable[[], None]:
        entry = self._entries[step.entry]
        if isinstance(step, AddEntry):
            return partial(self._lists[step.to].add, entry)
        return entry.remove

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
        reason=f"after threads had moved entries at the same time: {observed}, expected {expected}",
    )
