"""Random walks through the actions of the timer, written down as traces; and ways to spoil them."""

import random
from dataclasses import dataclass, replace

from wheelproof_lab.trace.actions import TimerActions
from wheelproof_lab.trace.run import initial_state
from wheelproof_lab.trace.search import take
from wheelproof_lab.trace.state import (
    Bucket,
    SeveralError,
    ThreadState,
    UnexplainedError,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT, Implementation
from wheelproof_spec.base.history.lines import TraceEnd, TraceEvent, TraceHeader
from wheelproof_spec.components.timer.actions import (
    Binding,
    Bound,
    BucketSeen,
    Claimed,
    ClockRead,
    EntryTaken,
    ExpirationSet,
    Found,
    InsertSeen,
    TaskNamed,
    Unbound,
    WheelClock,
)
from wheelproof_spec.components.timer.component import TimerConfig

DELAYS = {"a": 0, "b": 1, "c": 3, "d": 7, "e": -2}
THREADS: tuple[str, ...] = ("t0", "t1", "t2")

_NEXT = {
    "AwaitDue": ("AwaitDue", "PollOutside", "TimeOut"),
    "Poll": ("Poll", "PollNothing"),
    "FlushEntry": ("FlushEntry", "FlushEnd"),
}
Event = TraceEvent[object, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """A trace: its header's configuration and its events."""

    config: TimerConfig
    events: tuple[Event, ...]

    def header(self, name: str, silent: tuple[str, ...] = ()) -> TraceHeader[object]:
        """Return the first line."""
        return TraceHeader(
            schema="wheelproof.trace/1",
            kind="header",
            trace=name,
            component="timer",
            impl=Implementation(name="walk", version="1"),
            config=self.config,
            clock="virtual",
            silent=silent or ABSENT,
        )

    def end(self, name: str) -> TraceEnd:
        """Return the last line."""
        return TraceEnd(kind="end", trace=name, events=len(self.events))


def walk(seed: int, length: int, *, design: str = "reference", close: bool = True) -> Walk:
    """Return a trace of steps that were chosen by chance among those that are allowed."""
    chance = random.Random(seed)
    config = TimerConfig(
        tick_ms=1,
        wheel_size=2,
        design="kafka" if design == "kafka" else "reference",
    )
    walker = _Walker(chance, config, close=close)
    for _ in range(length):
        walker.step()
    return Walk(config=config, events=tuple(walker.events))


class _Walker:
    def __init__(self, chance: random.Random, config: TimerConfig, *, close: bool) -> None:
        self._chance = chance
        self._actions = TimerActions(
            initial_state(config), poll_under_lock=config.design != "kafka"
        )
        self._kafka = config.design == "kafka"
        self._close = close
        self._tseq: dict[str, int] = dict.fromkeys(THREADS, 0)
        self.events: list[Event] = []

    def step(self) -> None:
        """Take one step that is allowed, if chance finds one."""
        chance, state = self._chance, self._actions.state
        if chance.random() < 0.15:
            state.now += chance.choice((1, 1, 2, 5))
        for _ in range(20):
            thread = state.thread(chance.choice(THREADS))
            action, args = self._choose(thread)
            if self._try(thread, action, args):
                return

    def _choose(self, thread: ThreadState) -> tuple[str, object]:
        chance = self._chance
        action = chance.choice(_NEXT.get(thread.pc, (thread.pc,)))
        if thread.pc == "Idle":
            begin = ["LockRead", "LockRead", "StartAdvance", "CancelRemove"]
            action = chance.choice(begin)
            if self._close and chance.random() < 0.01:
                action = "CloseLock"
        task = chance.choice(list(DELAYS))
        if action == "Bind":
            return action, Binding(task=task, delay_ms=DELAYS[task])
        if action == "CancelRemove":
            return action, TaskNamed(task=task)
        return action, ABSENT

    def _try(self, thread: ThreadState, action: str, args: object) -> bool:
        state = self._actions.state
        before = replace(thread)
        now = state.now
        obs = BucketSeen() if action in ("Poll", "PollOutside") else ABSENT
        waits = thread.task in state.waiting or thread.hand in state.waiting
        found = isinstance(args, TaskNamed) and args.task in state.waiting
        if isinstance(args, Binding) and self._in_hand(args.task):
            return False
        if action in ("Poll", "PollOutside"):
            due = [one for one in state.heads() if state.key_of(one) <= now]
            if not due:
                return False
            bucket = self._chance.choice(due)
            obs = BucketSeen(level=bucket[0], bucket=bucket[1])
        try:
            take(self._actions, thread.name, action, (args, obs), now, now)
        except (UnexplainedError, SeveralError):
            return False
        seen = self._seen(action, before, thread, obs, waits=waits, found=found)
        self.events.append(
            TraceEvent(
                kind="event",
                trace="w",
                thread=thread.name,
                tseq=self._tseq[thread.name],
                action=action,
                args=args,
                obs=seen if self._chance.random() < 0.8 else ABSENT,
                seq=len(self.events),
                t_ms=now,
            )
        )
        self._tseq[thread.name] += 1
        return True

    def _in_hand(self, task: str) -> bool:
        """Two adders of one task at once: the module has no names for their entries."""
        state = self._actions.state
        linked = (
            any(task in names for level in state.levels for names in level.tasks.values())
            and task not in state.waiting
        )
        return linked or any(task in (one.hand, one.task) for one in state.threads.values())

    def _seen(
        self,
        action: str,
        before: ThreadState,
        after: ThreadState,
        obs: object,
        *,
        waits: bool,
        found: bool,
    ) -> object:
        state = self._actions.state
        match action:
            case "ReadClock":
                return ClockRead(now_ms=state.now)
            case "Bind":
                return Bound(expiration_ms=state.deadline[after.hand])
            case "Insert":
                level, bucket = after.into or (ABSENT, ABSENT)
                return InsertSeen(taken=after.into is not None, level=level, bucket=bucket)
            case "Link" | "Offer":
                return _bucket(before.into)
            case "SetExpiration":
                assert before.into is not None
                return ExpirationSet(
                    expiration_ms=state.key_of(before.into), changed=after.pc == "Offer"
                )
            case "Submit":
                return Claimed(submitted=waits and not state.shut)
            case "CancelRemove":
                return Found(found=found)
            case "CancelUnbind":
                return Unbound(cancelled=waits)
            case "AdvanceClock":
                return WheelClock(wheel_ms=state.levels[0].clock)
            case "FlushEntry":
                return EntryTaken(task=after.hand)
            case _:
                return obs


def _bucket(bucket: Bucket | None) -> BucketSeen:
    assert bucket is not None
    return BucketSeen(level=bucket[0], bucket=bucket[1])


def renumbered(events: list[Event], *, in_order: bool = True) -> tuple[Event, ...]:
    """Return the events with numbers that fit their places."""
    tseq: dict[str, int] = {}
    found: list[Event] = []
    for event in events:
        number = tseq.get(event.thread, 0)
        tseq[event.thread] = number + 1
        found.append(replace(event, seq=len(found) if in_order else ABSENT, tseq=number))
    return tuple(found)


def spoiled(walked: Walk, seed: int) -> Walk:
    """Return the trace with an event dropped, two swapped, or a value changed."""
    chance = random.Random(seed)
    events = list(walked.events)
    at = chance.randrange(len(events) - 1)
    match chance.randrange(4):
        case 0:
            del events[at]
        case 1:
            events[at], events[at + 1] = events[at + 1], events[at]
        case 2:
            events.insert(at, events[at])
        case _:
            events[at] = _changed(events, at, chance)
    return replace(walked, events=renumbered(events))


def _changed(events: list[Event], at: int, chance: random.Random) -> Event:
    """Change the first value from `at` on that can be changed."""
    event = events[at]
    match event.obs:
        case InsertSeen(taken=bool(taken)):
            return replace(event, obs=InsertSeen(taken=not taken))
        case BucketSeen(level=int(level), bucket=int(bucket)):
            return replace(event, obs=BucketSeen(level=level, bucket=1 - bucket))
        case Bound(expiration_ms=int(time)):
            return replace(event, obs=Bound(expiration_ms=time + chance.choice((-1, 1))))
        case ExpirationSet(expiration_ms=int(time)):
            return replace(event, obs=ExpirationSet(expiration_ms=time + 1))
        case Claimed(submitted=bool(submitted)):
            return replace(event, obs=Claimed(submitted=not submitted))
        case Unbound(cancelled=bool(cancelled)):
            return replace(event, obs=Unbound(cancelled=not cancelled))
        case Found(found=bool(found)):
            return replace(event, obs=Found(found=not found))
        case WheelClock(wheel_ms=int(time)):
            return replace(event, obs=WheelClock(wheel_ms=time + 1))
        case EntryTaken(task=str(task)):
            other = next(name for name in DELAYS if name != task)
            return replace(event, obs=EntryTaken(task=other))
        case _:
            shown = event.t_ms
            assert isinstance(shown, int)
            return replace(event, t_ms=shown + chance.choice((-1, 1, 3)))
