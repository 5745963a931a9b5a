"""The state of SystemTimer.tla for the replay of traces, and the errors for forbidden steps."""

import heapq
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import NoReturn

from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.components.timer.actions import BucketSeen

IDLE_KEY = -1

Bucket = tuple[int, int]
"""A bucket: its level, 0 for the lowest, and its index there."""


@dataclass(slots=True)
class ThreadState:
    """One recorded thread: its next step, and its registers as the module names them."""

    name: str
    pc: str = "Idle"
    task: str = ""
    """The task that is being added or cancelled."""
    reading: int = 0
    hand: str = ""
    into: Bucket | None = None
    polled: Bucket | None = None
    adds: bool = False


@dataclass(slots=True)
class Level:
    """One wheel: its clock, the keys of its buckets unless idle, and the tasks linked in them."""

    clock: int
    keys: dict[int, int] = field(default_factory=dict[int, int])
    tasks: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


@dataclass(slots=True)
class TimerState:
    """The variables of the module, with its constants for the tick, the wheel and the delays."""

    tick_ms: int
    wheel_size: int
    now: int
    levels: list[Level]
    queue: list[tuple[int, Bucket]] = field(default_factory=list[tuple[int, Bucket]])
    readers: set[str] = field(default_factory=set[str])
    writer: str = ""
    closed: bool = False
    shut: bool = False
    waiting: set[str] = field(default_factory=set[str])
    deadline: dict[str, int] = field(default_factory=dict[str, int])
    delay: dict[str, int] = field(default_factory=dict[str, int])
    threads: dict[str, ThreadState] = field(default_factory=dict[str, ThreadState])

    def copy(self) -> "TimerState":
        """Return a copy that shares no mutable object with this state."""
        return replace(
            self,
            levels=[
                Level(
                    one.clock, dict(one.keys), {at: list(names) for at, names in one.tasks.items()}
                )
                for one in self.levels
            ],
            queue=list(self.queue),
            readers=set(self.readers),
            waiting=set(self.waiting),
            deadline=dict(self.deadline),
            delay=dict(self.delay),
            threads={name: replace(one) for name, one in self.threads.items()},
        )

    def key(self) -> Hashable:
        """Return a key that differs for different states of the same trace."""
        return (
            self.now,
            tuple(
                (
                    one.clock,
                    tuple(sorted(one.keys.items())),
                    tuple(sorted((at, tuple(names)) for at, names in one.tasks.items() if names)),
                )
                for one in self.levels
            ),
            tuple(sorted(self.queue)),
            tuple(sorted(self.readers)),
            self.writer,
            self.closed,
            self.shut,
            tuple(sorted(self.waiting)),
            tuple(sorted(self.deadline.items())),
            tuple(
                (one.name, one.pc, one.task, one.reading, one.hand, one.into, one.polled)
                for one in sorted(self.threads.values(), key=_name)
            ),
        )

    def thread(self, name: str) -> ThreadState:
        """Return a thread; a new thread is idle."""
        found = self.threads.get(name)
        if found is None:
            found = self.threads[name] = ThreadState(name)
        return found

    def tick_of(self, level: int) -> int:
        """Return the tick of a level in milliseconds."""
        factor: int = self.wheel_size**level
        return self.tick_ms * factor

    def bucket_for(self, time: int, level: int) -> Bucket:
        """Return the bucket of a level that holds `time`."""
        return level, time // self.tick_of(level) % self.wheel_size

    def key_for(self, time: int, level: int) -> int:
        """Return when the bucket of a level that holds `time` expires."""
        tick = self.tick_of(level)
        return time - time % tick

    def key_of(self, bucket: Bucket) -> int:
        """Return the current expiration of a bucket, IDLE_KEY if it is idle."""
        level, index = bucket
        if level >= len(self.levels):
            return IDLE_KEY
        return self.levels[level].keys.get(index, IDLE_KEY)

    def content(self, bucket: Bucket) -> list[str]:
        """Return the tasks linked in a bucket, the head first; the list is the bucket's own."""
        level, index = bucket
        tasks = self.levels[level].tasks
        found = tasks.get(index)
        if found is None:
            found = tasks[index] = []
        return found

    def place_for(self, time: int) -> int | None:
        """Return the level that takes `time`; None if it is due (Climb of the module)."""
        level, tick = 0, self.tick_ms
        clock = self.levels[0].clock
        while True:
            if time < clock + tick:
                return None
            if time < clock + tick * self.wheel_size:
                return level
            level += 1
            tick *= self.wheel_size
            clock = self.levels[level].clock if level < len(self.levels) else clock - clock % tick

    def make_levels(self, level: int) -> None:
        """Make the wheels up to `level`."""
        while len(self.levels) <= level:
            clock = self.levels[-1].clock
            self.levels.append(Level(clock - clock % self.tick_of(len(self.levels))))

    def advance(self, time: int) -> None:
        """Move the clocks of the wheels (Advanced of the module)."""
        tick = self.tick_ms
        for level in self.levels:
            if time < level.clock + tick:
                return
            time = level.clock = time - time % tick
            tick *= self.wheel_size

    def take_out(self, task: str) -> None:
        """Take a task out of every bucket (Without of the module)."""
        for level in self.levels:
            for names in level.tasks.values():
                if task in names:
                    names[:] = [name for name in names if name != task]

    def offer(self, bucket: Bucket) -> None:
        """Put a bucket into the queue under the key that it has now."""
        heapq.heappush(self.queue, (self.key_of(bucket), bucket))

    def heads(self) -> list[Bucket]:
        """Return the buckets that may be the head of the queue."""
        queue = self.queue
        if not queue:
            return []
        first = queue[0][0]
        if len(queue) == 1 or all(queue[at][0] != first for at in (1, 2) if at < len(queue)):
            return [queue[0][1]]
        return [bucket for key, bucket in queue if key == first]

    def take(self, bucket: Bucket) -> None:
        """Take one of the heads out of the queue."""
        if self.queue[0][1] == bucket:
            heapq.heappop(self.queue)
            return
        self.queue.remove((self.queue[0][0], bucket))
        heapq.heapify(self.queue)


def _name(thread: ThreadState) -> str:
    return thread.name


class UnexplainedError(Exception):
    """The specification does not allow a step here."""

    def __init__(self, expected: str, observed: str, reason: str) -> None:
        super().__init__(reason)
        self.expected = expected
        self.observed = observed
        self.reason = reason


class SeveralError(Exception):
    """The step can be taken in several ways, and the trace does not tell which."""

    def __init__(self, buckets: tuple[Bucket, ...]) -> None:
        super().__init__("several buckets can be meant")
        self.buckets = buckets


class UnobservedError(Exception):
    """The trace lacks the data to decide whether the specification allows it."""


def put_down(t: ThreadState) -> None:
    """Set the thread's next step after it has handled the entry in its hand."""
    t.hand = ""
    t.pc = "UnlockRead" if t.adds else "FlushEntry"


def require_seen(obs: object, name: str, expected: object) -> None:
    """Refuse the step if the value `name` was observed and is not the expected one."""
    observed = getattr(obs, name, ABSENT)
    if observed is not ABSENT and observed != expected:
        refuse(f"{name} = {expected}", f"{name} = {observed}", f"{name} has another value")


def require_bucket(bucket: Bucket | None, obs: object) -> None:
    """Refuse the step if another bucket than `bucket` was observed."""
    level, index = getattr(obs, "level", ABSENT), getattr(obs, "bucket", ABSENT)
    if level is not ABSENT and (bucket is None or bucket[0] != level):
        refuse(_bucket_words(bucket), f"level {level}", "it is another bucket")
    if index is not ABSENT and (bucket is None or bucket[1] != index):
        refuse(_bucket_words(bucket), f"bucket {index}", "it is another bucket")


def _bucket_words(bucket: Bucket | None) -> str:
    return "no bucket" if bucket is None else f"level {bucket[0]}, bucket {bucket[1]}"


def fits(bucket: Bucket, seen: BucketSeen) -> bool:
    """Tell whether a bucket matches the observation."""
    level, index = seen.level, seen.bucket
    return level in (ABSENT, bucket[0]) and index in (ABSENT, bucket[1])


def words_of(seen: BucketSeen) -> str:
    """Return the observation of a bucket in words."""
    return (
        f"a bucket is taken: level {_or_any(seen.level)}, index {_or_any(seen.bucket)}, "
        f"expiration {_or_any(seen.expiration_ms)}"
    )


def _or_any(value: object) -> str:
    return "not observed" if value is ABSENT else str(value)


def refuse(expected: str, observed: str, reason: str) -> NoReturn:
    """Raise UnexplainedError: the specification does not allow the step."""
    raise UnexplainedError(expected, observed, reason)
