"""Records white-box traces of the reference's SystemTimer: one line turns the recording on.

::

    with tracing(Path("trace.jsonl"), TimerConfig(tick_ms=1, wheel_size=20)):
        ...  # make one timer, on the system's clock, and use it from any number of threads

No part of the timer is replaced: the recorder derives a thread's action of SystemTimer.tla from the
locks that the thread holds and the cells that it touches, in order.

A task whose add has ended (submitted, cancelled) gets a new name when it is added again, since the
module knows tasks and not their entries. So an entry that a cancel left in a bucket
(standard 1.11) keeps the name of its own add. A task that two threads add at the same time is
not supported: the module has no name for its two entries.
"""

import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import wheelproof
from wheelproof.sync import current_runtime, use_runtime
from wheelproof.timer.timer_task import TimerTaskEntry
from wheelproof.timer.timer_task_list import IDLE
from wheelproof.units import Millis
from wheelproof_spec.base.codec.vocabulary import ABSENT, Implementation
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.lines import TRACE, TraceEnd, TraceEvent, TraceHeader
from wheelproof_spec.components.timer.actions import (
    Binding,
    Bound,
    Claimed,
    ClockRead,
    EntryTaken,
    ExpirationSet,
    Found,
    TaskNamed,
    Unbound,
)
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.fuzz.proxy_runtime import RELEASES, ProxyRuntime

R = TypeVar("R")
_TRACE = "timer"


@contextmanager
def tracing(path: Path, config: TimerConfig) -> Generator[None]:
    """Record the timer that is made inside the block, into `path`.

    `config` is the timer's configuration, but its start is observed. Raises UsageError if not
    exactly one timer is made.
    """
    runtime = current_runtime()
    watcher = _TimerWatcher(runtime.monotonic_ms)
    with use_runtime(ProxyRuntime(runtime, watcher, watcher.clock_read)):
        yield
    path.write_bytes(b"".join(format_line(line) for line in watcher.lines(config)))


@dataclass(slots=True)
class _Event:
    thread: str
    action: str
    t_ms: int
    args: object = ABSENT
    obs: object = ABSENT


@dataclass(slots=True)
class _Thread:
    """The recorder's state of one thread: its next step, and the entry of its call."""

    name: str
    pc: str = "Idle"
    monitors: Counter[str] = field(default_factory=Counter[str])
    guess: _Event | None = None
    """A recorded step that the thread's next guess replaces, unless another step comes first."""
    entry: TimerTaskEntry | None = None
    """The entry that is being added or cancelled."""
    adds: bool = False


class _TimerWatcher:
    """The recorder of every step of the timer; the clock is 0 when it is read for the first time.

    A cell's operation and its record are one step: both happen under `_steps`, and no thread waits
    for another lock while it holds `_steps`. An acquire is recorded once the lock is held, a
    release while the lock is still held.
    """

    def __init__(self, read_clock_ms: Callable[[], Millis]) -> None:
        self._read_clock_ms = read_clock_ms
        self._began_ms: Millis | None = None
        self._steps = threading.RLock()
        self._events: list[_Event] = []
        self._threads: dict[int, _Thread] = {}
        self._timers = 0
        self._now_ms = self._start_ms = Millis(0)
        self._names: dict[int, str] = {}
        """The name of each task, by the identity of the cell that holds its entry."""
        self._entries: dict[int, tuple[TimerTaskEntry, str]] = {}
        """Each entry with the name of its add, by the identity of the cell of its list."""
        self._bound: dict[int, TimerTaskEntry | None] = {}

    def lines(self, config: TimerConfig) -> Generator[object]:
        """Yield the lines of the trace."""
        if self._timers != 1:
            raise UsageError(f"a trace is of one timer, but {self._timers} were made in the block")
        yield TraceHeader(
            schema=TRACE,
            kind="header",
            trace=_TRACE,
            component=config.component,
            impl=Implementation(name=wheelproof.__name__, version="reference"),
            config=replace(config, start_ms=self._start_ms),
            clock="monotonic",
        )
        taken: Counter[str] = Counter()
        for seq, event in enumerate(self._events):
            yield TraceEvent(
                kind="event",
                trace=_TRACE,
                thread=event.thread,
                tseq=taken[event.thread],
                action=event.action,
                args=event.args,
                obs=event.obs,
                seq=seq,
                t_ms=event.t_ms,
            )
            taken[event.thread] += 1
        yield TraceEnd(kind="end", trace=_TRACE, events=len(self._events))

    # The interface of a watcher

    def making(self, name: str) -> None:
        """Record that a timer is made: it makes its lock right after it has read the clock."""
        if name == "SystemTimer.lock":
            with self._steps:
                self._timers += 1
                self._start_ms = self._now_ms

    def around(
        self, name: str, primitive: object, how: str, perform: Callable[[], R], value: object
    ) -> R:
        """Record an operation on a lock or a cell; a wait on a condition is not a step."""
        match how:
            case "__enter__" | "acquire" | "try_acquire":
                result = perform()
                if how != "try_acquire" or result:
                    with self._steps:
                        self._entered(name)
                return result
            case "wait" | "notify" | "notify_all":
                return perform()
            case _ if how in RELEASES:
                with self._steps:
                    self._leaving(name)
                return perform()
            case _:
                with self._steps:
                    result = perform()
                    self._touched(name, primitive, how, value, result)
                return result

    def clock_read(self) -> Millis:
        """Read the clock, and record the step of an adder, or of the queue that checks its head."""
        with self._steps:
            now_ms = self._now_ms = self._elapsed_ms()
            t = self._thread()
            if t.pc == "ReadClock":
                self._take(t, "ReadClock", obs=ClockRead(now_ms=now_ms))
                t.pc = "Bind"
            elif t.pc in ("Poll", "PollOutside") and t.monitors["DelayQueue.lock"]:
                self._guess(t, "PollNothing" if t.pc == "Poll" else "TimeOut")
            return now_ms

    def _elapsed_ms(self) -> Millis:
        now_ms = self._read_clock_ms()
        if self._began_ms is None:
            self._began_ms = now_ms
        return Millis(now_ms - self._began_ms)

    def _entered(self, name: str) -> None:
        """Record that the calling thread has acquired a lock."""
        t = self._thread()
        t.monitors[name] += 1
        match name:
            case "SystemTimer.lock.read":
                self._take(t, "LockRead")
                t.pc = "ReadClock"
            case "SystemTimer.lock.write":
                self._write_locked(t)
            case "DelayQueue.lock":
                self._queue_locked(t)
            case "TimerTaskList.monitor" if t.pc == "FlushLock":
                self._take(t, "FlushLock")
                t.pc = "FlushEntry"
            case _:
                pass

    def _leaving(self, name: str) -> None:
        """Record that the calling thread releases a lock."""
        t = self._thread()
        t.monitors[name] -= 1
        match name:
            case "SystemTimer.lock.read":
                self._insert_unseen(t)
                self._take(t, "Refuse" if t.pc == "ReadClock" else "UnlockRead")
                t.pc, t.adds, t.guess = "Idle", False, None
            case "SystemTimer.lock.write":
                self._write_unlocked(t)
            case "TimerTask.monitor" if not t.adds:
                t.entry = None
            case _:
                pass

    def _touched(self, name: str, cell: object, how: str, value: object, result: object) -> None:
        """Record that the calling thread has read or written a cell."""
        t = self._thread()
        match name:
            case "TimerTask.entry":
                self._binding_touched(t, cell, how, value, result)
            case "TimerTaskEntry.list":
                self._place_touched(t, cell, how, value, result)
            case "TimerTaskList.expiration":
                self._expiration_touched(t, how, value, result)
            case _:
                pass

    # The lock and the queue

    def _write_locked(self, t: _Thread) -> None:
        if t.pc == "Idle":
            self._take(t, "CloseLock")
            t.pc = "CloseUnlock"
            return
        if t.pc == "PollOutside":
            self._decide(t, "PollOutside")
        else:
            self._take(t, "AwaitDue")
        self._take(t, "LockWrite")
        t.pc = "Poll"

    def _write_unlocked(self, t: _Thread) -> None:
        if t.pc == "CloseUnlock":
            self._take(t, "CloseUnlock")
            self._take(t, "Shutdown")
            t.pc = "Closed"
            return
        t.guess = None
        self._take(t, "UnlockWrite")
        t.pc = "Idle"

    def _queue_locked(self, t: _Thread) -> None:
        match t.pc:
            case "Offer":
                self._take(t, "Offer")
                self._put_down(t)
            case "Poll":
                self._guess(t, "PollNothing")
            case "AwaitDue":
                t.pc = "PollOutside"
                self._guess(t, "TimeOut")
            case "Idle" | "PollOutside":
                t.guess = None
                self._take(t, "StartAdvance")
                t.pc = "AwaitDue"
            case "Closed":
                t.pc = "Idle"
            case _:
                pass

    def _expiration_touched(self, t: _Thread, how: str, value: object, result: object) -> None:
        if how == "get" and t.pc == "Poll" and not t.monitors["DelayQueue.lock"]:
            self._decide(t, "Poll")
            self._take(t, "AdvanceClock")
            t.pc = "FlushLock"
        elif how == "get_and_set" and isinstance(value, int):
            seen = ExpirationSet(expiration_ms=value, changed=value != result)
            self._take(t, "SetExpiration", obs=seen)
            if value != result:
                t.pc = "Offer"
            else:
                self._put_down(t)
        elif how == "set" and value == IDLE:
            self._insert_unseen(t)
            self._take(t, "FlushEnd")
            t.pc = "Poll"

    # Entries

    def _binding_touched(
        self, t: _Thread, cell: object, how: str, value: object, result: object
    ) -> None:
        by_caller = bool(t.monitors["TimerTask.monitor"])
        if how == "get_and_set" and isinstance(value, TimerTaskEntry):
            self._bind(t, cell, value, again=result is not None)
        elif how == "compare_and_set":
            if by_caller and t.entry is not None:
                self._take(t, "CancelUnbind", obs=Unbound(cancelled=bool(result)))
            elif not by_caller:
                t.guess = None
                self._take(t, "Submit", obs=Claimed(submitted=bool(result)))
                self._put_down(t)
            if result:
                self._bound[id(cell)] = None
        elif by_caller and isinstance(result, TimerTaskEntry):
            t.entry = result
            t.pc = "Cancel"
        elif by_caller:
            name = self._names.setdefault(id(cell), f"never-added-{len(self._names)}")
            self._cancel(t, name, found=False)
        elif t.pc == "Insert":
            self._guess(t, "Insert")

    def _bind(self, t: _Thread, cell: object, entry: TimerTaskEntry, *, again: bool) -> None:
        if not again:
            self._names[id(cell)] = f"task-{len(self._entries)}"
        name = self._names[id(cell)]
        self._entries[id(entry.list)] = (entry, name)
        self._bound[id(cell)] = entry
        args = Binding(task=name, delay_ms=entry.timer_task.delay_ms)
        self._take(t, "Bind", args=args, obs=Bound(expiration_ms=entry.expiration_ms))
        t.pc, t.adds = "Insert", True

    def _place_touched(
        self, t: _Thread, cell: object, how: str, value: object, result: object
    ) -> None:
        if t.pc == "Cancel" and t.entry is not None and t.entry.list is cell:
            if (how == "get" and result is None) or (how == "set" and value is None):
                self._cancel_entry(t, cell)
        elif how == "set" and value is not None:
            self._insert_unseen(t)
            self._take(t, "Link")
            t.pc = "SetExpiration"
        elif how == "set" and t.pc == "FlushEntry":
            _, name = self._entries[id(cell)]
            self._take(t, "FlushEntry", obs=EntryTaken(task=name))
            t.pc = "Insert"

    def _cancel_entry(self, t: _Thread, cell: object) -> None:
        """Record a CancelRemove; it finds nothing if the task was claimed during the cancel."""
        entry, name = self._entries[id(cell)]
        t.pc = "Idle"
        found = any(bound is entry for bound in self._bound.values())
        self._cancel(t, name, found=found)
        if not found:
            t.entry = None

    def _cancel(self, t: _Thread, name: str, *, found: bool) -> None:
        self._take(t, "CancelRemove", args=TaskNamed(task=name), obs=Found(found=found))

    # Recording

    def _thread(self) -> _Thread:
        number = threading.get_ident()
        found = self._threads.get(number)
        if found is None:
            name = f"{threading.current_thread().name}-{len(self._threads)}"
            found = self._threads[number] = _Thread(name)
        return found

    def _take(
        self, t: _Thread, action: str, *, args: object = ABSENT, obs: object = ABSENT
    ) -> _Event:
        self._now_ms = max(self._now_ms, self._elapsed_ms())
        event = _Event(t.name, action, self._now_ms, args, obs)
        self._events.append(event)
        return event

    def _guess(self, t: _Thread, action: str) -> None:
        """Record a step that another guess before the next step replaces."""
        if t.guess is not None:
            at = next(n for n in reversed(range(len(self._events))) if self._events[n] is t.guess)
            del self._events[at]
        t.guess = self._take(t, action)

    def _decide(self, t: _Thread, action: str) -> None:
        """Turn the guess into this step; without a guess record the step now."""
        if t.guess is None:
            self._take(t, action)
        else:
            t.guess.action = action
        t.guess = None

    def _insert_unseen(self, t: _Thread) -> None:
        """Record an Insert that did not test for cancellation, as in a known bug."""
        if t.pc == "Insert" and t.guess is None:
            self._take(t, "Insert")
        t.guess = None

    def _put_down(self, t: _Thread) -> None:
        t.pc = "UnlockRead" if t.adds else "FlushEntry"
