"""The purgatory: watch against trigger, expiry, purge, cancel, shutdown and removal of a key.

The timer has one bucket, whose lists and tasks are the real ones. The thread that advances it runs
its tasks. So each program is about the purgatory's own steps. TLA+: Purgatory.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import cast

from wheelproof import sync
from wheelproof.errors import (
    DelayedOperationError,
    IllegalArgumentError,
    PurgatoryClosedError,
    TimerClosedError,
)
from wheelproof.purgatory import (
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)
from wheelproof.sync import Volatile
from wheelproof.timer import Timer, TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_explore.program import Action
from wheelproof_lab.worlds.tables import WRONG_NUMBERS, Bench

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
_NOW = Millis(0)
_NO_KEY = cast(str, [])
"""A key without a hash: a list."""


class TimerOfOneList(Timer):
    """A timer in which everything is due at the next advance."""

    def __init__(self) -> None:
        self._counter = sync.atomic_integer(0, "timer's size")
        self.bucket = TimerTaskList(self._counter)
        self._closed = sync.volatile(False, "timer closed")

    def add(self, timer_task: TimerTask) -> None:
        """Link an entry."""
        if self._closed.get():
            raise TimerClosedError("closed")
        entry = TimerTaskEntry(timer_task, _NOW)
        timer_task.set_timer_task_entry(entry)
        self.bucket.add(entry)

    def advance_clock(self, timeout_ms: int) -> bool:
        """Run all tasks, after the bucket's monitor was released."""
        del timeout_ms
        due: list[TimerTask] = []

        def submit(entry: TimerTaskEntry) -> None:
            if entry.timer_task.claim(entry):
                due.append(entry.timer_task)

        self.bucket.flush(submit)
        for task in due:
            self.run(task)
        return bool(due)

    def run(self, task: TimerTask) -> None:
        """Run a task."""
        task.run()

    def size(self) -> int:
        """Return the number of linked entries."""
        return self._counter.get()

    def close(self) -> None:
        """Refuse tasks from now on."""
        self._closed.set(True)


class FlagOperation(DelayedOperation):
    """An operation that can complete once a flag is set; counts its callbacks."""

    __slots__ = ("_flag", "completions", "expirations")

    def __init__(self, flag: Volatile[bool], delay_ms: int = 0) -> None:
        super().__init__(delay_ms)
        self._flag = flag
        self.completions = 0
        self.expirations = 0

    def try_complete(self) -> bool:
        """Test the flag."""
        return self._flag.get() and self.force_complete()

    def on_complete(self) -> None:
        """Count the completion."""
        self.completions += 1

    def on_expiration(self) -> None:
        """Count the expiry."""
        self.expirations += 1


class RaisingOperation(FlagOperation):
    """An operation whose predicate raises once the flag is set; counts the tests."""

    __slots__ = ("tests",)

    def __init__(self, flag: Volatile[bool]) -> None:
        super().__init__(flag)
        self.tests = 0

    def try_complete(self) -> bool:
        """Test the flag, and raise if it is set."""
        self.tests += 1
        if self._flag.get():
            raise ValueError("the predicate raises")
        return False


class PurgatoryWorld(Bench):
    """A purgatory with one shard, a flag and the operations that wait for it."""

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory],
        operation_class: Callable[[Volatile[bool]], FlagOperation] = FlagOperation,
        purge_interval: int = 0,
        *,
        timer: TimerOfOneList | None = None,
        timer_enabled: bool = True,
    ) -> None:
        super().__init__()
        self.timer = TimerOfOneList() if timer is None else timer
        self.purgatory = purgatory_class(
            "explored",
            self.timer,
            purge_interval=purge_interval,
            shards=1,
            reaper_enabled=False,
            timer_enabled=timer_enabled,
        )
        self.flag = sync.volatile(False, "flag")
        self._operation_class = operation_class
        self.operations: list[FlagOperation] = []
        self.cancelled: list[DelayedOperation] = []
        self.forced: list[DelayedOperation] = []
        self._refused = 0
        self._shut = False
        self.handed_in: list[DelayedOperation] = []

    def operation(self) -> FlagOperation:
        """Return a new operation that waits for the flag."""
        operation = self._operation_class(self.flag)
        self.operations.append(operation)
        return operation

    def raising(self) -> None:
        """Make an operation that raises once the flag is set."""
        self._raising = RaisingOperation(self.flag)

    def watched(self, *keys: str) -> FlagOperation:
        """Return an operation that is watched already."""
        operation = self.operation()
        self.watch(operation, *keys)
        return operation

    def watch(self, operation: DelayedOperation, *keys: str) -> None:
        """Hand an operation in."""
        self.handed_in.append(operation)
        self.purgatory.try_complete_else_watch(operation, keys)

    def hand_in(self, number: int, *keys: str) -> None:
        """Hand in one of the operations that were made."""
        self.watch(self.operations[number], *keys)

    def hand_in_or_be_refused(self, number: int, *keys: str) -> None:
        """Hand in one of the operations, or count the refusal of a closed purgatory."""
        try:
            self.hand_in(number, *keys)
        except PurgatoryClosedError:
            self._refused += 1

    def hand_in_raising(self, *keys: str) -> None:
        """Hand in the operation that raises; raise if its error leaves a watch or a key."""
        operation = self._raising
        try:
            self.watch(operation, *keys)
        except ValueError:
            left = self.purgatory.watched(), self.purgatory.num_keys()
            assert left == (0, 0), f"watches and keys left behind: {left}"
            # Its first test is before it is watched under a key.
            given_up = operation.is_cancelled()
            assert given_up == (operation.tests > 1), (
                f"{operation.tests} tests, given up: {given_up}"
            )

    def come_and_go(self, key: str) -> None:
        """Hand in two operations, then complete them."""
        for operation in [self.watched(key) for _ in range(2)]:
            self._force(operation)

    def force(self, number: int) -> None:
        """Complete one of the operations that were made."""
        self._force(self.operations[number])

    def surviving(self) -> AbstractContextManager[None]:
        """Return a block whose caller goes on when an operation has raised."""
        return nullcontext()

    def _force(self, operation: FlagOperation) -> None:
        self.forced.append(operation)
        with self.surviving():
            operation.force_complete()

    def raise_flag(self) -> None:
        """Make the predicate true."""
        self.flag.set(True)

    def trigger(self, *keys: str) -> None:
        """Make the predicate true, then check the keys."""
        self.raise_flag()
        for key in keys:
            self.check_key(key)

    def trigger_in_spite_of_errors(self, key: str) -> None:
        """Trigger, and raise unless the call raises the error of an operation."""
        try:
            self.trigger(key)
        except (DelayedOperationError, ValueError):
            return
        raise AssertionError("an operation raised, and nobody was told")

    def triggering(self, *keys: str) -> Action:
        """Return the action of a thread that triggers."""
        return partial(self.trigger, *keys)

    def check_key(self, key: str) -> None:
        """Check a key."""
        with self.surviving():
            self.purgatory.check_and_complete(key)

    def advance(self) -> None:
        """Expire and purge, as the reaper does."""
        self.purgatory.advance_clock(_NOW)

    def purge(self) -> None:
        """Purge."""
        self.purgatory.purge_completed()

    def cancel(self, key: str) -> None:
        """Cancel a key, and record the cancelled operations."""
        self.cancelled.extend(self.purgatory.cancel_for_key(key))

    def shut_down(self) -> None:
        """Shut the purgatory down; raise unless it refuses an operation afterwards."""
        self._shut = True
        self.purgatory.close()
        hand_in = partial(self.purgatory.try_complete_else_watch, FlagOperation(self.flag), ["key"])
        self.refuses(PurgatoryClosedError, hand_in)

    def check(self) -> None:
        """Raise unless a trigger or expiry completed each operation once, and nothing is left."""
        for operation in self.operations:
            assert operation.completions == 1, f"completed {operation.completions} times"
            assert operation.expirations <= 1, f"expired {operation.expirations} times"
        self.check_nothing_is_left()

    def is_shut(self) -> bool:
        """Tell whether somebody has begun to shut the purgatory down."""
        return self._shut

    def look(self) -> None:
        """Raise if a gauge is negative."""
        gauges = (self.purgatory.watched(), self.purgatory.num_keys(), self.purgatory.num_delayed())
        assert min(gauges) >= 0, f"watches, keys and time-outs: {gauges}"

    def check_at_most_once(self) -> None:
        """Raise if an operation was completed twice, or was cancelled and completed."""
        for operation in self.operations:
            ends = operation.completions + self.cancelled.count(operation)
            assert ends <= 1, f"completed or cancelled {ends} times"
            assert operation.expirations <= operation.completions
        if not self._shut:
            self.advance()
            handed_in = [one for one in self.operations if one in self.handed_in]
            for operation in handed_in:
                ends = operation.completions + self.cancelled.count(operation)
                assert ends == 1, f"completed or cancelled {ends} times, though its time is over"
            self.check_nothing_is_left()

    def check_reachable(self) -> None:
        """Raise unless each operation is completed after one more trigger."""
        self.trigger("key")
        self.check()

    def check_fates(self) -> None:
        """Raise unless each operation was either completed or cancelled, and its state says so."""
        self.advance()
        for operation in self.operations:
            cancels = self.cancelled.count(operation)
            assert operation.completions + cancels == 1, (
                f"completed {operation.completions} times, cancelled {cancels} times"
            )
            assert operation.is_cancelled() == (cancels == 1), "it says another end than its own"
        self.check_nothing_is_left()

    def check_no_garbage(self) -> None:
        """Raise unless one more advance leaves no done operation in the lists."""
        self.advance()
        garbage = self.purgatory.watched()
        assert garbage == 0, f"{garbage} operations that are done are left, and none may"

    def check_purged_in_time(self) -> None:
        """Raise unless done operations are dropped once they are more than the interval of 1."""
        self.check_no_garbage()
        for left in (1, 0):
            self.watched("key").force_complete()
            self.advance()
            watched = self.purgatory.watched()
            assert watched == left, f"{watched} operations are left, and not {left}"

    def check_never_expires(self) -> None:
        """Raise unless the operation waits for its trigger and never expires."""
        self.advance()
        (operation,) = self.operations
        assert not operation.is_done(), "it has expired"
        assert self.purgatory.num_delayed() == 0, "it is in the timer"
        self.check_reachable()

    def check_shut_down(self) -> None:
        """Raise if a shutdown completed an operation, or lost one that was not refused."""
        (operation,) = self.operations
        assert operation.completions == operation.expirations == 0, "a shutdown completed it"
        watched = self.purgatory.watched()
        assert watched == 1 - self._refused, f"{watched} watches, refused {self._refused} times"

    def check_raised(self) -> None:
        """Raise if the operation that raises was completed twice, or is left behind."""
        self.advance()
        completions = self._raising.completions
        assert completions <= 1, f"completed {completions} times"
        self.check_nothing_is_left()

    def check_behind(self) -> None:
        """Raise unless the operation behind the one that raises was completed once."""
        (behind,) = self.operations
        assert behind.completions == 1, f"completed {behind.completions} times"

    def check_nothing_is_left(self) -> None:
        """Raise unless lists, keys and the timer are empty after a purge that tells the truth."""
        watched = self.purgatory.watched()
        purged = self.purgatory.purge_completed()
        assert purged == watched, f"{watched} done operations were watched, and {purged} purged"
        left = (
            self.purgatory.watched(),
            self.purgatory.num_keys(),
            self.purgatory.num_delayed(),
        )
        assert left == (0, 0, 0), f"watches, keys and time-outs left: {left}"
        self.misuse_alone()

    def misuse(self) -> None:
        """Raise unless wrong numbers and keys, a timer in use and a plain lock are refused."""
        make, timer = type(self.purgatory), TimerOfOneList()
        operation = FlagOperation(self.flag)
        watch = partial(self.purgatory.try_complete_else_watch, operation)
        for wrong in WRONG_NUMBERS:
            self.refuses(
                IllegalArgumentError,
                partial(make, "refused", timer, reaper_enabled=False, purge_interval=wrong),
                partial(make, "refused", timer, reaper_enabled=False, shards=wrong),
                partial(FlagOperation, self.flag, wrong),
            )
        self.refuses(
            IllegalArgumentError,
            partial(make, "refused", timer, reaper_enabled=False, shards=0),
            partial(make, "second", self.timer, reaper_enabled=False),
            partial(watch, []),
            partial(watch, [_NO_KEY]),
            # The keys before it are not watched, either.
            partial(watch, ["key", _NO_KEY]),
            partial(self.purgatory.check_and_complete, _NO_KEY),
            partial(self.purgatory.cancel_for_key, _NO_KEY),
            partial(ExclusiveDiscipline, cast(sync.Monitor, sync.lock("plain"))),
        )
        assert not operation.is_done(), "what was refused is done"
        # What was refused has not taken the timer.
        make("made", timer, reaper_enabled=False)

    def state(self) -> object:
        """Return the gauges, and what has become of the operations."""
        purgatory = self.purgatory
        gauges = purgatory.watched(), purgatory.num_keys(), purgatory.num_delayed()
        return gauges, [(one.completions, one.expirations) for one in self.operations]
