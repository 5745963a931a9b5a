"""One entry that several threads move: cancel against flush against a second add.

The lists and the tasks are the timer's own; what a flush does with an entry is what the timer does
with it, on a wheel of one upper and one lower bucket. TLA+: EntryMigration.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from wheelproof import sync
from wheelproof.timer import TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_spec.engines.explore.program import PlainField, Program, Scenario
from wheelproof_spec.engines.explore.programs.making import program

_MORE_THAN_THERE_ARE = 8


class IdleTask(TimerTask):
    """A task that counts how often it has run."""

    __slots__ = ("cancels", "runs")

    def __init__(self, delay_ms: int) -> None:
        super().__init__(delay_ms)
        self.runs = 0
        self.cancels = 0

    def run(self) -> None:
        """Count."""
        self.runs += 1

    def cancel_and_count(self) -> None:
        """Cancel, and count if that took effect."""
        if self.cancel():
            self.cancels += 1


@dataclass(frozen=True, slots=True)
class Buckets:
    """An upper and a lower bucket with one counter."""

    counter: sync.AtomicInteger
    upper: TimerTaskList
    lower: TimerTaskList

    def flush_upper(self) -> None:
        """Send the entries of the upper bucket down."""
        self.upper.flush(self.put_lower)

    def flush_lower(self) -> None:
        """Fire the entries of the lower bucket."""
        self.lower.flush(_fire)

    def put_lower(self, entry: TimerTaskEntry) -> None:
        """Do as the timer does with an entry that has been taken out of a bucket."""
        if entry.cancelled():
            _fire(entry)
        else:
            self.lower.add(entry)

    def add(self, task: TimerTask) -> None:
        """Add a task whose place is in the lower bucket."""
        entry = TimerTaskEntry(task, Millis(0))
        task.set_timer_task_entry(entry)
        self.put_lower(entry)

    def check(self, *tasks: IdleTask) -> None:
        """Raise unless the lists are sound and each task ends as it was told to.

        An add ends in one run, or in a cancel, or in a later add of the same task.
        """
        counted = self.counter.get()
        found: list[TimerTaskEntry] = []

        def collect(entry: TimerTaskEntry) -> None:
            found.append(entry)
            assert len(found) <= _MORE_THAN_THERE_ARE, "a list never ends"

        self.upper.flush(collect)
        self.lower.flush(collect)
        assert len(set(map(id, found))) == len(found), "an entry is in two lists"
        assert counted == len(found), f"the counter shows {counted}, {len(found)} are linked"
        for entry in found:
            assert entry.list.get() is None, "an entry is held by a list that does not reach it"
            _fire(entry)
        for task in tasks:
            assert task.runs + task.cancels == 1, (
                f"added, then ran {task.runs} times and was cancelled {task.cancels} times"
            )


def cancel_against_flush(bucket_class: type[TimerTaskList]) -> Scenario:
    """An entry moves from one list to another while its task is cancelled."""
    buckets, task = _one_entry(bucket_class)
    return Scenario(
        threads={"cancel": task.cancel_and_count, "flush": buckets.flush_upper},
        check=partial(buckets.check, task),
    )


def cancel_against_two_flushes(bucket_class: type[TimerTaskList]) -> Scenario:
    """An entry moves down and is fired while its task is cancelled."""
    buckets, task = _one_entry(bucket_class)
    flush_both = [buckets.flush_upper, buckets.flush_lower]
    return Scenario(
        threads={"cancel": [task.cancel_and_count], "flush": flush_both},
        check=partial(buckets.check, task),
    )


def add_again_against_flush(bucket_class: type[TimerTaskList]) -> Scenario:
    """A task is added again while its older entry moves."""
    buckets, task = _one_entry(bucket_class)
    return Scenario(
        threads={"add": partial(buckets.add, task), "flush": buckets.flush_upper},
        check=partial(buckets.check, task),
    )


def add_twice(bucket_class: type[TimerTaskList]) -> Scenario:
    """Two threads add the same task: the later add alone fires."""
    buckets = _buckets(bucket_class)
    task = IdleTask(0)
    add = partial(buckets.add, task)
    return Scenario(threads={"add 1": add, "add 2": add}, check=partial(buckets.check, task))


def two_lists(bucket_class: type[TimerTaskList]) -> Scenario:
    """Two lists race for one entry that is in neither of them."""
    buckets = _buckets(bucket_class)
    task = IdleTask(0)
    entry = TimerTaskEntry(task, Millis(0))
    task.set_timer_task_entry(entry)
    return Scenario(
        threads={
            "upper": partial(buckets.upper.add, entry),
            "lower": partial(buckets.lower.add, entry),
        },
        check=partial(buckets.check, task),
    )


def cancel_flush_and_add(bucket_class: type[TimerTaskList]) -> Scenario:
    """Cancel, a second add and a flush of one task's entry at the same time."""
    buckets, task = _one_entry(bucket_class)
    late = IdleTask(0)
    late_entry = TimerTaskEntry(late, Millis(0))
    late.set_timer_task_entry(late_entry)
    return Scenario(
        threads={
            "cancel": task.cancel_and_count,
            "flush": buckets.flush_upper,
            "add": partial(buckets.lower.add, late_entry),
        },
        check=partial(buckets.check, task, late),
    )


def two_cancels(bucket_class: type[TimerTaskList]) -> Scenario:
    """Two threads cancel a task whose entry moves: one of them at most is told that it did."""
    buckets, task = _one_entry(bucket_class)
    return Scenario(
        threads={
            "cancel 1": task.cancel_and_count,
            "cancel 2": task.cancel_and_count,
            "flush": buckets.flush_upper,
        },
        check=partial(buckets.check, task),
    )


def _one_entry(bucket_class: type[TimerTaskList]) -> tuple[Buckets, IdleTask]:
    buckets = _buckets(bucket_class)
    task = IdleTask(0)
    entry = TimerTaskEntry(task, Millis(0))
    task.set_timer_task_entry(entry)
    buckets.upper.add(entry)
    return buckets, task


def _buckets(bucket_class: type[TimerTaskList]) -> Buckets:
    counter = sync.atomic_integer(0, "counter")
    return Buckets(counter, bucket_class(counter), bucket_class(counter))


def _fire(entry: TimerTaskEntry) -> None:
    if entry.timer_task.claim(entry):
        entry.timer_task.run()


ENTRY_BUILDERS: Mapping[str, Callable[[type[TimerTaskList]], Scenario]] = {
    "entry-cancel-flush": cancel_against_flush,
    "entry-cancel-flush-fire": cancel_against_two_flushes,
    "entry-add-flush": add_again_against_flush,
    "entry-add-twice": add_twice,
    "entry-two-lists": two_lists,
    "entry-cancel-flush-add": cancel_flush_and_add,
    "entry-two-cancels": two_cancels,
}

LINKS = tuple(
    PlainField(owner=TimerTaskEntry, name=name, identity="monitor") for name in ("next", "prev")
)
"""What the monitor of a list guards."""


def entry_program(
    name: str, build: Callable[[type[TimerTaskList]], Scenario], bucket: type[TimerTaskList]
) -> Program:
    """Return the program in which `bucket` is the class of the lists."""
    return program(name, partial(build, bucket), plain_fields=LINKS)


ENTRY_MIGRATION: tuple[Program, ...] = tuple(
    entry_program(name, build, TimerTaskList) for name, build in ENTRY_BUILDERS.items()
)
