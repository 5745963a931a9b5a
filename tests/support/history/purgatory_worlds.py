"""Purgatories in the model checker, whose predicates are made true where the recording sees it."""

from collections.abc import Callable
from functools import partial

from support.history.recorded_worlds import Build
from wheelproof import sync
from wheelproof.errors import DelayedOperationError
from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof.sync import Lock, Volatile
from wheelproof.timer import Timer
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Scenario
from wheelproof_lab.bugs import purgatory_variants as bugs
from wheelproof_lab.worlds.making import discarding
from wheelproof_lab.worlds.purgatory import users as purgatory_users
from wheelproof_lab.worlds.purgatory.callers import CheckInsideReadLockPartition
from wheelproof_lab.worlds.purgatory.purgatory import AnyPurgatory, TimerOfOneList
from wheelproof_spec.app.recorder import (
    Recording,
)

_KEY = "key"
Discipline = Callable[[], CompletionDiscipline]


class WaitingOperation(DelayedOperation):
    """Completes once a flag is up; its completion is a step."""

    __slots__ = ("_done", "_flag")

    def __init__(self, flag: Volatile[bool], discipline: CompletionDiscipline) -> None:
        super().__init__(0, discipline=discipline)
        self._flag = flag
        self._done = sync.volatile(False, "done")

    def try_complete(self) -> bool:
        """Test the flag."""
        return self._flag.get() and self.force_complete()

    def on_complete(self) -> None:
        """Say so."""
        self._done.set(True)

    def on_expiration(self) -> None:
        """Do nothing."""


class RaisingOperation(WaitingOperation):
    """An operation whose predicate raises once the flag is up."""

    __slots__ = ()

    def try_complete(self) -> bool:
        """Test the flag, in vain."""
        if self._flag.get():
            raise ValueError("the predicate raises")
        return False


class Gate:
    """Lets nobody through until it is opened."""

    def __init__(self) -> None:
        self._lock = sync.lock("gate")
        self._opened = sync.condition(self._lock, "opened")
        self._open = False

    def open(self) -> None:
        with self._lock:
            self._open = True
            self._opened.notify_all()

    def wait(self) -> None:
        with self._lock:
            while not self._open:
                self._opened.wait()


class GatedOperation(WaitingOperation):
    """Its first tests are each held up once they have found the flag down, until a gate opens."""

    __slots__ = ("gates",)

    def __init__(self, flag: Volatile[bool], discipline: CompletionDiscipline) -> None:
        super().__init__(flag, discipline)
        self.gates: list[tuple[Gate, Gate]] = []

    def try_complete(self) -> bool:
        """Test the flag, then wait."""
        holds = self._flag.get()
        if self.gates:
            tested, go_on = self.gates.pop(0)
            tested.open()
            go_on.wait()
        return holds and self.force_complete()


class EagerCancelOperation(bugs.EagerCancelOperation, WaitingOperation):
    """Has the defect."""

    __slots__ = ()


class TailNotTestedOperation(bugs.TailNotTestedOperation, WaitingOperation):
    """Has the defect."""

    __slots__ = ()


class Bench:
    """A purgatory with one shard, a flag, and the operations that wait for it."""

    def __init__(
        self,
        now: Callable[[], Recording],
        purgatory_class: type[AnyPurgatory] = DelayedOperationPurgatory,
        discipline: Discipline = ExclusiveDiscipline,
        operation_class: type[WaitingOperation] = WaitingOperation,
        timer: Callable[[], Timer] = TimerOfOneList,
    ) -> None:
        self._now = now
        self._discipline = discipline
        self._operation_class = operation_class
        self.purgatory = purgatory_class(
            "recorded", timer(), purge_interval=0, shards=1, reaper_enabled=False
        )
        self.flag = sync.volatile(False, "flag")
        self.operations: list[WaitingOperation] = []

    def operation(self) -> WaitingOperation:
        operation = self._operation_class(self.flag, self._discipline())
        self.operations.append(operation)
        return operation

    def watched(self) -> WaitingOperation:
        operation = self.operation()
        self.watch(operation)
        return operation

    def watch(self, operation: DelayedOperation) -> None:
        self.purgatory.try_complete_else_watch(operation, [_KEY])

    def check(self) -> None:
        self.purgatory.check_and_complete(_KEY)

    def trigger(self) -> None:
        with self._now().satisfying(self.purgatory, *self.operations):
            self.flag.set(True)
        self.check()

    def look(self) -> None:
        self.purgatory.watched()
        self.purgatory.num_delayed()


def triggers(discipline: Discipline, checks: int) -> Build:
    """Somebody makes the predicate true and checks; others check meanwhile."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, discipline=discipline)
        bench.watched()
        threads: dict[str, Action] = {f"check {n}": bench.check for n in range(checks)}
        return Scenario(threads=threads | {"trigger": bench.trigger})

    return build


def turned_away_twice(discipline: Discipline) -> Build:
    """A check holds the lock; during its first test a second one comes, during its next a third."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, discipline=discipline, operation_class=GatedOperation)
        operation = bench.watched()
        assert isinstance(operation, GatedOperation)
        first, second = (Gate(), Gate()), (Gate(), Gate())
        operation.gates = [first, second]

        def come(gates: tuple[Gate, Gate], action: Action) -> None:
            gates[0].wait()
            action()
            gates[1].open()

        return Scenario(
            threads={
                "check": bench.check,
                "check too": partial(come, first, bench.check),
                "trigger": partial(come, second, bench.trigger),
            }
        )

    return build


def two_triggers(discipline: Discipline) -> Build:
    """Two threads make the predicate true and check."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, discipline=discipline)
        bench.watched()
        return Scenario(threads={"trigger": bench.trigger, "trigger too": bench.trigger})

    return build


def trigger_and_expiry(discipline: Discipline) -> Build:
    """An operation is triggered while it expires."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, discipline=discipline)
        bench.watched()
        advance = discarding(partial(bench.purgatory.advance_clock, Millis(0)))
        return Scenario(threads={"trigger": bench.trigger, "reaper": advance})

    return build


def trigger_and_holder(make: Callable[[Lock], CompletionDiscipline]) -> Build:
    """Somebody else holds the operation's lock for a while."""

    def build(now: Callable[[], Recording]) -> Scenario:
        lock = sync.lock("group")
        bench = Bench(now, discipline=partial(make, lock))
        bench.watched()

        def hold() -> None:
            with lock:
                bench.flag.get()

        return Scenario(threads={"trigger": bench.trigger, "holder": hold})

    return build


def watch_and_removal(purgatory_class: type[AnyPurgatory]) -> Build:
    """The key's last operation leaves while another one is handed in."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, purgatory_class)
        bench.watched().force_complete()
        watch = partial(bench.watch, bench.operation())
        return Scenario(threads={"watch": watch, "check": bench.check}, check=bench.trigger)

    return build


def watch_and_trigger(operation_class: type[WaitingOperation]) -> Build:
    """An operation is handed in while its trigger comes; then somebody counts."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, operation_class=operation_class)
        watch = partial(bench.watch, bench.operation())
        return Scenario(threads={"watch": watch, "trigger": bench.trigger}, check=bench.look)

    return build


def watch_and_cancel(purgatory_class: type[AnyPurgatory]) -> Build:
    """A key is cancelled while its operation is triggered."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, purgatory_class)
        bench.watched()
        cancel = discarding(partial(bench.purgatory.cancel_for_key, _KEY))
        return Scenario(threads={"cancel": cancel, "trigger": bench.trigger}, check=bench.look)

    return build


def error_in_a_walk(purgatory_class: type[AnyPurgatory]) -> Build:
    """Before an operation that can end there is one that raises."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, purgatory_class)
        bench.watch(RaisingOperation(bench.flag, ExclusiveDiscipline()))
        bench.watched()

        def trigger() -> None:
            try:
                bench.trigger()
            except (DelayedOperationError, ValueError):
                return

        return Scenario(threads={"trigger": trigger, "trigger too": trigger})

    return build


def error_when_watched(purgatory_class: type[AnyPurgatory]) -> Build:
    """An operation raises in its second check, and somebody counts."""

    def build(now: Callable[[], Recording]) -> Scenario:
        bench = Bench(now, purgatory_class)
        operation = RaisingOperation(bench.flag, ExclusiveDiscipline())

        def watch() -> None:
            try:
                bench.watch(operation)
            except ValueError:
                return

        flag = partial(bench.flag.set, True)
        return Scenario(threads={"watch": watch, "flag": flag}, check=bench.look)

    return build


def _plain(build: Callable[[], Scenario]) -> Build:
    def built(now: Callable[[], Recording]) -> Scenario:
        del now
        return build()

    return built


RIGHT: dict[str, Build] = {
    "triggers": triggers(ExclusiveDiscipline, 1),
    "three triggers": triggers(PendingFlagDiscipline, 2),
    "turned away twice": turned_away_twice(PendingFlagDiscipline),
    "two triggers": two_triggers(ExclusiveDiscipline),
    "trigger and expiry": trigger_and_expiry(ExclusiveDiscipline),
    "trigger and holder": trigger_and_holder(BlockingDiscipline),
    "watch and removal": watch_and_removal(DelayedOperationPurgatory),
    "watch and trigger": watch_and_trigger(WaitingOperation),
    "watch and cancel": watch_and_cancel(DelayedOperationPurgatory),
    "error in a walk": error_in_a_walk(DelayedOperationPurgatory),
    "error when watched": error_when_watched(DelayedOperationPurgatory),
}

BROKEN: dict[str, Build] = {
    "KAFKA-385": two_triggers(bugs.NoLockDiscipline),
    "KAFKA-6653": triggers(TryLockOnceDiscipline, 1),
    "KAFKA-6653/first-fix": turned_away_twice(bugs.RetryOnceDiscipline),
    "KAFKA-8334": trigger_and_holder(PendingFlagDiscipline),
    "KAFKA-19312": trigger_and_expiry(BlockingDiscipline),
    "KAFKA-2253/get-then-add": watch_and_removal(bugs.GetThenAddPurgatory),
    "stop-at-error": error_in_a_walk(bugs.StopAtErrorPurgatory),
    "left-at-error": error_when_watched(bugs.LeftAtErrorPurgatory),
    "timeout-half-added": watch_and_trigger(EagerCancelOperation),
    "tail-not-tested": watch_and_trigger(TailNotTestedOperation),
}

DEADLOCKS: dict[str, Build] = {
    "KAFKA-2253/list-then-map": watch_and_removal(bugs.RemovalUnderListMonitorPurgatory),
    "KAFKA-3994": _plain(
        partial(purgatory_users.watch_inside_group, bugs.HeldWhileTryingPurgatory)
    ),
    "KAFKA-5970": _plain(partial(purgatory_users.group_triggers, bugs.private_lock)),
    "KAFKA-6042": _plain(partial(purgatory_users.two_groups, inside=True)),
    "KAFKA-7697": _plain(
        partial(purgatory_users.appends_and_leaders, CheckInsideReadLockPartition)
    ),
    "KAFKA-8334/first-fix": _plain(
        partial(purgatory_users.watch_inside_read_lock, bugs.LateLockDiscipline)
    ),
}
