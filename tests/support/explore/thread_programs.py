"""Random small programs over every primitive of `threading`, `queue`, `time` and thread pools.

Each thread makes a few calls on one or two families of objects, and keeps what each call returned
or raised. What a run has shown is what all threads have kept, and how the run has ended.
"""

import queue
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof_explore.program import Program, Scenario, Settings, TimeMode

_RAISED = (RuntimeError, ValueError, queue.Empty, queue.Full, TimeoutError, CancelledError)
"""What a call of a random program may raise: it is kept as any other result."""


class Objects:
    """The objects of one run; the threads share them."""

    def __init__(self) -> None:
        self.cells = [sync.volatile(0, f"cell{number}") for number in range(2)]
        self.lock = threading.Lock()
        self.rlock = threading.RLock()
        self.plain = threading.Condition(self.lock)
        self.changed = threading.Condition()
        self.event = threading.Event()
        self.places = threading.Semaphore(1)
        self.bounded = threading.BoundedSemaphore(1)
        self.barrier = threading.Barrier(2)
        self.one: queue.Queue[int] = queue.Queue(1)
        self.sorted: queue.PriorityQueue[int] = queue.PriorityQueue()
        self.last: queue.LifoQueue[int] = queue.LifoQueue(1)
        self.simple: queue.SimpleQueue[int] = queue.SimpleQueue()
        self.own = threading.local()
        self.child = threading.Thread(target=self._set_cell, name="child", daemon=True)
        self.timer = threading.Timer(1, self._set_cell)
        self.timer.daemon = True
        self.pool = ThreadPoolExecutor(1)
        self.future: Future[int] = Future()

    def _set_cell(self) -> None:
        self.cells[0].set(7)

    def run_future(self) -> bool:
        """Do what a worker does with a future."""
        begun = self.future.set_running_or_notify_cancel()
        if begun:
            self.future.set_result(1)
        return begun

    def submit(self) -> int:
        """Submit to the pool, and wait for the result."""
        return self.pool.submit(lambda: self.cells[1].get()).result()

    def set_own(self) -> None:
        """Set an attribute that each thread has for itself."""
        self.own.value = threading.current_thread().name

    def get_own(self) -> object:
        """Return that attribute."""
        return getattr(self.own, "value", None)

    def wait_until_set(self, condition: threading.Condition, timeout: float | None) -> bool:
        """Wait on a condition, with its lock, unless the first cell is set."""
        with condition:
            return self.cells[0].get() != 0 or condition.wait(timeout)

    def notify(self, condition: threading.Condition, count: int) -> None:
        """Set the first cell and notify, with the lock of the condition."""
        with condition:
            self.cells[0].set(1)
            condition.notify(count)


def use(lock: "threading.Lock | threading.RLock") -> None:
    """Take a lock and release it."""
    with lock:
        pass


Call = Callable[[Objects], object]

FAMILIES: Mapping[str, tuple[tuple[str, Call], ...]] = {
    "cells": (
        ("get", lambda it: it.cells[0].get()),
        ("set 1", lambda it: it.cells[0].set(1)),
        ("set 2", lambda it: it.cells[0].set(2)),
        ("get other", lambda it: it.cells[1].get()),
        ("set other", lambda it: it.cells[1].set(1)),
    ),
    "lock": (
        ("acquire", lambda it: it.lock.acquire()),
        ("with", lambda it: use(it.lock)),
        ("try", lambda it: it.lock.acquire(blocking=False)),
        ("acquire in time", lambda it: it.lock.acquire(timeout=1)),
        ("release", lambda it: it.lock.release()),
        ("release", lambda it: it.lock.release()),
        ("locked", lambda it: it.lock.locked()),
    ),
    "rlock": (
        ("acquire", lambda it: it.rlock.acquire()),
        ("with", lambda it: use(it.rlock)),
        ("try", lambda it: it.rlock.acquire(blocking=False)),
        ("acquire in time", lambda it: it.rlock.acquire(timeout=1)),
        ("release", lambda it: it.rlock.release()),
        ("release", lambda it: it.rlock.release()),
    ),
    "condition": (
        ("wait", lambda it: it.wait_until_set(it.changed, None)),
        ("wait in time", lambda it: it.wait_until_set(it.changed, 1)),
        ("notify", lambda it: it.notify(it.changed, 1)),
        ("notify all", lambda it: it.notify(it.changed, 9)),
        ("wait without", lambda it: it.changed.wait()),
        ("notify without", lambda it: it.changed.notify()),
    ),
    "condition on a lock": (
        ("wait", lambda it: it.wait_until_set(it.plain, None)),
        ("wait in time", lambda it: it.wait_until_set(it.plain, 1)),
        ("notify", lambda it: it.notify(it.plain, 1)),
        ("release", lambda it: it.lock.release()),
        ("locked", lambda it: it.lock.locked()),
        ("notify without", lambda it: it.plain.notify()),
    ),
    "event": (
        ("set", lambda it: it.event.set()),
        ("clear", lambda it: it.event.clear()),
        ("is set", lambda it: it.event.is_set()),
        ("wait", lambda it: it.event.wait()),
        ("wait in time", lambda it: it.event.wait(1)),
    ),
    "semaphore": (
        ("acquire", lambda it: it.places.acquire()),
        ("try", lambda it: it.places.acquire(blocking=False)),
        ("acquire in time", lambda it: it.places.acquire(timeout=1)),
        ("release", lambda it: it.places.release()),
    ),
    "bounded semaphore": (
        ("acquire", lambda it: it.bounded.acquire()),
        ("try", lambda it: it.bounded.acquire(blocking=False)),
        ("release", lambda it: it.bounded.release()),
    ),
    "barrier": (
        ("wait", lambda it: it.barrier.wait()),
        ("wait in time", lambda it: it.barrier.wait(1)),
        ("waiting", lambda it: it.barrier.n_waiting),
        ("broken", lambda it: it.barrier.broken),
        ("abort", lambda it: it.barrier.abort()),
        ("reset", lambda it: it.barrier.reset()),
    ),
    "queue": (
        ("put", lambda it: it.one.put(1)),
        ("put in time", lambda it: it.one.put(2, timeout=1)),
        ("put now", lambda it: it.one.put_nowait(3)),
        ("get", lambda it: it.one.get()),
        ("get in time", lambda it: it.one.get(timeout=1)),
        ("get now", lambda it: it.one.get_nowait()),
        ("size", lambda it: it.one.qsize()),
        ("empty", lambda it: it.one.empty()),
        ("full", lambda it: it.one.full()),
        ("done", lambda it: it.one.task_done()),
        ("join", lambda it: it.one.join()),
    ),
    "other queues": (
        ("put", lambda it: it.sorted.put(2)),
        ("put less", lambda it: it.sorted.put(1)),
        ("get", lambda it: it.sorted.get()),
        ("size", lambda it: it.sorted.qsize()),
        ("put last", lambda it: it.last.put(1)),
        ("get last", lambda it: it.last.get_nowait()),
    ),
    "simple queue": (
        ("put", lambda it: it.simple.put(1)),
        ("put other", lambda it: it.simple.put(2)),
        ("get", lambda it: it.simple.get()),
        ("get in time", lambda it: it.simple.get(timeout=1)),
        ("get now", lambda it: it.simple.get_nowait()),
        ("size", lambda it: it.simple.qsize()),
        ("empty", lambda it: it.simple.empty()),
    ),
    "thread": (
        ("start", lambda it: it.child.start()),
        ("join", lambda it: it.child.join()),
        ("join in time", lambda it: it.child.join(1)),
        ("alive", lambda it: it.child.is_alive()),
        ("identified", lambda it: it.child.ident is not None),
        ("get", lambda it: it.cells[0].get()),
    ),
    "timer": (
        ("start", lambda it: it.timer.start()),
        ("cancel", lambda it: it.timer.cancel()),
        ("join", lambda it: it.timer.join()),
        ("get", lambda it: it.cells[0].get()),
    ),
    "future": (
        ("run", lambda it: it.run_future()),
        ("cancel", lambda it: it.future.cancel()),
        ("result", lambda it: it.future.result()),
        ("result in time", lambda it: it.future.result(1)),
        ("done", lambda it: it.future.done()),
        ("running", lambda it: it.future.running()),
        ("call back", lambda it: it.future.add_done_callback(lambda _: it.cells[1].set(1))),
        ("get", lambda it: it.cells[1].get()),
    ),
    "pool": (
        ("submit", lambda it: it.submit()),
        ("shut down", lambda it: it.pool.shutdown(wait=False)),
        ("set", lambda it: it.cells[1].set(3)),
    ),
    "own": (
        ("set", lambda it: it.set_own()),
        ("get", lambda it: it.get_own()),
    ),
    "time": (
        ("sleep", lambda _: time.sleep(1)),
        ("sleep less", lambda _: time.sleep(0.5)),
        ("now", lambda _: time.monotonic()),
        ("get", lambda it: it.cells[0].get()),
        ("set", lambda it: it.cells[0].set(4)),
    ),
}
"""The calls of each family of objects, by name."""

_LONG = frozenset(("pool", "other queues", "simple queue", "queue", "barrier", "condition"))
"""Families whose calls have many steps each: brute force takes fewer of them."""


@dataclass(frozen=True, slots=True)
class ThreadProgram:
    """A random program: what each thread calls, by name, and how its time passes.

    With `apart` a step of its own comes before each call, so that even a call that makes no step,
    and looks at what others change, has its place among their steps.
    """

    name: str
    threads: tuple[tuple[tuple[str, Call], ...], ...]
    time: TimeMode
    apart: bool = False

    def said(self) -> str:
        """Return the calls of each thread in words."""
        return "; ".join(", ".join(name for name, _ in calls) for calls in self.threads)


@dataclass(slots=True)
class Kept:
    """What the threads of the latest run have kept."""

    results: dict[str, list[object]] = field(default_factory=dict[str, list[object]])

    def outcome(self) -> object:
        """Return it as a value."""
        return tuple((name, tuple(kept)) for name, kept in sorted(self.results.items()))


def program_of(drawn: ThreadProgram, kept: Kept) -> Program:
    """Return the program, which puts what its threads keep into `kept`."""
    return Program(
        name=drawn.name,
        summary=drawn.said(),
        build=partial(_build, drawn, kept),
        settings=Settings(time=drawn.time),
        patch_threading=True,
    )


def _build(drawn: ThreadProgram, kept: Kept) -> Scenario:
    objects = Objects()
    kept.results = {}

    def body(calls: tuple[tuple[str, Call], ...], results: list[object]) -> None:
        mine = sync.volatile(0, "mine")
        for _, call in calls:
            if drawn.apart:
                mine.get()
            try:
                results.append(call(objects))
            except _RAISED as error:
                results.append(type(error).__name__)

    threads: dict[str, Callable[[], None]] = {}
    for number, calls in enumerate(drawn.threads):
        name = f"t{number}"
        threads[name] = partial(body, calls, kept.results.setdefault(name, []))
    return Scenario(threads=threads)


def pair(family: str, first: tuple[str, Call], second: tuple[str, Call]) -> ThreadProgram:
    """Return two threads that make one call each."""
    name = f"{family}: {first[0]}; {second[0]}"
    return ThreadProgram(name, ((first,), (second,)), TimeMode.ANY, apart=True)


def random_threads(seed: int) -> ThreadProgram:
    """Return the program of a seed: two or three threads with a few calls each."""
    draws = random.Random(seed)
    names = draws.sample(sorted(FAMILIES), draws.choice((1, 1, 2)))
    calls = [call for name in names for call in FAMILIES[name]]
    number = draws.choice((2, 2, 3))
    most = 4 if _LONG.isdisjoint(names) else 3
    total = draws.randint(number, max(number, most + (number == 2)))
    lengths = [1] * number
    for _ in range(total - number):
        lengths[draws.randrange(number)] += 1
    timeless = any(name in ("lock", "rlock") for name in names)
    modes = (TimeMode.ANY, TimeMode.ANY, TimeMode.LAZY, TimeMode.CLOCK)
    return ThreadProgram(
        f"threads-{seed}",
        tuple(tuple(draws.choices(calls, k=length)) for length in lengths),
        TimeMode.ANY if timeless else draws.choice(modes),
        apart=draws.random() < 0.3,
    )
