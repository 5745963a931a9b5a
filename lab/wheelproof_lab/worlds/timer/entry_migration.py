"""Programs in which several threads move one entry: a cancel, a flush, a second add.

The lists and the tasks are the timer's own. A flush handles an entry as the timer does, on a wheel
of one upper and one lower bucket. TLA+: EntryMigration.
"""

from collections.abc import Mapping

from wheelproof import sync
from wheelproof.timer import TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_explore.program import PlainField, Scenario
from wheelproof_lab.bugs.timer import BUGS
from wheelproof_lab.worlds.tables import Bench, ProgramRow, act, programs_of, scenario_of

_MORE_THAN_THERE_ARE = 8


class IdleTask(TimerTask):
    """A task that counts its runs and its successful cancels."""

    __slots__ = ("cancels", "runs")

    def __init__(self, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.runs = 0
        self.cancels = 0

    def run(self) -> None:
        """Count the run."""
        self.runs += 1

    def cancel_and_count(self) -> None:
        """Cancel, and count the cancel if it took effect."""
        if self.cancel():
            self.cancels += 1


class EntryBench(Bench):
    """An upper and a lower bucket with one counter, and the tasks whose entries move."""

    def __init__(self, bucket_class: type[TimerTaskList]) -> None:
        super().__init__()
        self._counter = sync.atomic_integer(0, "counter")
        self._upper, self._lower = bucket_class(self._counter), bucket_class(self._counter)
        self._tasks: list[IdleTask] = []
        self._entries: dict[int, TimerTaskEntry] = {}
        self._expires = False

    def unbound(self) -> IdleTask:
        """Make a task without an entry."""
        task = IdleTask(0)
        self._tasks.append(task)
        return task

    def bound(self) -> TimerTaskEntry:
        """Make a task with an entry that is in no list."""
        entry = _bind(self.unbound())
        self._entries[len(self._tasks) - 1] = entry
        return entry

    def linked(self) -> None:
        """Make a task whose entry is in the upper bucket."""
        self._upper.add(self.bound())

    def flush_upper(self) -> None:
        """Flush the upper bucket: its entries move to the lower one."""
        self._upper.flush(self._put_lower)

    def flush_lower(self) -> None:
        """Flush the lower bucket: its entries fire."""
        self._lower.flush(_fire)

    def cancel(self, number: int) -> None:
        """Cancel a task."""
        self._tasks[number].cancel_and_count()

    def add(self, number: int) -> None:
        """Add a task whose place is in the lower bucket."""
        self._put_lower(_bind(self._tasks[number]))

    def link_upper(self, number: int) -> None:
        """Put the entry of a task into the upper bucket."""
        self._upper.add(self._entries[number])

    def link_lower(self, number: int) -> None:
        """Put the entry of a task into the lower bucket."""
        self._lower.add(self._entries[number])

    def expire_upper(self) -> None:
        """Set the expiration of the upper bucket, as a thread does after a link (1.3)."""
        self._upper.set_expiration(Millis(0))
        self._expires = True

    def _put_lower(self, entry: TimerTaskEntry) -> None:
        """Handle an entry that was taken out of a bucket, as the timer does."""
        if entry.cancelled():
            _fire(entry)
        else:
            self._lower.add(entry)

    def check(self) -> None:
        """Raise unless the lists are consistent and the last add of each task ends exactly once.

        An add ends by one run, by a cancel, or by a later add of the same task.
        """
        counted, expiration = self._counter.get(), self._upper.get_expiration()
        found: list[TimerTaskEntry] = []

        def collect(entry: TimerTaskEntry) -> None:
            found.append(entry)
            assert len(found) <= _MORE_THAN_THERE_ARE, "a list never ends"

        self._upper.flush(collect)
        assert not (found and self._expires) or expiration == 0, "a linked entry is never due"
        self._lower.flush(collect)
        assert len(set(map(id, found))) == len(found), "an entry is in two lists"
        assert counted == len(found), f"the counter shows {counted}, {len(found)} are linked"
        for entry in found:
            assert entry.list.get() is None, "an entry is held by a list that does not reach it"
            _fire(entry)
        for task in self._tasks:
            assert task.runs + task.cancels == 1, (
                f"added, then ran {task.runs} times and was cancelled {task.cancels} times"
            )


def _bind(task: TimerTask) -> TimerTaskEntry:
    entry = TimerTaskEntry(task, Millis(0))
    task.set_timer_task_entry(entry)
    return entry


def _fire(entry: TimerTaskEntry) -> None:
    if entry.timer_task.claim(entry):
        entry.timer_task.run()


# Tasks are known by the order in which they were made.
_ROWS: Mapping[str, ProgramRow[EntryBench]] = {
    "entry-cancel-flush": ProgramRow(
        summary="An entry moves from one list to another while its task is cancelled.",
        before=(act(EntryBench.linked),),
        threads={"cancel": act(EntryBench.cancel, 0), "flush": act(EntryBench.flush_upper)},
    ),
    "entry-cancel-flush-fire": ProgramRow(
        summary="An entry moves down and is fired while its task is cancelled.",
        before=(act(EntryBench.linked),),
        threads={
            "cancel": (act(EntryBench.cancel, 0),),
            "flush": (
                act(EntryBench.flush_upper),
                act(EntryBench.flush_lower),
            ),
        },
    ),
    "entry-add-flush": ProgramRow(
        summary="A task is added again while its older entry moves.",
        before=(act(EntryBench.linked),),
        threads={"add": act(EntryBench.add, 0), "flush": act(EntryBench.flush_upper)},
    ),
    "entry-add-twice": ProgramRow(
        summary="Two threads add the same task: the later add alone fires.",
        before=(act(EntryBench.unbound),),
        threads={"add 1": act(EntryBench.add, 0), "add 2": act(EntryBench.add, 0)},
    ),
    "entry-link-flush": ProgramRow(
        summary="A bucket gets an entry, and its expiration, while it is flushed.",
        before=(act(EntryBench.bound),),
        threads={
            "link": (
                act(EntryBench.link_upper, 0),
                act(EntryBench.expire_upper),
            ),
            "flush": act(EntryBench.flush_upper),
        },
    ),
    "entry-two-lists": ProgramRow(
        summary="Two lists race for one entry that is in neither of them.",
        before=(act(EntryBench.bound),),
        threads={"upper": act(EntryBench.link_upper, 0), "lower": act(EntryBench.link_lower, 0)},
        bugs=("entry-monitor-dropped",),
    ),
    "entry-cancel-flush-add": ProgramRow(
        summary="Cancel, a second add and a flush of one task's entry at the same time.",
        before=(act(EntryBench.linked), act(EntryBench.bound)),
        threads={
            "cancel": act(EntryBench.cancel, 0),
            "flush": act(EntryBench.flush_upper),
            "add": act(EntryBench.link_lower, 1),
        },
        bugs=("KAFKA-2226/stale-list",),
    ),
    "entry-two-cancels": ProgramRow(
        summary=(
            "Two threads cancel a task whose entry moves: one of them at most is told that it did."
        ),
        before=(act(EntryBench.linked),),
        threads={
            "cancel 1": act(EntryBench.cancel, 0),
            "cancel 2": act(EntryBench.cancel, 0),
            "flush": act(EntryBench.flush_upper),
        },
    ),
}

LINKS = tuple(
    PlainField(owner=TimerTaskEntry, name=name, identity="monitor") for name in ("next", "prev")
)
"""The fields that the monitor of a list guards."""


def _build(row: ProgramRow[EntryBench], bucket_class: type[TimerTaskList]) -> Scenario:
    return scenario_of(row, EntryBench(bucket_class))


_SOUND: type[TimerTaskList] = TimerTaskList
ENTRY_MIGRATION, FAILING_ENTRY_MIGRATION = programs_of(
    _ROWS,
    _build,
    _SOUND,
    [(bug, bug.bucket_class) for bug in BUGS],
    plain_fields=LINKS,
)
