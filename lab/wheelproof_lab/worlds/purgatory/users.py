"""The purgatory and its users' locks: groups and partitions that trigger and are called back.

A program here without a deadlock has a deadlocking variant among the known bugs. TLA+: Purgatory.
"""

from collections.abc import Callable, Sequence
from functools import partial

from wheelproof import sync
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)
from wheelproof.purgatory.watchers import Watchers
from wheelproof.sync import Monitor
from wheelproof.sync.protocols import LockView
from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_lab.bugs.purgatory_variants import (
    HeldWhileTryingPurgatory,
    LateLockDiscipline,
    private_lock,
)
from wheelproof_lab.worlds.making import discarding, program
from wheelproof_lab.worlds.purgatory.callers import CheckInsideReadLockPartition, Partition
from wheelproof_lab.worlds.purgatory.purgatory import AnyPurgatory, PurgatoryWorld

_KEY = "key"
_OTHER_KEY = "other key"
OfGroup = Callable[[Monitor], CompletionDiscipline]
"""Makes the discipline of an operation whose callback takes a group's lock."""


class LockingOperation(DelayedOperation):
    """An operation that reads its condition under a lock; its callback also works under a lock."""

    __slots__ = ("_callback_lock", "_condition", "_condition_lock", "completions")

    def __init__(
        self,
        condition: Callable[[], bool],
        discipline: CompletionDiscipline,
        *,
        condition_lock: LockView | None = None,
        callback_lock: LockView | None = None,
    ) -> None:
        super().__init__(0, discipline=discipline)
        self._condition = condition
        self._condition_lock = condition_lock
        self._callback_lock = callback_lock
        self.completions = 0

    def try_complete(self) -> bool:
        """Test the condition under its lock."""
        if self._condition_lock is None:
            holds = self._condition()
        else:
            with self._condition_lock:
                holds = self._condition()
        return holds and self.force_complete()

    def on_complete(self) -> None:
        """Work under the callback's lock."""
        if self._callback_lock is None:
            self.completions += 1
        else:
            with self._callback_lock:
                self.completions += 1

    def on_expiration(self) -> None:
        """Do nothing."""


def group_triggers(make: OfGroup) -> Scenario:
    """A group triggers under its lock, which the callback takes too; another thread triggers."""
    return _group_and(make, "trigger", lambda world: world.triggering(_KEY))


def group_triggers_expiry(make: OfGroup) -> Scenario:
    """A group triggers under its lock, which the callback takes too; the operation expires."""
    return _group_and(make, "reaper", lambda world: world.advance)


def _group_and(make: OfGroup, name: str, other: Callable[[PurgatoryWorld], Action]) -> Scenario:
    world = PurgatoryWorld(DelayedOperationPurgatory)
    group = sync.monitor("group")
    operation = LockingOperation(world.flag.get, make(group), callback_lock=group)
    world.watch(operation, _KEY)

    def act() -> None:
        with group:
            world.trigger(_KEY)

    return Scenario(
        threads={"group": act, name: other(world)}, check=partial(_check_completed, [operation])
    )


class EntwinedOperation(LockingOperation):
    """An operation whose callback acts on another operation."""

    __slots__ = ("callback",)

    def __init__(self, condition: Callable[[], bool], lock: Monitor | None = None) -> None:
        super().__init__(condition, ExclusiveDiscipline(lock))
        self.callback: Callable[[], object] = condition

    def on_complete(self) -> None:
        """Count the completion, and act on the other operation."""
        super().on_complete()
        self.callback()


def complete_each_other() -> Scenario:
    """Each of two operations completes the other: who is done is not waited for."""
    one, other = (EntwinedOperation(lambda: False) for _ in range(2))
    one.callback, other.callback = other.force_complete, one.force_complete

    return Scenario(
        threads={
            "one": discarding(one.force_complete),
            "other": discarding(other.force_complete),
        },
        check=partial(_check_completed, [one, other]),
    )


def try_each_other() -> Scenario:
    """Each of two callbacks tries the other operation, past the purgatory: both may wait."""
    flag = sync.volatile(True, "flag")
    one, other = (EntwinedOperation(flag.get) for _ in range(2))
    one.callback, other.callback = other.safe_try_complete, one.safe_try_complete

    return Scenario(
        threads={
            "one": discarding(one.safe_try_complete),
            "other": discarding(other.safe_try_complete),
        },
        check=partial(_check_completed, [one, other]),
    )


def trigger_each_other(*, expires: bool) -> Scenario:
    """Each of two callbacks triggers the other's list: who is done is not waited for.

    One operation is triggered, the other one as well, or it `expires`.
    """
    flag = sync.volatile(True, "flag")
    one, other = (EntwinedOperation(flag.get) for _ in range(2))
    ones, others = (_list_of(operation) for operation in (one, other))
    one.callback, other.callback = others.try_complete_watched, ones.try_complete_watched

    return Scenario(
        threads={
            "trigger": discarding(ones.try_complete_watched),
            "other": other.run if expires else discarding(others.try_complete_watched),
        },
        check=partial(_check_completed, [one, other]),
    )


def trigger_across_shared_locks() -> Scenario:
    """Two pairs of operations share a lock each; callbacks trigger one of the other pair.

    A callback runs under its operation's lock, so it triggers under one that others take: against
    standard 2.12.2.
    """
    flag = sync.volatile(True, "flag")
    locks = sync.monitor("lock of one pair"), sync.monitor("lock of the other pair")
    called = [EntwinedOperation(flag.get, lock) for lock in locks]
    triggered = [EntwinedOperation(flag.get, lock) for lock in locks]
    for operation, others in zip(called, reversed(triggered), strict=True):
        operation.callback = _list_of(others).try_complete_watched

    return Scenario(
        threads={f"completer {one}": discarding(called[one].force_complete) for one in range(2)},
        check=partial(_check_completed, [*called, *triggered]),
    )


def _list_of(operation: DelayedOperation) -> Watchers[DelayedOperation]:
    """Return the list of a key with one operation: what a trigger of the key walks."""
    watchers = Watchers[DelayedOperation]()
    watchers.watch(operation)
    return watchers


def two_groups(*, inside: bool) -> Scenario:
    """Each of two groups completes an operation whose callback takes the other group's lock.

    Both trigger after they have released their own lock, or `inside` it.
    """
    world = PurgatoryWorld(DelayedOperationPurgatory)
    groups = {_KEY: sync.monitor("group"), _OTHER_KEY: sync.monitor("other group")}
    operations = [
        LockingOperation(world.flag.get, ExclusiveDiscipline(), callback_lock=group)
        for group in groups.values()
    ]
    for operation, key in zip(operations, groups, strict=True):
        world.watch(operation, key)

    def act(own: str, other: str) -> None:
        with groups[own]:
            world.flag.set(True)
            if inside:
                world.purgatory.check_and_complete(other)
        if not inside:
            world.purgatory.check_and_complete(other)

    return Scenario(
        threads={
            "group": partial(act, _KEY, _OTHER_KEY),
            "other group": partial(act, _OTHER_KEY, _KEY),
        },
        check=partial(_check_completed, operations),
    )


def watch_inside_group(purgatory_class: type[AnyPurgatory]) -> Scenario:
    """A group hands an operation in under its lock; the test of another operation takes it too."""
    world = PurgatoryWorld(purgatory_class)
    group = sync.monitor("group")
    waiting = LockingOperation(world.flag.get, ExclusiveDiscipline(), condition_lock=group)
    world.watch(waiting, _KEY)
    late = world.operation()

    def act() -> None:
        with group:
            world.watch(late, _KEY)

    return Scenario(
        threads={"group": act, "trigger": world.triggering(_KEY)},
        check=partial(_check_completed, [waiting]),
    )


def appends_and_leaders(partition_class: type[Partition]) -> Scenario:
    """Appends on two partitions; a fetch that waits for each reads the other; two writers."""
    world = PurgatoryWorld(DelayedOperationPurgatory)
    partitions = [partition_class(_KEY), partition_class(_OTHER_KEY)]
    for own, other in (partitions, partitions[::-1]):
        fetch = LockingOperation(
            _positive(other), ExclusiveDiscipline(), condition_lock=other.lock.read
        )
        world.watch(fetch, own.name)
    first, second = partitions
    return Scenario(
        threads={
            "append": partial(first.append, world.purgatory),
            "other append": partial(second.append, world.purgatory),
            "leader": first.become_leader,
            "other leader": second.become_leader,
        }
    )


def watch_inside_read_lock(make: Callable[[], CompletionDiscipline]) -> Scenario:
    """A hand-in under a read lock, which the predicate takes too, while a writer waits for it."""
    world = PurgatoryWorld(DelayedOperationPurgatory)
    state = sync.read_write_lock("state's lock")
    operation = LockingOperation(world.flag.get, make(), condition_lock=state.read)

    def watch() -> None:
        with state.read:
            world.watch(operation, _KEY)

    def write() -> None:
        with state.write:
            world.flag.set(True)

    def check() -> None:
        world.purgatory.check_and_complete(_KEY)
        _check_completed([operation])

    return Scenario(
        threads={
            "watch": watch,
            "write": write,
            "check": discarding(partial(world.purgatory.check_and_complete, _KEY)),
        },
        check=check,
    )


def _private_blocking(group: Monitor) -> CompletionDiscipline:
    del group
    return BlockingDiscipline()


def _positive(partition: Partition) -> Callable[[], bool]:
    return lambda: partition.end.get() > 0


def _check_completed(operations: Sequence[LockingOperation]) -> None:
    for operation in operations:
        assert operation.completions == 1, f"completed {operation.completions} times"


PURGATORY_USERS: tuple[Program, ...] = (
    program("purgatory-group-triggers", partial(group_triggers, ExclusiveDiscipline)),
    program("purgatory-group-expiry", partial(group_triggers_expiry, ExclusiveDiscipline)),
    program("purgatory-group-expiry-blocking", partial(group_triggers_expiry, _private_blocking)),
    program("purgatory-complete-each-other", complete_each_other),
    program("purgatory-trigger-each-other", partial(trigger_each_other, expires=False)),
    program("purgatory-trigger-and-expire", partial(trigger_each_other, expires=True)),
    program("purgatory-two-groups", partial(two_groups, inside=False)),
    program("purgatory-watch-inside-group", partial(watch_inside_group, DelayedOperationPurgatory)),
    program("purgatory-appends-leaders", partial(appends_and_leaders, Partition)),
    program(
        "purgatory-watch-inside-read-lock", partial(watch_inside_read_lock, ExclusiveDiscipline)
    ),
)
FAILING_USERS: tuple[Program, ...] = (
    program("bug/KAFKA-3994", partial(watch_inside_group, HeldWhileTryingPurgatory)),
    program("bug/KAFKA-5970", partial(group_triggers, private_lock)),
    program("bug/KAFKA-6042", partial(two_groups, inside=True)),
    program("bug/KAFKA-7697", partial(appends_and_leaders, CheckInsideReadLockPartition)),
    program("bug/KAFKA-8334/first-fix", partial(watch_inside_read_lock, LateLockDiscipline)),
)
"""The known bugs of the users of a purgatory, and those that show in users."""
EXCLUSIVE_EXPIRY = program(
    "exclusive-expiry-private-lock", partial(group_triggers_expiry, private_lock)
)
"""A consequence of the fix of KAFKA-19312: an expiry waits for a group (docs/findings.md)."""
USER_DEADLOCKS: tuple[Program, ...] = (
    program("callbacks-try-each-other", try_each_other),
    program("callbacks-across-shared-locks", trigger_across_shared_locks),
)
"""What a callback may not do, since it runs under its operation's lock (standard 2.12, 6.4.6)."""
