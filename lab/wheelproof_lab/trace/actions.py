"""Replay of the actions of SystemTimer.tla: each checks its guard, then takes the step.

An action that cannot be taken raises `UnexplainedError`; its state is not used after that. Observed
values are compared with the action's effect, unobserved values are free. The lock has no queue here
(`LockOrder = "none"`): any thread may take it if it is free, which covers a fair lock.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from wheelproof_lab.trace.state import (
    Bucket,
    SeveralError,
    ThreadState,
    TimerState,
    UnobservedError,
    fits,
    put_down,
    refuse,
    require_bucket,
    require_seen,
    words_of,
)
from wheelproof_spec.components.timer.actions import (
    Binding,
    BucketSeen,
    ClockRead,
    TaskNamed,
)

STEPS: Mapping[str, tuple[str, str]] = {
    "LockRead": ("Idle", ""),
    "Refuse": ("Refuse", "Idle"),
    "ReadClock": ("ReadClock", "Bind"),
    "Bind": ("Bind", "Insert"),
    "Insert": ("Insert", ""),
    "Link": ("Link", "SetExpiration"),
    "SetExpiration": ("SetExpiration", ""),
    "Offer": ("Offer", ""),
    "Submit": ("Submit", ""),
    "UnlockRead": ("UnlockRead", "Idle"),
    "CancelRemove": ("Idle", ""),
    "CancelUnbind": ("CancelUnbind", "Idle"),
    "StartAdvance": ("Idle", "AwaitDue"),
    "AwaitDue": ("AwaitDue", "LockWrite"),
    "PollOutside": ("AwaitDue", "LockWrite"),
    "TimeOut": ("AwaitDue", "Idle"),
    "LockWrite": ("LockWrite", ""),
    "Poll": ("Poll", "AdvanceClock"),
    "PollNothing": ("Poll", "UnlockWrite"),
    "AdvanceClock": ("AdvanceClock", "FlushLock"),
    "FlushLock": ("FlushLock", "FlushEntry"),
    "FlushEntry": ("FlushEntry", "Insert"),
    "FlushEnd": ("FlushEntry", "Poll"),
    "UnlockWrite": ("UnlockWrite", "Idle"),
    "CloseLock": ("Idle", "CloseUnlock"),
    "CloseUnlock": ("CloseUnlock", "Shutdown"),
    "Shutdown": ("Shutdown", "Idle"),
}
"""For each action the `pc` of a thread before it and after it; "" if the latter depends."""
_FLUSHING = {"FlushEntry", "Insert", "Link", "SetExpiration", "Offer", "Submit"}
NO_LIMIT = 2**63


class TimerActions:
    """The actions on one state, which they change."""

    def __init__(self, state: TimerState, *, poll_under_lock: bool) -> None:
        self.state = state
        self.poll_under_lock = poll_under_lock
        self.earliest = -NO_LIMIT
        self.latest = NO_LIMIT
        """The clock at this step shows `earliest` at least and `latest` at most."""
        self.chosen: Bucket | None = None
        """The bucket to take, if several are possible."""

    def step(self, thread: str, action: str, seen: tuple[object, object]) -> None:
        """Take one step; `seen` has its arguments and its observations."""
        state = self.state
        t = state.threads.get(thread) or state.thread(thread)
        at, following = STEPS[action]
        if t.pc != at:
            refuse(f"{t.name} does {t.pc} next", action, "its steps come in another order")
        if (take := self._TAKE.get(action)) is not None:
            take(self, t, *seen)
        if following:
            t.pc = following

    # Adding

    def _lock_read(self, t: ThreadState, _args: object, _obs: object) -> None:
        state = self.state
        if state.writer:
            refuse("nobody holds the write side", f"{state.writer} holds it", "the lock is taken")
        state.readers.add(t.name)
        t.pc = "Refuse" if state.closed else "ReadClock"

    def _refuse(self, t: ThreadState, _args: object, _obs: object) -> None:
        self.state.readers.discard(t.name)

    def _read_clock(self, t: ThreadState, _args: object, obs: object) -> None:
        state = self.state
        if isinstance(obs, ClockRead) and isinstance(obs.now_ms, int):
            if obs.now_ms < state.now:
                refuse(f"a reading of {state.now} ms or more", f"{obs.now_ms} ms", "clocks go on")
            if obs.now_ms > self.latest:
                refuse(f"a reading of {self.latest} ms or less", f"{obs.now_ms} ms", "not yet")
            state.now = obs.now_ms
        elif self.earliest != self.latest:
            raise UnobservedError("ReadClock without what the clock showed (t_ms or now_ms)")
        t.reading = state.now

    def _bind(self, t: ThreadState, args: object, obs: object) -> None:
        assert isinstance(args, Binding)
        state, task = self.state, args.task
        for other in state.threads.values():
            if other.pc == "CancelUnbind" and other.task == task:
                refuse("nobody holds the task's monitor", f"{other.name} cancels it", "it is held")
        if state.delay.setdefault(task, args.delay_ms) != args.delay_ms:
            refuse(
                f"a delay of {state.delay[task]} ms",
                f"{args.delay_ms} ms",
                "the delay of a task is fixed (standard 1)",
            )
        expiration = t.reading + args.delay_ms
        require_seen(obs, "expiration_ms", expiration)
        state.take_out(task)
        state.waiting.add(task)
        state.deadline[task] = expiration
        t.task = t.hand = task
        t.reading = 0
        t.adds = True

    def _unlock_read(self, t: ThreadState, _args: object, _obs: object) -> None:
        self.state.readers.discard(t.name)
        t.task = ""
        t.adds = False

    # Putting an entry into the wheel

    def _insert(self, t: ThreadState, _args: object, obs: object) -> None:
        state, task = self.state, t.hand
        deadline = state.deadline[task]
        level = state.place_for(deadline) if task in state.waiting else None
        into = None if level is None else state.bucket_for(deadline, level)
        require_seen(obs, "taken", level is not None)
        require_bucket(into, obs)
        if level is None:
            t.pc = "Submit"
            return
        state.make_levels(level)
        t.into = into
        t.pc = "Link"

    def _link(self, t: ThreadState, _args: object, obs: object) -> None:
        assert t.into is not None
        require_bucket(t.into, obs)
        require_seen(obs, "expiration_ms", self.state.key_of(t.into))
        self.state.content(t.into).append(t.hand)

    def _set_expiration(self, t: ThreadState, _args: object, obs: object) -> None:
        assert t.into is not None
        state = self.state
        level, index = t.into
        key = state.key_for(state.deadline[t.hand], level)
        changed = state.key_of(t.into) != key
        require_seen(obs, "expiration_ms", key)
        require_seen(obs, "changed", changed)
        state.levels[level].keys[index] = key
        if changed:
            t.pc = "Offer"
        else:
            t.into = None
            put_down(t)

    def _offer(self, t: ThreadState, _args: object, obs: object) -> None:
        assert t.into is not None
        require_bucket(t.into, obs)
        require_seen(obs, "expiration_ms", self.state.key_of(t.into))
        self.state.offer(t.into)
        t.into = None
        put_down(t)

    def _submit(self, t: ThreadState, _args: object, obs: object) -> None:
        state = self.state
        claimed = t.hand in state.waiting
        require_seen(obs, "submitted", claimed and not state.shut)
        state.waiting.discard(t.hand)
        put_down(t)

    # Cancelling

    def _cancel_remove(self, t: ThreadState, args: object, obs: object) -> None:
        assert isinstance(args, TaskNamed)
        state, task = self.state, args.task
        found = task in state.waiting
        require_seen(obs, "found", found)
        if not found:
            return
        for other in state.threads.values():
            bucket = other.polled
            if bucket is not None and other.pc in _FLUSHING and task in state.content(bucket):
                refuse(
                    "nobody holds the monitor of the bucket",
                    f"{other.name} flushes it",
                    "the entry cannot be taken out meanwhile",
                )
        state.take_out(task)
        t.task = task
        t.pc = "CancelUnbind"

    def _cancel_unbind(self, t: ThreadState, _args: object, obs: object) -> None:
        state = self.state
        require_seen(obs, "cancelled", t.task in state.waiting)
        state.waiting.discard(t.task)
        t.task = ""

    # Advancing

    def _await_due(self, _t: ThreadState, _args: object, _obs: object) -> None:
        if not self.poll_under_lock:
            refuse("a poll outside the lock", "a mere wait", "the design is Kafka's")

    def _poll_outside(self, t: ThreadState, _args: object, obs: object) -> None:
        if self.poll_under_lock:
            refuse("a poll under the lock", "a poll outside it", "the design is the reference's")
        self._take_bucket(t, obs)

    def _time_out(self, _t: ThreadState, _args: object, _obs: object) -> None:
        if self.poll_under_lock:
            refuse("the lock is taken", "it is not", "the design is the reference's")
        due = [one for one in self.state.heads() if self.state.key_of(one) <= self.state.now]
        if due:
            refuse(
                "nothing in the queue is due", f"bucket {due[0]} is", "the wait ended for nothing"
            )

    def _lock_write(self, t: ThreadState, _args: object, _obs: object) -> None:
        state = self.state
        self._take_write(t)
        if state.closed:
            t.pc = "UnlockWrite"
        else:
            t.pc = "Poll" if t.polled is None else "AdvanceClock"

    def _poll(self, t: ThreadState, _args: object, obs: object) -> None:
        self._take_bucket(t, obs)

    def _poll_nothing(self, _t: ThreadState, _args: object, _obs: object) -> None:
        state = self.state
        heads = state.heads()
        if heads and all(state.key_of(one) <= state.now for one in heads):
            refuse(
                f"bucket {heads[0]}, due at {state.key_of(heads[0])} ms, is taken",
                f"nothing is taken at {state.now} ms or later",
                "the head of the queue is due",
            )

    def _advance_clock(self, t: ThreadState, _args: object, obs: object) -> None:
        assert t.polled is not None
        state = self.state
        time, clock, tick = state.key_of(t.polled), state.levels[0].clock, state.tick_ms
        after = clock if time < clock + tick else time - time % tick
        require_seen(obs, "wheel_ms", after)
        state.advance(time)

    def _flush_entry(self, t: ThreadState, _args: object, obs: object) -> None:
        assert t.polled is not None
        content = self.state.content(t.polled)
        if not content:
            refuse("the bucket is empty", "an entry is taken out", "nothing is linked in it")
        require_seen(obs, "task", content[0])
        t.hand = content.pop(0)

    def _flush_end(self, t: ThreadState, _args: object, _obs: object) -> None:
        assert t.polled is not None
        content = self.state.content(t.polled)
        if content:
            refuse(f"{content[0]!r} is taken out", "the flush ends", "the bucket is not empty")
        level, index = t.polled
        self.state.levels[level].keys.pop(index, None)
        self.state.levels[level].tasks.pop(index, None)
        t.polled = None

    def _unlock_write(self, _t: ThreadState, _args: object, _obs: object) -> None:
        self.state.writer = ""

    # Closing

    def _close_lock(self, t: ThreadState, _args: object, _obs: object) -> None:
        self._take_write(t)
        self.state.closed = True

    def _close_unlock(self, _t: ThreadState, _args: object, _obs: object) -> None:
        self.state.writer = ""

    def _shutdown(self, _t: ThreadState, _args: object, _obs: object) -> None:
        self.state.shut = True

    def _take_write(self, t: ThreadState) -> None:
        state = self.state
        if state.writer or state.readers:
            holder = state.writer or min(state.readers)
            refuse("nobody holds the lock", f"{holder} holds it", "the lock is taken")
        state.writer = t.name

    def _take_bucket(self, t: ThreadState, obs: object) -> None:
        state = self.state
        heads = state.heads()
        seen = obs if isinstance(obs, BucketSeen) else BucketSeen()
        fitting = [one for one in heads if fits(one, seen) and state.key_of(one) <= self.latest]
        if isinstance(seen.expiration_ms, int):
            fitting = [one for one in fitting if state.key_of(one) == seen.expiration_ms]
        if not fitting:
            first = f"bucket {heads[0]}, due at {state.key_of(heads[0])} ms" if heads else "nothing"
            refuse(
                f"{first} is at the head of the queue",
                words_of(seen),
                "no such bucket is due first",
            )
        if len(fitting) > 1 and self.chosen is None:
            raise SeveralError(tuple(fitting))
        bucket = fitting[0] if self.chosen is None else self.chosen
        state.now = max(state.now, state.key_of(bucket))
        state.take(bucket)
        t.polled = bucket

    _TAKE: ClassVar[Mapping[str, Callable[..., None]]] = {
        "AwaitDue": _await_due,
        "TimeOut": _time_out,
        "PollNothing": _poll_nothing,
        "UnlockWrite": _unlock_write,
        "CloseUnlock": _close_unlock,
        "Shutdown": _shutdown,
        "LockRead": _lock_read,
        "Refuse": _refuse,
        "UnlockRead": _unlock_read,
        "LockWrite": _lock_write,
        "FlushEnd": _flush_end,
        "CloseLock": _close_lock,
        "ReadClock": _read_clock,
        "Insert": _insert,
        "Link": _link,
        "SetExpiration": _set_expiration,
        "Offer": _offer,
        "Submit": _submit,
        "CancelUnbind": _cancel_unbind,
        "PollOutside": _poll_outside,
        "Poll": _poll,
        "AdvanceClock": _advance_clock,
        "FlushEntry": _flush_entry,
        "Bind": _bind,
        "CancelRemove": _cancel_remove,
    }
    """The effect of each action besides its change of `pc`; other actions only change `pc`."""
