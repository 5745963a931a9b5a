"""Random small programs over every primitive of asyncio, with and without steps inside turns.

Each task makes a few calls on one or two families of objects, and keeps what each call returned or
raised. Python's own `asyncio.run` can run them as well.
"""

import asyncio
import random
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof_explore.program import Program, Scenario, Settings, TimeMode
from wheelproof_explore.tasks.loop import run

_RAISED = (
    RuntimeError,
    ValueError,
    TimeoutError,
    asyncio.CancelledError,
    asyncio.InvalidStateError,
    asyncio.QueueEmpty,
    asyncio.QueueFull,
)


class Objects:
    """The objects of one run; the tasks share them."""

    def __init__(self) -> None:
        self.value = 0
        self.lock = asyncio.Lock()
        self.event = asyncio.Event()
        self.changed = asyncio.Condition()
        self.places = asyncio.Semaphore(1)
        self.queue: asyncio.Queue[int] = asyncio.Queue(1)
        self.future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.of_threads = threading.Lock()
        self.tasks: list[asyncio.Task[None]] = []

    async def increment(self, *, steps: bool) -> None:
        """Read, let others have a turn, and write."""
        before = self.value
        if steps:
            time.time()
        await asyncio.sleep(0)
        self.value = before + 1
        if steps:
            with self.of_threads:
                self.value += 1

    async def look(self) -> int:
        """Return the value."""
        return self.value

    async def use_lock(self) -> int:
        """Take the lock for a turn."""
        async with self.lock:
            self.value += 1
            await asyncio.sleep(0)
            return self.value

    async def try_lock(self) -> bool:
        """Take the lock if it is free."""
        if self.lock.locked():
            return False
        await self.lock.acquire()
        self.lock.release()
        return True

    async def wait_until_set(self) -> int:
        """Wait on the condition until the value is set."""
        async with self.changed:
            await self.changed.wait_for(lambda: self.value > 0)
            return self.value

    async def notify(self, count: int) -> None:
        """Set the value and notify."""
        async with self.changed:
            self.value = 1
            self.changed.notify(count)

    async def use_place(self) -> int:
        """Take a place for a turn."""
        async with self.places:
            self.value += 1
            await asyncio.sleep(0)
            return self.value

    async def gather(self) -> tuple[int, int]:
        """Let two coroutines run together."""
        return await asyncio.gather(self.look_later(), self.look())

    async def look_later(self) -> int:
        """Return the value of the next turn."""
        await asyncio.sleep(0)
        return self.value

    async def first(self) -> int:
        """Wait for the first of two tasks, and return how many have ended."""
        made = [asyncio.create_task(self.look_later()), asyncio.create_task(self.event.wait())]
        done, rest = await asyncio.wait(made, return_when=asyncio.FIRST_COMPLETED)
        for task in rest:
            task.cancel()
        return len(done)

    async def cancel(self) -> bool:
        """Cancel the first task."""
        return self.tasks[0].cancel()

    async def hold_on(self, within: float) -> bool:
        """Wait for the event within a time."""
        return await asyncio.wait_for(self.event.wait(), within)

    async def call(self, action: Callable[[], object]) -> object:
        """Make a call that does not wait."""
        return action()


Step = Callable[[Objects], Awaitable[object]]

FAMILIES: Mapping[str, tuple[tuple[str, Step], ...]] = {
    "value": (
        ("increment", lambda it: it.increment(steps=False)),
        ("look", lambda it: it.look()),
        ("look later", lambda it: it.look_later()),
    ),
    "steps": (
        ("increment in steps", lambda it: it.increment(steps=True)),
        ("look", lambda it: it.look()),
    ),
    "lock": (
        ("use", lambda it: it.use_lock()),
        ("try", lambda it: it.try_lock()),
        ("acquire", lambda it: it.lock.acquire()),
        ("release", lambda it: it.call(it.lock.release)),
        ("locked", lambda it: it.call(it.lock.locked)),
    ),
    "event": (
        ("set", lambda it: it.call(it.event.set)),
        ("clear", lambda it: it.call(it.event.clear)),
        ("is set", lambda it: it.call(it.event.is_set)),
        ("wait", lambda it: it.event.wait()),
        ("wait in time", lambda it: it.hold_on(1)),
    ),
    "condition": (
        ("wait", lambda it: it.wait_until_set()),
        ("notify", lambda it: it.notify(1)),
        ("notify all", lambda it: it.notify(9)),
        ("increment", lambda it: it.increment(steps=False)),
    ),
    "semaphore": (
        ("use", lambda it: it.use_place()),
        ("acquire", lambda it: it.places.acquire()),
        ("release", lambda it: it.call(it.places.release)),
        ("locked", lambda it: it.call(it.places.locked)),
    ),
    "queue": (
        ("put", lambda it: it.queue.put(1)),
        ("put now", lambda it: it.call(partial(it.queue.put_nowait, 2))),
        ("get", lambda it: it.queue.get()),
        ("get now", lambda it: it.call(it.queue.get_nowait)),
        ("size", lambda it: it.call(it.queue.qsize)),
    ),
    "future": (
        ("set", lambda it: it.call(partial(it.future.set_result, 1))),
        ("await", lambda it: asyncio.shield(it.future)),
        ("done", lambda it: it.call(it.future.done)),
        ("cancel it", lambda it: it.call(it.future.cancel)),
    ),
    "together": (
        ("gather", lambda it: it.gather()),
        ("first", lambda it: it.first()),
        ("increment", lambda it: it.increment(steps=False)),
        ("set", lambda it: it.call(it.event.set)),
    ),
    "cancellation": (
        ("cancel", lambda it: it.cancel()),
        ("use", lambda it: it.use_lock()),
        ("look later", lambda it: it.look_later()),
    ),
    "time": (
        ("sleep", lambda _: asyncio.sleep(1)),
        ("sleep less", lambda _: asyncio.sleep(0.5)),
        ("look", lambda it: it.look()),
        ("increment", lambda it: it.increment(steps=False)),
    ),
    "thread": (
        ("on a thread", lambda it: asyncio.to_thread(it.of_threads.locked)),
        ("take", lambda it: it.call(partial(it.of_threads.acquire, False))),
    ),
}
"""The calls of each family of objects, by name."""


@dataclass(frozen=True, slots=True)
class TaskProgram:
    """A random program: what each task calls, by name, and how its time passes."""

    name: str
    tasks: tuple[tuple[tuple[str, Step], ...], ...]
    time: TimeMode

    def said(self) -> str:
        """Return the calls of each task in words."""
        return "; ".join(", ".join(name for name, _ in calls) for calls in self.tasks)


@dataclass(slots=True)
class Kept:
    """What the tasks of the latest run have kept."""

    results: list[list[object]] = field(default_factory=list[list[object]])

    def outcome(self) -> object:
        """Return it as a value."""
        return tuple(tuple(map(str, kept)) for kept in self.results)


async def main_of(drawn: TaskProgram, kept: Kept) -> None:
    """Run the tasks of a program to their ends."""
    objects = Objects()
    kept.results = [[] for _ in drawn.tasks]

    async def body(calls: tuple[tuple[str, Step], ...], results: list[object]) -> None:
        for _, call in calls:
            try:
                results.append(await call(objects))
            except _RAISED as error:
                results.append(type(error).__name__)

    for number, calls in enumerate(drawn.tasks):
        task = asyncio.create_task(body(calls, kept.results[number]), name=f"t{number}")
        objects.tasks.append(task)
    await asyncio.wait(objects.tasks)


def program_of(drawn: TaskProgram, kept: Kept) -> Program:
    """Return the program, which puts what its tasks keep into `kept`."""

    def build() -> Scenario:
        return Scenario(threads={"main": lambda: run(main_of(drawn, kept))})

    return Program(
        name=drawn.name,
        summary=drawn.said(),
        build=build,
        settings=Settings(time=drawn.time),
        patch_threading=True,
    )


def random_tasks(seed: int, families: Collection[str] = FAMILIES) -> TaskProgram:
    """Return the program of a seed: two or three tasks with a few calls each."""
    draws = random.Random(seed)
    names = draws.sample(sorted(families), min(len(families), draws.choice((1, 1, 2))))
    calls = [call for name in names for call in FAMILIES[name]]
    number = draws.choice((2, 2, 3))
    lengths = [1] * number
    for _ in range(draws.randint(0, 4 - number)):
        lengths[draws.randrange(number)] += 1
    return TaskProgram(
        f"tasks-{seed}",
        tuple(tuple(draws.choices(calls, k=length)) for length in lengths),
        draws.choice((TimeMode.ANY, TimeMode.ANY, TimeMode.LAZY)),
    )
