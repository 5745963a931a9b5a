"""Uses that nobody had thought of, drawn or explored: each of these engines found a defect.

docs/findings/reference.md tells of the defects. Nothing here names one of them.
"""

from collections.abc import Callable

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from support import seeds
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.errors import IllegalArgumentError
from wheelproof.producer import (
    AccumulatorConfig,
    BufferPool,
    Cluster,
    NodeId,
    Record,
    RecordAccumulator,
)
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.purgatory.disciplines import MonitorDiscipline
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.topic_partition import TopicPartition
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.program import Program, Scenario
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.making import discarding

_RUNS = settings(
    max_examples=seeds.runs(60, hunted=2_000), deadline=None, derandomize=not seeds.hunting()
)


class _Task(TimerTask):
    def run(self) -> None:
        """Do nothing."""


class Bindings(RuleBasedStateMachine):
    """Tasks, entries and lists in any use, beside who is bound to what, and what is where."""

    @initialize()
    def begin(self) -> None:
        """Make two tasks with two entries each, and two lists."""
        self.count = sync.atomic_integer(0, "count")
        self.lists = [TimerTaskList(self.count), TimerTaskList(self.count)]
        self.tasks = [_Task(1), _Task(1)]
        self.entries = [TimerTaskEntry(task, Millis(1)) for task in self.tasks * 2]
        self.bound: dict[TimerTask, TimerTaskEntry] = {}
        self.place: dict[TimerTaskEntry, TimerTaskList] = {}

    @rule(number=st.integers(0, 3))
    def bind(self, number: int) -> None:
        """Bind a task to one of its entries; another one leaves its list."""
        entry = self.entries[number]
        older = self.bound.get(entry.timer_task)
        if older is not None and older is not entry:
            self.place.pop(older, None)
        self.bound[entry.timer_task] = entry
        entry.timer_task.set_timer_task_entry(entry)
        self.compare()

    @rule(number=st.integers(0, 3), bucket=st.integers(0, 1))
    def link(self, number: int, bucket: int) -> None:
        """Put an entry into a list, out of any other."""
        self.place[self.entries[number]] = self.lists[bucket]
        self.lists[bucket].add(self.entries[number])
        self.compare()

    @rule(number=st.integers(0, 1))
    def cancel(self, number: int) -> None:
        """Cancel a task: its entry leaves its list."""
        entry = self.bound.pop(self.tasks[number], None)
        if entry is not None:
            self.place.pop(entry, None)
        assert self.tasks[number].cancel() == (entry is not None)
        self.compare()

    def compare(self) -> None:
        """Compare the places of all entries, and their number."""
        assert [entry.list.get() for entry in self.entries] == [
            self.place.get(entry) for entry in self.entries
        ]
        assert self.count.get() == len(self.place)
        for task in self.tasks:
            assert task.get_timer_task_entry() is self.bound.get(task)


TestBindings = Bindings.TestCase
TestBindings.settings = settings(max_examples=60, deadline=None, derandomize=True)


@pytest.mark.campaign
@seed(seeds.seed(33_019))
@_RUNS
@given(asked=st.lists(st.integers(0, 2), min_size=2, max_size=12))
def test_errors_of_records_are_as_long_at_the_last_look_as_at_the_first(asked: list[int]) -> None:
    clock, partition = ManualClock(), TopicPartition("topic", 0)
    accumulator = RecordAccumulator(
        BufferPool(2_000, 500), AccumulatorConfig(batch_size=500), clock=clock
    )
    record = Record(timestamp_ms=0, value=b"value")
    futures = [accumulator.append(partition, record).future for _ in range(3)]
    accumulator.begin_flush()
    [batch] = accumulator.drain(Cluster(leaders={partition: NodeId(1)}), [NodeId(1)], 1_000, 0)[
        NodeId(1)
    ]
    accumulator.fail_batch(batch, ValueError("refused"))
    seen: list[BaseException] = []
    lengths: list[int] = []
    for number in asked:
        try:
            futures[number].get(0)
        except ValueError as error:
            seen.append(error)
            lengths.append(_length(error))
    assert len(lengths) == len(asked)
    assert len(set(lengths)) == 1
    assert len({id(error) for error in seen}) == len(seen)


def _length(error: BaseException) -> int:
    length, here = 0, error.__traceback__
    while here is not None:
        length, here = length + 1, here.tb_next
    return length


class _Ready(DelayedOperation):
    """Can be completed from the beginning."""

    def try_complete(self) -> bool:
        """Complete at once."""
        return self.force_complete()

    def on_complete(self) -> None:
        """Do nothing."""

    def on_expiration(self) -> None:
        """Do nothing."""


_DISCIPLINES: dict[str, Callable[[], CompletionDiscipline]] = {
    "monitor": MonitorDiscipline,
    "monitor, lock": lambda: MonitorDiscipline(sync.lock("given")),
    "monitor, monitor": lambda: MonitorDiscipline(sync.monitor("given")),
    "try once": TryLockOnceDiscipline,
    "try once, lock": lambda: TryLockOnceDiscipline(sync.lock("given")),
    "flag": PendingFlagDiscipline,
    "flag, lock": lambda: PendingFlagDiscipline(sync.lock("given")),
    "blocking": BlockingDiscipline,
    "blocking, lock": lambda: BlockingDiscipline(sync.lock("given")),
    "blocking, monitor": lambda: BlockingDiscipline(sync.monitor("given")),
    "exclusive": ExclusiveDiscipline,
    "exclusive, lock": lambda: ExclusiveDiscipline(sync.lock("given")),
    "exclusive, monitor": lambda: ExclusiveDiscipline(sync.monitor("given")),
}
"""Each discipline with each lock that a type checker lets it have."""


@pytest.mark.parametrize("name", _DISCIPLINES)
def test_a_discipline_refuses_a_lock_or_works_with_it(name: str) -> None:
    try:
        _DISCIPLINES[name]()
    except IllegalArgumentError:
        return

    def build() -> Scenario:
        operation = _Ready(1, discipline=_DISCIPLINES[name]())

        def check() -> None:
            assert operation.is_completed()

        return Scenario(
            threads={
                "try": discarding(operation.safe_try_complete),
                "force": discarding(operation.force_complete),
            },
            check=check,
        )

    found = explore(Program(name=name, summary="two threads complete", build=build))
    assert found.verdict() is Verdict.PASS, found.details()


@pytest.mark.campaign
@seed(seeds.seed(33_012))
@_RUNS
@given(
    steps=st.lists(
        st.tuples(st.integers(0, 1), st.sampled_from(["wait", "serve", "advance"])),
        min_size=20,
        max_size=60,
    ),
    shared=st.booleans(),
)
def test_no_list_keeps_more_that_is_done_than_the_interval(
    steps: list[tuple[int, str]], shared: bool
) -> None:
    clock, interval = ManualClock(), 3
    timers = [SystemTimer("timer", clock=clock, executor=DeferredExecutor()) for _ in range(2)]
    try:
        purgatories = [
            DelayedOperationPurgatory[_Waits](
                "it", timers[0 if shared else number], purge_interval=interval, reaper_enabled=False
            )
            for number in range(2)
        ]
    except IllegalArgumentError:
        assert shared
        return
    pending: list[list[_Waits]] = [[], []]
    for number, step in steps:
        purgatory, mine = purgatories[number], pending[number]
        if step != "advance":
            mine.append(_Waits(1_000_000))
            purgatory.try_complete_else_watch(mine[-1], ["one", "other"])
            if step == "serve":
                mine.pop().force_complete()
        else:
            purgatory.advance_clock(0)
            # Under two keys each, and as many as the interval may be done.
            assert purgatory.watched() <= 2 * (len(mine) + interval)


class _Waits(_Ready):
    """Is completed by force alone."""

    def try_complete(self) -> bool:
        """Go on waiting."""
        return False
