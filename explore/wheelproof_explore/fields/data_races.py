"""Data races of a run: conflicting accesses of a plain field that happens-before does not order.

Happens-before is as in C. Flanagan and S. Freund, "FastTrack" (PLDI 2009); the past of a step is a
bit mask over the events of the run. The edges are those of Java: release of a lock to its next
acquisition, volatile write to a later read, start of a thread to its steps, end of a thread to its
join, notification to wake-up. That one access came first in this run does not order the two.
"""

from itertools import chain

from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.fields.plain_fields import FieldAccess
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import AtomicOperation, ModelThread
from wheelproof_explore.runtime.numbers import HISTORY, THREAD_MASK, Actor
from wheelproof_explore.runtime.runtime import ControlledRuntime, LoggedAccess


class _Published:
    """The pasts that writers and readers have published at a lock or cell."""

    __slots__ = ("by_readers", "by_writers")

    def __init__(self) -> None:
        self.by_writers = 0
        self.by_readers = 0


class _Field:
    """The last write of a field, and what each thread has done last since then.

    That is a read, or a write of those that do not conflict with each other.
    """

    __slots__ = ("joint", "last_write", "reads")

    def __init__(self) -> None:
        self.last_write: LoggedAccess | None = None
        self.reads: dict[int, LoggedAccess] = {}
        self.joint: dict[int, LoggedAccess] = {}


def find_data_race(
    runtime: ControlledRuntime,
    actors: list[Actor],
    accesses: list[Accesses],
    operations: list[AtomicOperation[object] | None],
) -> Failure | None:
    """Return the first data race of a run, among the accesses in the runtime's `field_log`.

    A race with an access that is not sure is no failure: it is noted in the runtime's `blind`, so
    that a pass is none.
    """
    sure = [access for access in runtime.field_log if access.sure]
    race = _first_race(runtime, sure, actors, accesses, operations)
    if race is not None:
        return _failure(runtime.threads, *race)
    if len(sure) < len(runtime.field_log):
        race = _first_race(runtime, runtime.field_log, actors, accesses, operations)
        if race is not None:
            named = " and ".join(runtime.threads[access.thread].name for access in race)
            runtime.blind[f"{race[1].field} in {named}, and nothing orders the two"] = None
    return None


def _first_race(
    runtime: ControlledRuntime,
    log: list[LoggedAccess],
    actors: list[Actor],
    accesses: list[Accesses],
    operations: list[AtomicOperation[object] | None],
) -> tuple[LoggedAccess, LoggedAccess] | None:
    if not _may_race(log):
        return None
    search = _HappensBefore(runtime)
    place = 0
    for event in range(-1, len(actors)):
        if event >= 0:
            search.step(event, actors[event] & THREAD_MASK, accesses[event], operations[event])
        while place < len(log) and log[place].event == event:
            earlier = search.access(log[place])
            if earlier is not None:
                return earlier, log[place]
            place += 1
    return None


def _may_race(log: list[LoggedAccess]) -> bool:
    """Tell whether two threads access one field and one of them writes it."""
    accessed: dict[tuple[int, str], int] = {}
    written: set[tuple[int, str]] = set()
    shared: set[tuple[int, str]] = set()
    for access in log:
        field = access.owner, access.field
        if accessed.setdefault(field, access.thread) != access.thread:
            shared.add(field)
        if access.write:
            written.add(field)
    return not shared.isdisjoint(written)


class _HappensBefore:
    def __init__(self, runtime: ControlledRuntime) -> None:
        self._time = runtime.clock.number
        # For each thread, by number: the events in its past, and its own ones.
        self._pasts: dict[int, int] = {}
        self._own: dict[int, int] = {}
        self._objects: dict[int, _Published] = {}
        self._fields: dict[tuple[int, str], _Field] = {}
        self._whole = 0
        self._children: dict[int, list[int]] = {}
        for thread in runtime.threads.values():
            if thread.spawned_at >= 0:
                self._children.setdefault(thread.spawned_at, []).append(thread.number)

    def step(
        self,
        event: int,
        number: int,
        accesses: Accesses,
        operation: AtomicOperation[object] | None,
    ) -> None:
        """Record one step of a thread."""
        past = self._pasts.get(number, 0) | 1 << event
        self._own[number] = self._own.get(number, 0) | 1 << event
        if operation is not None and operation.whole:
            self._whole |= 1 << event
        if operation is not None and not isinstance(operation, FieldAccess):
            met = [access for access in accesses if access >> 1 not in (HISTORY, self._time)]
            for access in met if operation.observes else ():
                past |= self._learnt(access)
            for access in met:
                self._publish(past, access, operation)
        self._pasts[number] = past
        for child in self._children.get(event, ()):
            self._pasts[child] = past

    def access(self, access: LoggedAccess) -> LoggedAccess | None:
        """Record one access of a field; returns an earlier access that it races with, if any."""
        field = self._fields.setdefault((access.owner, access.field), _Field())
        if field.last_write is not None and self._is_unordered(field.last_write, access):
            return field.last_write
        reads = field.reads.values() if access.write else ()
        joint = () if access.joint else field.joint.values()
        for earlier in chain(reads, joint):
            if self._is_unordered(earlier, access):
                return earlier
        if access.joint:
            field.joint[access.thread] = access
        elif not access.write:
            field.reads[access.thread] = access
        else:
            field.reads.clear()
            field.joint.clear()
            field.last_write = access
        return None

    def _is_unordered(self, earlier: LoggedAccess, later: LoggedAccess) -> bool:
        if earlier.thread == later.thread:
            return False
        # Other threads learn of the access only through a later step of the earlier thread, unless
        # it is a part of its step.
        known = self._pasts.get(later.thread, 0) & self._own.get(earlier.thread, 0)
        is_part = earlier.event >= 0 and self._whole >> earlier.event & 1
        return not known >> (earlier.event if is_part else earlier.event + 1)

    def _learnt(self, access: int) -> int:
        published = self._objects.get(access >> 1)
        if published is None:
            return 0
        return published.by_writers | (published.by_readers if access & 1 else 0)

    def _publish(self, past: int, access: int, operation: AtomicOperation[object]) -> None:
        published = self._objects.get(access >> 1)
        if published is None:
            published = self._objects[access >> 1] = _Published()
        if access & 1:
            published.by_writers |= past
        elif operation.shares:
            published.by_readers |= past


def _failure(
    threads: dict[int, ModelThread], earlier: LoggedAccess, later: LoggedAccess
) -> Failure:
    def said(access: LoggedAccess) -> str:
        verb = "written" if access.write else "read"
        line = f" ({access.line})" if access.line else ""
        return f"{verb} by {threads[access.thread].name}{line}"

    return Failure(
        kind=FailureKind.DATA_RACE,
        thread=None,
        message=f"{later.field} is {said(earlier)} and {said(later)}, and nothing orders the two",
        cause=f"{later.field} {earlier.write} {later.write}",
    )
