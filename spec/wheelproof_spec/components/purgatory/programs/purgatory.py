"""The purgatory: watch against trigger, expiry, purge, cancel, shutdown and removal of a key.

The timer has one bucket, whose lists and tasks are the real ones; whoever advances it runs what was
in it. So each program is about the purgatory's own steps. TLA+: Purgatory.
"""

from collections.abc import Callable, Mapping
from functools import partial

from wheelproof import sync
from wheelproof.errors import DelayedOperationError, PurgatoryClosedError, TimerClosedError
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.sync import Volatile
from wheelproof.timer import Timer, TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_spec.engines.explore.program import Action, Program, Scenario
from wheelproof_spec.engines.explore.programs.making import discarding, program

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
_NOW = Millis(0)
_KEY = "key"
_OTHER_KEY = "other key"


class TimerOfOneList(Timer):
    """A timer in which everything is due at the next advance."""

    def __init__(self) -> None:
        self._counter = sync.atomic_integer(0, "timer's size")
        self._bucket = TimerTaskList(self._counter)
        self._closed = sync.volatile(False, "timer closed")

    def add(self, timer_task: TimerTask) -> None:
        """Link an entry."""
        if self._closed.get():
            raise TimerClosedError("closed")
        entry = TimerTaskEntry(timer_task, _NOW)
        timer_task.set_timer_task_entry(entry)
        self._bucket.add(entry)

    def advance_clock(self, timeout_ms: Millis) -> bool:
        """Run everything, after the bucket's monitor was given back."""
        del timeout_ms
        due: list[TimerTask] = []

        def submit(entry: TimerTaskEntry) -> None:
            if entry.timer_task.claim(entry):
                due.append(entry.timer_task)

        self._bucket.flush(submit)
        for task in due:
            task.run()
        return bool(due)

    def size(self) -> int:
        """Return the number of linked entries."""
        return self._counter.get()

    def close(self) -> None:
        """Refuse what comes from now on."""
        self._closed.set(True)


class FlagOperation(DelayedOperation):
    """Completes once a flag is up; counts what is called."""

    __slots__ = ("_flag", "completions", "expirations")

    def __init__(self, flag: Volatile[bool]) -> None:
        super().__init__(0)
        self._flag = flag
        self.completions = 0
        self.expirations = 0

    def try_complete(self) -> bool:
        """Test the flag."""
        return self._flag.get() and self.force_complete()

    def on_complete(self) -> None:
        """Count."""
        self.completions += 1

    def on_expiration(self) -> None:
        """Count."""
        self.expirations += 1


class RaisingOperation(FlagOperation):
    """An operation whose predicate raises once the flag is up."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """Test the flag, in vain."""
        if self._flag.get():
            raise ValueError("the predicate raises")
        return False


class PurgatoryWorld:
    """A purgatory with one shard, a flag and the operations that wait for it."""

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory],
        purge_interval: int = 0,
        operation_class: type[FlagOperation] = FlagOperation,
    ) -> None:
        self.timer = TimerOfOneList()
        self.purgatory = purgatory_class(
            "explored",
            self.timer,
            purge_interval=purge_interval,
            shards=1,
            reaper_enabled=False,
        )
        self.flag = sync.volatile(False, "flag")
        self._operation_class = operation_class
        self.operations: list[FlagOperation] = []
        self.cancelled: list[DelayedOperation] = []

    def operation(self) -> FlagOperation:
        """Return a new operation that waits for the flag."""
        operation = self._operation_class(self.flag)
        self.operations.append(operation)
        return operation

    def watched(self, *keys: str) -> FlagOperation:
        """Return an operation that is watched already."""
        operation = self.operation()
        self.watch(operation, *keys)
        return operation

    def watch(self, operation: DelayedOperation, *keys: str) -> None:
        """Hand an operation in."""
        self.purgatory.try_complete_else_watch(operation, keys)

    def watching(self, *keys: str) -> Action:
        """Return what a thread does that hands in a new operation."""
        return partial(self.watch, self.operation(), *keys)

    def trigger(self, *keys: str) -> None:
        """Make the predicate true, then have the keys checked."""
        self.flag.set(True)
        for key in keys:
            self.purgatory.check_and_complete(key)

    def triggering(self, *keys: str) -> Action:
        """Return what a thread does that triggers."""
        return partial(self.trigger, *keys)

    def advance(self) -> None:
        """Expire and purge, as the reaper does."""
        self.purgatory.advance_clock(_NOW)

    def cancel(self, key: str) -> None:
        """Cancel, and remember whom."""
        self.cancelled.extend(self.purgatory.cancel_for_key(key))

    def check_completed(self) -> None:
        """Raise unless everybody was completed once by a trigger or expiry, and nothing is left."""
        for operation in self.operations:
            assert operation.completions == 1, f"completed {operation.completions} times"
            assert operation.expirations <= 1, f"expired {operation.expirations} times"
        self.check_nothing_is_left()

    def check_fates(self) -> None:
        """Raise unless everybody was either completed, or cancelled and told so."""
        self.advance()
        for operation in self.operations:
            cancels = self.cancelled.count(operation)
            assert operation.completions + cancels == 1, (
                f"completed {operation.completions} times, cancelled {cancels} times"
            )
        self.check_nothing_is_left()

    def check_nothing_is_left(self) -> None:
        """Raise unless lists, keys and the timer are empty after a purge."""
        self.purgatory.purge_completed()
        left = (
            self.purgatory.watched(),
            self.purgatory.num_keys(),
            self.purgatory.num_delayed(),
        )
        assert left == (0, 0, 0), f"watches, keys and time-outs left: {left}"


def watch_and_trigger(
    purgatory_class: type[AnyPurgatory], operation_class: type[FlagOperation] = FlagOperation
) -> Scenario:
    """An operation is handed in while its trigger comes: it is completed without its time-out."""
    world = PurgatoryWorld(purgatory_class, operation_class=operation_class)
    return Scenario(
        threads={"watch": world.watching(_KEY), "trigger": world.triggering(_KEY)},
        check=world.check_completed,
    )


def watch_and_two_triggers(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """An operation of two keys is handed in while both of them are triggered."""
    world = PurgatoryWorld(purgatory_class)
    return Scenario(
        threads={
            "watch": world.watching(_KEY, _OTHER_KEY),
            "trigger": world.triggering(_KEY),
            "other trigger": world.triggering(_OTHER_KEY),
        },
        check=world.check_completed,
    )


def watch_and_expiry(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """An operation is handed in, expires and is purged at the same time."""
    world = PurgatoryWorld(purgatory_class)
    return Scenario(
        threads={"watch": world.watching(_KEY), "reaper": world.advance}, check=world.check_fates
    )


def watch_trigger_expiry(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """Watch against trigger against expiry."""
    world = PurgatoryWorld(purgatory_class, purge_interval=100)
    return Scenario(
        threads={
            "watch": world.watching(_KEY),
            "trigger": world.triggering(_KEY),
            "reaper": world.advance,
        },
        check=world.check_completed,
    )


def watch_trigger_purge(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """Watch against trigger against purge."""
    world = PurgatoryWorld(purgatory_class)
    return Scenario(
        threads={
            "watch": world.watching(_KEY),
            "trigger": world.triggering(_KEY),
            "purge": discarding(world.purgatory.purge_completed),
        },
        check=world.check_completed,
    )


def trigger_expiry_purge(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """A watched operation is triggered while it expires and is purged."""
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY)
    return Scenario(
        threads={"trigger": world.triggering(_KEY), "reaper": world.advance},
        check=world.check_completed,
    )


def watch_and_removal(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """The key's last operation leaves while another one is handed in: that one can be reached."""
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY).force_complete()

    def check() -> None:
        world.trigger(_KEY)
        world.check_completed()

    return Scenario(
        threads={
            "watch": world.watching(_KEY),
            "check": discarding(partial(world.purgatory.check_and_complete, _KEY)),
        },
        check=check,
    )


def watch_and_purge_of_key(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """The key's last operation is purged while two others are handed in."""
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY).force_complete()

    def check() -> None:
        world.trigger(_KEY)
        world.check_completed()

    return Scenario(
        threads={
            "watch": world.watching(_KEY),
            "watch too": world.watching(_KEY),
            "purge": discarding(world.purgatory.purge_completed),
        },
        check=check,
    )


def cancel_and_watch(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """The key is cancelled while an operation is handed in: it expires or was cancelled."""
    world = PurgatoryWorld(purgatory_class)
    return Scenario(
        threads={"watch": world.watching(_KEY), "cancel": partial(world.cancel, _KEY)},
        check=world.check_fates,
    )


def cancel_and_expiry(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """The key is cancelled while its operation expires."""
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY, _OTHER_KEY)
    return Scenario(
        threads={"cancel": partial(world.cancel, _KEY), "reaper": world.advance},
        check=world.check_fates,
    )


def cancel_and_trigger(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """Both keys of an operation are cancelled while it is triggered."""
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY, _OTHER_KEY)
    return Scenario(
        threads={
            "cancel": partial(world.cancel, _KEY),
            "other cancel": partial(world.cancel, _OTHER_KEY),
            "trigger": world.triggering(_KEY),
        },
        check=world.check_fates,
    )


def purge_counts(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """Operations come and are completed while the reaper decides to purge: garbage stays bounded.

    When nobody is being added, what is left after a pass does not exceed the purge interval.
    """
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY).force_complete()

    def come_and_go() -> None:
        for operation in [world.watched(_OTHER_KEY) for _ in range(2)]:
            operation.force_complete()

    def check() -> None:
        world.advance()
        garbage = world.purgatory.watched()
        assert garbage == 0, f"{garbage} operations that are done are left, and none may"

    return Scenario(threads={"reaper": world.advance, "come and go": come_and_go}, check=check)


def cancel_and_purge(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """A key is cancelled while lists are purged: what is left under the other key is not forgotten.

    A purge must not take from the estimate what a canceller has in hand and has not cancelled yet.
    """
    world = PurgatoryWorld(purgatory_class)
    world.watched(_KEY, _OTHER_KEY)

    def check() -> None:
        world.advance()
        garbage = world.purgatory.watched()
        assert garbage == 0, f"{garbage} operations that are done are left, and none may"

    return Scenario(
        threads={
            "cancel": partial(world.cancel, _KEY),
            "purge": discarding(world.purgatory.purge_completed),
        },
        check=check,
    )


def shutdown_and_watch(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """The purgatory is shut down while an operation is handed in: refused, or left waiting."""
    world = PurgatoryWorld(purgatory_class)
    operation = world.operation()
    refused: list[PurgatoryClosedError] = []

    def watch() -> None:
        try:
            world.watch(operation, _KEY)
        except PurgatoryClosedError as error:
            refused.append(error)

    def check() -> None:
        assert operation.completions == operation.expirations == 0, "a shutdown completed it"
        watched = world.purgatory.watched()
        assert watched == 1 - len(refused), f"{watched} watches, refused {len(refused)} times"

    return Scenario(threads={"watch": watch, "shutdown": world.purgatory.shutdown}, check=check)


def error_and_trigger(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """An operation raises in its second check: nothing of it is left behind."""
    world = PurgatoryWorld(purgatory_class)
    operation = RaisingOperation(world.flag)

    def watch() -> None:
        try:
            world.watch(operation, _KEY)
        except ValueError:
            assert operation.is_cancelled() or not world.purgatory.watched(), "left behind"

    def raise_flag() -> None:
        world.flag.set(True)

    def check() -> None:
        world.advance()
        assert operation.completions <= 1, f"completed {operation.completions} times"
        world.check_nothing_is_left()

    return Scenario(threads={"watch": watch, "flag": raise_flag}, check=check)


def error_in_a_walk(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """An operation raises while two threads trigger: who stands behind it is completed."""
    world = PurgatoryWorld(purgatory_class)
    world.watch(RaisingOperation(world.flag), _KEY)
    behind = world.watched(_KEY)

    def trigger() -> None:
        try:
            world.trigger(_KEY)
        except (DelayedOperationError, ValueError):
            return

    def check() -> None:
        assert behind.completions == 1, f"completed {behind.completions} times"

    return Scenario(threads={"trigger": trigger, "trigger too": trigger}, check=check)


PurgatoryScenario = Callable[[type[AnyPurgatory]], Scenario]

PURGATORY_BUILDERS: Mapping[str, PurgatoryScenario] = {
    "purgatory-watch-trigger": watch_and_trigger,
    "purgatory-watch-two-triggers": watch_and_two_triggers,
    "purgatory-watch-expiry": watch_and_expiry,
    "purgatory-watch-trigger-expiry": watch_trigger_expiry,
    "purgatory-watch-trigger-purge": watch_trigger_purge,
    "purgatory-trigger-expiry-purge": trigger_expiry_purge,
    "purgatory-watch-removal": watch_and_removal,
    "purgatory-watch-purge-of-key": watch_and_purge_of_key,
    "purgatory-cancel-watch": cancel_and_watch,
    "purgatory-cancel-expiry": cancel_and_expiry,
    "purgatory-cancel-trigger": cancel_and_trigger,
    "purgatory-purge-counts": purge_counts,
    "purgatory-cancel-purge": cancel_and_purge,
    "purgatory-shutdown-watch": shutdown_and_watch,
    "purgatory-error-trigger": error_and_trigger,
    "purgatory-error-walk": error_in_a_walk,
}


def purgatory_program(
    name: str, build: PurgatoryScenario, purgatory_class: type[AnyPurgatory]
) -> Program:
    """Return the program in which `purgatory_class` is the class of the purgatory."""
    return program(name, partial(build, purgatory_class))


PURGATORY: tuple[Program, ...] = tuple(
    purgatory_program(name, build, DelayedOperationPurgatory)
    for name, build in PURGATORY_BUILDERS.items()
)
