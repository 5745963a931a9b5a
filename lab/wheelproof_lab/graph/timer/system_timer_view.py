"""The view of the reference's SystemTimer for its comparison with SystemTimer.tla.

The code's steps are finer than the module's. Each action of the module takes effect at one
operation of the code, which `_ACTIONS` names; the operations between change no compared variable.
The bucket's test that it holds an entry is CancelRemove on a cancelling thread, and FlushEntry on
an advancing one. The release of the read lock is UnlockRead, or Refuse if the timer is closed. Tick
is the clock's own step.

Compared are the clock, the tasks and the key of each bucket, the wheels' clocks, the queue, the
holders of the read-write lock and its waiting threads, and the fate of each task. Left out are `pc`
and the registers; levels without a used bucket (the code makes a level in separate steps); the
deadline of a task that does not wait; the older entry of a task that was added again, which the
code unlinks in a separate step; and the clocks of upper levels while a thread has the write lock,
since the code advances one level after the other.
"""

from collections.abc import Container, Mapping
from functools import cache
from types import MethodType

from wheelproof.sync import AtomicInteger, DeferredExecutor
from wheelproof.timer import SystemTimer, TimerTask, TimerTaskEntry, TimerTaskList, TimingWheel
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_lab.graph.comparing.projected import changes_of, only, pairs_of
from wheelproof_lab.graph.states.names import attributes, members, numbered
from wheelproof_lab.graph.states.views import NextStep, Surroundings, View
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

CLOCK = "clock"
"""The name of the thread that advances the time."""

_ACTIONS = {
    "add _RequestRead": "LockRead",
    "add _AwaitRead": "LockRead",  # asking for the read side, and taking it if that was in vain
    "set_timer_task_entry Exchange": "Bind",  # the task's entry is exchanged
    "_link Set": "Link",  # the entry's `list` is set
    "set_expiration Exchange": "SetExpiration",  # the bucket's expiration is exchanged
    "offer Acquire": "Offer",  # taking the lock of the delay queue: the bucket goes in with it
    "claim CompareAndSet": "Submit",  # the claim
    "cancel CompareAndSet": "CancelUnbind",  # the task's entry is exchanged for nothing
    "advance_clock _RequestWrite": "LockWrite",
    "advance_clock _AwaitWrite": "LockWrite",  # as LockRead, by who advances
    "hi_res_clock_ms Get": "Poll",  # reading the clock: the head of the queue is due
    "get_expiration Get": "AdvanceClock",  # reading the expiration of the bucket that was taken
    "flush Set": "FlushEnd",  # the bucket's expiration is set
    "advance_clock _ReleaseWrite": "UnlockWrite",  # giving the write side back
    "close _RequestWrite": "CloseLock",
    "close _AwaitWrite": "CloseLock",  # as LockRead, by who closes
    "close _ReleaseWrite": "CloseUnlock",
    "close Release": "Shutdown",  # giving back the lock of the delay queue: the executor is next
}
"""The action of a step: where it is asked for, and its operation."""
_UNLINK = ("_holds", "Get")
_LEAVE = ("add", "_ReleaseRead")
_TICK = ("tick", "AddAndGet")
IDLE = -1
"""The key of an idle bucket."""

_ASKING = ("QueueForRead", "QueueForWrite")
_FATES = ("waiting", "submitted")


class SystemTimerView(View):
    """The view of one run.

    `clock` is the cell with the time, `tasks` has the tasks by name, `cancellers` are the threads
    that cancel. Time stops at `max_time_ms`, unless a task still waits.
    """

    def __init__(
        self,
        *,
        timer: SystemTimer,
        executor: DeferredExecutor,
        clock: AtomicInteger,
        tasks: Mapping[str, TimerTask],
        cancellers: Container[str],
        max_time_ms: int,
    ) -> None:
        self._timer: Mapping[str, object] = vars(timer)
        self._executor: Mapping[str, object] = vars(executor)
        self._delay_queue: Mapping[str, object] = vars(self._timer["_delay_queue"])
        lock = self._timer["_lock"]
        assert isinstance(lock, ModelReadWriteLock)
        self._lock = lock
        self._clock = clock
        self._tasks = tasks
        self._cancellers = cancellers
        self._names = {id(task): name for name, task in tasks.items()}
        self._max_time_ms = max_time_ms
        self._known_levels: list[TimingWheel] = []

    def state(self, surroundings: Surroundings) -> State:
        """Return the compared variables of SystemTimer."""
        name = surroundings.threads
        held = self._lock.state
        levels = self._levels()
        return {
            "now": self._clock.get(),
            "readers": frozenset(name[number] for number in held.readers),
            "writer": "" if held.writer is None else name[held.writer],
            "queued": frozenset(
                name[number] for number in held.waiting_readers | held.waiting_writers
            ),
            "admitted": frozenset(name[number] for number in held.admitted),
            "closed": self._is_closed(),
            "shut": bool(self._executor["_shut_down"]),
            **self._fates(),
            "clock": levels[0].current_time_ms,
            "wheel": self._wheel(levels, with_clocks=held.writer is None),
            "queue": self._queue(levels),
        }

    def label(self, step: NextStep) -> str | None:
        """Return the thread and the action that takes effect with a step, None for no action."""
        key = step.site, step.operation
        if key == _TICK:
            return "Tick"
        if key == _LEAVE:
            action: str | None = "Refuse" if self._is_closed() else "UnlockRead"
        elif key == _UNLINK:
            action = "CancelRemove" if step.thread in self._cancellers else "FlushEntry"
        else:
            action = _ACTIONS.get(" ".join(key))
        return None if action is None else f"{step.thread}: {action}"

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Allow a tick of the clock under the same condition as MCLater."""
        del surroundings
        if step.thread != CLOCK:
            return True
        now = self._clock.get()
        bound = (task.get_timer_task_entry() for task in self._tasks.values())
        return now < self._max_time_ms or any(
            entry is not None and entry.expiration_ms > now for entry in bound
        )

    def _is_closed(self) -> bool:
        return bool(self._timer["_closed"])

    def _fates(self) -> dict[str, Value]:
        bound = {name: task.get_timer_task_entry() for name, task in self._tasks.items()}
        run = members(self._executor["_tasks"], MethodType)
        submitted = {id(submission.__self__) for submission in run}
        return {
            "state": _function(
                tuple(
                    (name, _fate(bound[name], submitted=id(task) in submitted))
                    for name, task in self._tasks.items()
                )
            ),
            "deadline": _function(
                tuple((name, entry.expiration_ms if entry else 0) for name, entry in bound.items())
            ),
        }

    def _levels(self) -> list[TimingWheel]:
        levels = self._known_levels
        wheel = levels[-1].overflow_wheel if levels else self._timer["_timing_wheel"]
        while isinstance(wheel, TimingWheel):
            levels.append(wheel)
            wheel = wheel.overflow_wheel
        return levels

    def _wheel(self, levels: list[TimingWheel], *, with_clocks: bool) -> Value:
        used: list[tuple[Value, Value]] = []
        for number, level in enumerate(levels):
            clock = (level.current_time_ms,) if with_clocks else ()
            for index, bucket in _buckets(level):
                tasks, key = self._content(bucket), bucket.get_expiration()
                if tasks or key != IDLE:
                    used.append(((number, index), (key, *clock, tasks)))
        return _function(tuple(used))

    def _content(self, bucket: TimerTaskList) -> tuple[Value, ...]:
        """Return the tasks linked in a bucket, in order, without entries that were replaced."""
        root = attributes(bucket)["_root"]
        tasks: list[Value] = []
        entry: object = getattr(root, "next", root)
        while isinstance(entry, TimerTaskEntry) and entry is not root:
            if entry.timer_task.get_timer_task_entry() in (entry, None):
                tasks.append(self._names[id(entry.timer_task)])
            entry = entry.next
        return tuple(tasks)

    def _queue(self, levels: list[TimingWheel]) -> Value:
        queued = members(self._delay_queue["_heap"], TimerTaskList)
        return frozenset(
            (bucket.get_expiration(), number, index)
            for number, level in enumerate(levels)
            for index, bucket in _buckets(level)
            if bucket in queued
        )


def _buckets(level: TimingWheel) -> list[tuple[int, TimerTaskList]]:
    """Return the buckets that a level has made, with their indices."""
    return numbered(attributes(level)["_buckets"], TimerTaskList)


@cache
def _function(pairs: tuple[tuple[Value, Value], ...]) -> Value:
    # Cached: many states share a value, and sorting the arguments takes time.
    return make_function(pairs)


def _fate(entry: TimerTaskEntry | None, *, submitted: bool) -> str:
    if entry is not None:
        return "waiting"
    return "submitted" if submitted else "unbound"


def project_system_timer(state: State) -> State:
    """Return the compared part of a state of the module."""
    waiting = {name: fate == "waiting" for name, fate in pairs_of(state["state"])}
    nobody = isinstance(state["writer"], ModelValue)
    levels = [dict(pairs_of(level)) for _, level in pairs_of(state["wheel"])]
    return {
        **only(state, ("now", "readers", "queued", "admitted", "closed")),
        "writer": "" if nobody else state["writer"],
        "shut": state["executor"] == "shut",
        "state": make_function(
            (name, fate if fate in _FATES else "unbound") for name, fate in pairs_of(state["state"])
        ),
        "deadline": make_function(
            (name, deadline if waiting[name] else 0)
            for name, deadline in pairs_of(state["deadline"])
        ),
        "clock": levels[0]["clock"],
        "wheel": make_function(_used_buckets(levels, with_clocks=nobody)),
        "queue": frozenset(_queued(item) for _, item in pairs_of(state["queue"])),
    }


def label_of_system_timer(action: str, before: State, after: State) -> str | None:
    """Return thread and action; a thread that queues for a lock has the action that it asks for."""
    if action == "Tick":
        return action
    steps = dict(pairs_of(before["pc"]))
    if action in _ASKING:
        (asking,) = _members(after["queued"]) - _members(before["queued"])
        return f"{asking}: {steps[asking]}"
    for thread, _, _ in changes_of("pc", before, after):
        return f"{thread}: {action}"
    return None


def _used_buckets(
    levels: list[dict[Value, Value]], *, with_clocks: bool
) -> list[tuple[Value, Value]]:
    used: list[tuple[Value, Value]] = []
    for number, level in enumerate(levels):
        clock = (level["clock"],) if with_clocks else ()
        for index, bucket in pairs_of(level["buckets"]):
            inside = dict(pairs_of(bucket))
            if inside["tasks"] or inside["key"] != IDLE:
                used.append(((number, index), (inside["key"], *clock, inside["tasks"])))
    return used


def _queued(item: Value) -> Value:
    parts = dict(pairs_of(item))
    place = parts["bucket"]
    assert isinstance(place, tuple)
    return (parts["key"], *place)


def _members(value: Value) -> frozenset[Value]:
    assert isinstance(value, frozenset)
    return value
