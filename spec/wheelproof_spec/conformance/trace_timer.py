"""The actions of SystemTimer.tla, replayed: each checks its guard, then takes the step.

An action that cannot be taken raises `UnexplainedError` and changes nothing. What was observed is
compared with what the action does; what was not is free. The lock has no order here
(`LockOrder = "none"`): whoever comes takes what is free, which allows whatever a fair lock does.
"""

from collections.abc import Callable, Mapping
from typing import NoReturn

from wheelproof_spec.conformance.trace_timer_state import (
    Bucket,
    ThreadState,
    TimerState,
)
from wheelproof_spec.traces.timer_events import (
    AddAsked,
    Bound,
    BucketSeen,
    Cancelled,
    Claimed,
    ClockRead,
    EntryTaken,
    ExpirationSet,
    Found,
    InsertSeen,
    TaskAsked,
    WheelClock,
)
from wheelproof_spec.traces.vocabulary import ABSENT

_FLUSHING = {"FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit"}
NO_LIMIT = 2**63


class UnexplainedError(Exception):
    """The specification does not allow a step here."""

    def __init__(self, expected: str, observed: str, reason: str) -> None:
        super().__init__(reason)
        self.expected = expected
        self.observed = observed
        self.reason = reason


class SeveralError(Exception):
    """The step can be taken in several ways, and the trace does not say in which."""

    def __init__(self, buckets: tuple[Bucket, ...]) -> None:
        super().__init__("several buckets can be meant")
        self.buckets = buckets


class UnobservedError(Exception):
    """The trace does not say enough to tell whether the specification allows it."""


class TimerActions:
    """The actions on one state, which they change."""

    def __init__(self, state: TimerState, *, poll_under_lock: bool) -> None:
        self.state = state
        self.poll_under_lock = poll_under_lock
        self.earliest = -NO_LIMIT
        self.latest = NO_LIMIT
        """What the clock can show at least and at most at this step."""
        self.chosen: Bucket | None = None
        """Which bucket is meant, where several can be."""
        self.plain: Mapping[str, Callable[[ThreadState], None]] = {
            "LockRead": self._lock_read,
            "Refuse": self._refuse,
            "UnlockRead": self._unlock_read,
            "StartAdvance": self._start_advance,
            "AwaitDue": self._await_due,
            "TimeOut": self._time_out,
            "LockWrite": self._lock_write,
            "PollNothing": self._poll_nothing,
            "FlushLock": self._flush_lock,
            "FlushEnd": self._flush_end,
            "UnlockWrite": self._unlock_write,
            "CloseLock": self._close_lock,
            "CloseUnlock": self._close_unlock,
            "Shutdown": self._shutdown,
        }
        self.seeing: Mapping[str, Callable[[ThreadState, object], None]] = {
            "ReadClock": self._read_clock,
            "Insert": self._insert,
            "Link": self._link,
            "SetExpiration": self._set_expiration,
            "Offer": self._offer,
            "Submit": self._submit,
            "CancelUnbind": self._cancel_unbind,
            "PollOutside": self._poll_outside,
            "Poll": self._poll,
            "AdvanceClock": self._advance_clock,
            "FlushEntry": self._flush_entry,
        }
        self.asked: Mapping[str, Callable[[ThreadState, object, object], None]] = {
            "Bind": self._bind,
            "CancelRemove": self._cancel_remove,
        }

    def step(self, thread: str, action: str, seen: tuple[object, object]) -> None:
        """Take one step, of which `seen` are the arguments and what was observed."""
        state = self.state
        t = state.threads.get(thread) or state.thread(thread)
        plain = self.plain.get(action)
        if plain is not None:
            plain(t)
            return
        seeing = self.seeing.get(action)
        if seeing is not None:
            seeing(t, seen[1])
        else:
            self.asked[action](t, *seen)

    # Adding

    def _lock_read(self, t: ThreadState) -> None:
        state = self.state
        _at(t, "Idle", "LockRead")
        if state.writer:
            _no("nobody holds the write side", f"{state.writer} holds it", "the lock is taken")
        state.readers.add(t.name)
        t.pc = "Refuse" if state.closed else "ReadClock"

    def _refuse(self, t: ThreadState) -> None:
        _at(t, "Refuse", "Refuse")
        self.state.readers.discard(t.name)
        t.pc = "Idle"

    def _read_clock(self, t: ThreadState, obs: object) -> None:
        _at(t, "ReadClock", "ReadClock")
        state = self.state
        if isinstance(obs, ClockRead) and isinstance(obs.now_ms, int):
            if obs.now_ms < state.now:
                _no(f"a reading of {state.now} ms or more", f"{obs.now_ms} ms", "clocks go on")
            if obs.now_ms > self.latest:
                _no(f"a reading of {self.latest} ms or less", f"{obs.now_ms} ms", "not yet")
            state.now = obs.now_ms
        elif self.earliest != self.latest:
            raise UnobservedError("ReadClock without what the clock showed (t_ms or now_ms)")
        t.reading = state.now
        t.pc = "Bind"

    def _bind(self, t: ThreadState, args: object, obs: object) -> None:
        _at(t, "Bind", "Bind")
        assert isinstance(args, AddAsked)
        state, task = self.state, args.task
        for other in state.threads.values():
            if other.pc == "CancelUnbind" and other.task == task:
                _no("nobody holds the task's monitor", f"{other.name} cancels it", "it is held")
        if state.delay.setdefault(task, args.delay_ms) != args.delay_ms:
            _no(
                f"a delay of {state.delay[task]} ms",
                f"{args.delay_ms} ms",
                "the delay of a task is fixed (semantics.md 1)",
            )
        expiration = t.reading + args.delay_ms
        if isinstance(obs, Bound) and isinstance(obs.expiration_ms, int):
            _same("expiration_ms", expiration, obs.expiration_ms)
        state.take_out(task)
        state.waiting.add(task)
        state.deadline[task] = expiration
        t.task = t.hand = task
        t.reading = 0
        t.adds = True
        t.pc = "Insert"

    def _unlock_read(self, t: ThreadState) -> None:
        _at(t, "UnlockRead", "UnlockRead")
        self.state.readers.discard(t.name)
        t.task = ""
        t.adds = False
        t.pc = "Idle"

    # Putting an entry into the wheel

    def _insert(self, t: ThreadState, obs: object) -> None:
        _at(t, "Insert", "Insert")
        state, task = self.state, t.hand
        deadline = state.deadline[task]
        level = state.place_for(deadline) if task in state.waiting else None
        into = None if level is None else state.bucket_for(deadline, level)
        if isinstance(obs, InsertSeen):
            if obs.taken is not ABSENT:
                _same("taken", level is not None, obs.taken)
            _same_bucket(into, obs.level, obs.bucket)
        if level is None:
            t.pc = "Submit"
            return
        state.make_levels(level)
        t.into = into
        t.pc = "Link"

    def _link(self, t: ThreadState, obs: object) -> None:
        _at(t, "Link", "Link")
        assert t.into is not None
        if isinstance(obs, BucketSeen):
            _same_bucket(t.into, obs.level, obs.bucket)
            if isinstance(obs.expiration_ms, int):
                _same("expiration_ms", self.state.key_of(t.into), obs.expiration_ms)
        self.state.content(t.into).append(t.hand)
        t.pc = "SetExpiration"

    def _set_expiration(self, t: ThreadState, obs: object) -> None:
        _at(t, "SetExpiration", "SetExpiration")
        assert t.into is not None
        state = self.state
        level, index = t.into
        key = state.key_for(state.deadline[t.hand], level)
        changed = state.key_of(t.into) != key
        if isinstance(obs, ExpirationSet):
            if isinstance(obs.expiration_ms, int):
                _same("expiration_ms", key, obs.expiration_ms)
            if obs.changed is not ABSENT:
                _same("changed", changed, obs.changed)
        state.levels[level].keys[index] = key
        if changed:
            t.pc = "Offer"
        else:
            t.into = None
            _put_down(t)

    def _offer(self, t: ThreadState, obs: object) -> None:
        _at(t, "Offer", "Offer")
        assert t.into is not None
        if isinstance(obs, BucketSeen):
            _same_bucket(t.into, obs.level, obs.bucket)
            if isinstance(obs.expiration_ms, int):
                _same("expiration_ms", self.state.key_of(t.into), obs.expiration_ms)
        self.state.offer(t.into)
        t.into = None
        _put_down(t)

    def _submit(self, t: ThreadState, obs: object) -> None:
        _at(t, "Submit", "Submit")
        state = self.state
        claimed = t.hand in state.waiting
        if isinstance(obs, Claimed) and obs.submitted is not ABSENT:
            _same("submitted", claimed and not state.shut, obs.submitted)
        state.waiting.discard(t.hand)
        _put_down(t)

    # Cancelling

    def _cancel_remove(self, t: ThreadState, args: object, obs: object) -> None:
        _at(t, "Idle", "CancelRemove")
        assert isinstance(args, TaskAsked)
        state, task = self.state, args.task
        found = task in state.waiting
        if isinstance(obs, Found) and obs.found is not ABSENT:
            _same("found", found, obs.found)
        if not found:
            return
        for other in state.threads.values():
            bucket = other.polled
            if bucket is not None and other.pc in _FLUSHING and task in state.content(bucket):
                _no(
                    "nobody holds the monitor of the bucket",
                    f"{other.name} flushes it",
                    "the entry cannot be taken out meanwhile",
                )
        state.take_out(task)
        t.task = task
        t.pc = "CancelUnbind"

    def _cancel_unbind(self, t: ThreadState, obs: object) -> None:
        _at(t, "CancelUnbind", "CancelUnbind")
        state = self.state
        if isinstance(obs, Cancelled) and obs.cancelled is not ABSENT:
            _same("cancelled", t.task in state.waiting, obs.cancelled)
        state.waiting.discard(t.task)
        t.task = ""
        t.pc = "Idle"

    # Advancing

    def _start_advance(self, t: ThreadState) -> None:
        _at(t, "Idle", "StartAdvance")
        t.pc = "AwaitDue"

    def _await_due(self, t: ThreadState) -> None:
        _at(t, "AwaitDue", "AwaitDue")
        if not self.poll_under_lock:
            _no("a poll outside the lock", "a mere wait", "the design is Kafka's")
        t.pc = "LockWrite"

    def _poll_outside(self, t: ThreadState, obs: object) -> None:
        _at(t, "AwaitDue", "PollOutside")
        if self.poll_under_lock:
            _no("a poll under the lock", "a poll outside it", "the design is the reference's")
        self._take_bucket(t, obs)
        t.pc = "LockWrite"

    def _time_out(self, t: ThreadState) -> None:
        _at(t, "AwaitDue", "TimeOut")
        if self.poll_under_lock:
            _no("the lock is taken", "it is not", "the design is the reference's")
        due = [one for one in self.state.heads() if self.state.key_of(one) <= self.state.now]
        if due:
            _no("nothing in the queue is due", f"bucket {due[0]} is", "the wait ended for nothing")
        t.pc = "Idle"

    def _lock_write(self, t: ThreadState) -> None:
        _at(t, "LockWrite", "LockWrite")
        state = self.state
        self._take_write(t)
        if state.closed:
            t.pc = "UnlockWrite"
        else:
            t.pc = "Poll" if t.polled is None else "AdvanceClock"

    def _poll(self, t: ThreadState, obs: object) -> None:
        _at(t, "Poll", "Poll")
        self._take_bucket(t, obs)
        t.pc = "AdvanceClock"

    def _poll_nothing(self, t: ThreadState) -> None:
        _at(t, "Poll", "PollNothing")
        state = self.state
        heads = state.heads()
        if heads and all(state.key_of(one) <= state.now for one in heads):
            _no(
                f"bucket {heads[0]}, due at {state.key_of(heads[0])} ms, is taken",
                f"nothing is taken at {state.now} ms or later",
                "the head of the queue is due",
            )
        t.pc = "UnlockWrite"

    def _advance_clock(self, t: ThreadState, obs: object) -> None:
        _at(t, "AdvanceClock", "AdvanceClock")
        assert t.polled is not None
        state = self.state
        time, clock, tick = state.key_of(t.polled), state.levels[0].clock, state.tick_ms
        after = clock if time < clock + tick else time - time % tick
        if isinstance(obs, WheelClock) and isinstance(obs.wheel_ms, int):
            _same("wheel_ms", after, obs.wheel_ms)
        state.advance(time)
        t.pc = "FlushLock"

    def _flush_lock(self, t: ThreadState) -> None:
        _at(t, "FlushLock", "FlushLock")
        t.pc = "FlushEntry"

    def _flush_entry(self, t: ThreadState, obs: object) -> None:
        _at(t, "FlushEntry", "FlushEntry")
        assert t.polled is not None
        content = self.state.content(t.polled)
        if not content:
            _no("the bucket is empty", "an entry is taken out", "nothing is linked in it")
        if isinstance(obs, EntryTaken) and obs.task is not ABSENT:
            _same("task", content[0], obs.task)
        t.hand = content.pop(0)
        t.pc = "Insert"

    def _flush_end(self, t: ThreadState) -> None:
        _at(t, "FlushEntry", "FlushEnd")
        assert t.polled is not None
        content = self.state.content(t.polled)
        if content:
            _no(f"{content[0]!r} is taken out", "the flush ends", "the bucket is not empty")
        level, index = t.polled
        self.state.levels[level].keys.pop(index, None)
        self.state.levels[level].tasks.pop(index, None)
        t.polled = None
        t.pc = "Poll"

    def _unlock_write(self, t: ThreadState) -> None:
        _at(t, "UnlockWrite", "UnlockWrite")
        self.state.writer = ""
        t.pc = "Idle"

    # Closing

    def _close_lock(self, t: ThreadState) -> None:
        _at(t, "Idle", "CloseLock")
        self._take_write(t)
        self.state.closed = True
        t.pc = "CloseUnlock"

    def _close_unlock(self, t: ThreadState) -> None:
        _at(t, "CloseUnlock", "CloseUnlock")
        self.state.writer = ""
        t.pc = "Shutdown"

    def _shutdown(self, t: ThreadState) -> None:
        _at(t, "Shutdown", "Shutdown")
        self.state.shut = True
        t.pc = "Idle"

    def _take_write(self, t: ThreadState) -> None:
        state = self.state
        if state.writer or state.readers:
            holder = state.writer or min(state.readers)
            _no("nobody holds the lock", f"{holder} holds it", "the lock is taken")
        state.writer = t.name

    def _take_bucket(self, t: ThreadState, obs: object) -> None:
        state = self.state
        heads = state.heads()
        seen = obs if isinstance(obs, BucketSeen) else BucketSeen()
        fitting = [one for one in heads if _fits(one, seen) and state.key_of(one) <= self.latest]
        if isinstance(seen.expiration_ms, int):
            fitting = [one for one in fitting if state.key_of(one) == seen.expiration_ms]
        if not fitting:
            first = f"bucket {heads[0]}, due at {state.key_of(heads[0])} ms" if heads else "nothing"
            _no(f"{first} is at the head of the queue", _words(seen), "no such bucket is due first")
        if len(fitting) > 1 and self.chosen is None:
            raise SeveralError(tuple(fitting))
        bucket = fitting[0] if self.chosen is None else self.chosen
        state.now = max(state.now, state.key_of(bucket))
        state.take(bucket)
        t.polled = bucket


def _at(t: ThreadState, pc: str, action: str) -> None:
    if t.pc != pc:
        _no(f"{t.name} does {t.pc} next", action, "its steps come in another order")


def _put_down(t: ThreadState) -> None:
    t.hand = ""
    t.pc = "UnlockRead" if t.adds else "FlushEntry"


def _same(name: str, expected: object, observed: object) -> None:
    if expected != observed:
        _no(f"{name} = {expected}", f"{name} = {observed}", f"{name} has another value")


def _same_bucket(bucket: Bucket | None, level: object, index: object) -> None:
    if level is not ABSENT and (bucket is None or bucket[0] != level):
        _no(_bucket_words(bucket), f"level {level}", "it is another bucket")
    if index is not ABSENT and (bucket is None or bucket[1] != index):
        _no(_bucket_words(bucket), f"bucket {index}", "it is another bucket")


def _bucket_words(bucket: Bucket | None) -> str:
    return "no bucket" if bucket is None else f"level {bucket[0]}, bucket {bucket[1]}"


def _fits(bucket: Bucket, seen: BucketSeen) -> bool:
    level, index = seen.level, seen.bucket
    return level in (ABSENT, bucket[0]) and index in (ABSENT, bucket[1])


def _words(seen: BucketSeen) -> str:
    return (
        f"a bucket is taken: level {_or_any(seen.level)}, index {_or_any(seen.bucket)}, "
        f"expiration {_or_any(seen.expiration_ms)}"
    )


def _or_any(value: object) -> str:
    return "not observed" if value is ABSENT else str(value)


def _no(expected: str, observed: str, reason: str) -> NoReturn:
    raise UnexplainedError(expected, observed, reason)
