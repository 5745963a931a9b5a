"""Random small programs: what a seed says, run by an interpreter over `wheelproof.sync`."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof.errors import ThreadInterruptedError
from wheelproof.units import Millis
from wheelproof_explore.program import (
    Program,
    Scenario,
    Settings,
    TimeMode,
    choose,
    recorded,
)

_PLAIN = ("get", "set", "exchange", "add", "cas", "cas")
_LOCKS = ("lock", "try")
_FLAVOURS: tuple[tuple[str, ...], ...] = (
    ("wait", "timed wait", "notify", "notify all"),
    ("wait", "timed wait", "notify", "notify all"),
    ("timed wait", "now", "notify"),
    ("read", "write", "read"),
    ("start", "join", "timed join"),
    ("interrupt", "interrupt", "notify", "notify all"),
    ("start", "join", "interrupt", "wait", "timed wait", "notify"),
    ("choose",),
    ("call", "call"),
    (),
)
_WITH_BLOCK = {"lock", "try", "wait", "timed wait", "notify", "notify all", "read", "write", "call"}
_DEEPEST = 2


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its kind, which of two objects, two numbers, and a block for some kinds."""

    kind: str
    which: int
    first: int
    second: int
    block: "tuple[Instruction, ...]"


Held = frozenset[tuple[str, int]]


class _Objects:
    def __init__(self) -> None:
        self.cells = [sync.atomic_integer(0, f"x{number}") for number in range(2)]
        self.locks = [sync.lock(f"lock{number}") for number in range(2)]
        self.conditions = [sync.condition(self.locks[0], f"c{number}") for number in range(2)]
        self.read_write = [
            sync.read_write_lock("writers first", prefer_writers=True),
            sync.read_write_lock("no preference", prefer_writers=False),
        ]


@dataclass(slots=True)
class _Thread:
    """Interprets the instructions of one thread, which can interrupt `waiters`."""

    objects: _Objects
    waiters: tuple[sync.Thread, ...] = ()
    children: list[sync.Thread] = field(default_factory=list[sync.Thread])

    def run(self, block: tuple[Instruction, ...], held: Held = frozenset()) -> None:
        for instruction in block:
            self._actions()[instruction.kind](instruction, held)

    def _actions(self) -> Mapping[str, Callable[[Instruction, Held], None]]:
        return {
            "get": lambda one, _: _drop(self.objects.cells[one.which].get()),
            "set": lambda one, _: self.objects.cells[one.which].set(one.first),
            "exchange": lambda one, _: _drop(self.objects.cells[one.which].get_and_set(one.first)),
            "add": lambda one, _: _drop(self.objects.cells[one.which].add_and_get(1)),
            "cas": self._cas,
            "now": lambda one, _: self.objects.cells[one.which].set(sync.monotonic_ms()),
            "choose": self._choose,
            "call": lambda one, held: recorded("operation", partial(self.run, one.block, held)),
            "lock": self._lock,
            "try": self._try,
            "wait": self._on_condition,
            "timed wait": self._on_condition,
            "notify": self._on_condition,
            "notify all": self._on_condition,
            "read": self._read_write,
            "write": self._read_write,
            "start": self._start,
            "interrupt": self._interrupt,
            "join": self._join,
            "timed join": self._join,
        }

    def _cas(self, one: Instruction, held: Held) -> None:
        del held
        if self.objects.cells[one.which].compare_and_set(one.first, one.second):
            self.objects.cells[1 - one.which].add_and_get(1)

    def _choose(self, one: Instruction, held: Held) -> None:
        del held
        if choose(2):
            self.objects.cells[one.which].add_and_get(1)

    def _lock(self, one: Instruction, held: Held) -> None:
        if ("lock", one.which) not in held:
            with self.objects.locks[one.which]:
                self.run(one.block, held | {("lock", one.which)})

    def _try(self, one: Instruction, held: Held) -> None:
        lock = self.objects.locks[one.which]
        if ("lock", one.which) not in held and lock.try_acquire():
            self.run(one.block, held | {("lock", one.which)})
            lock.release()

    def _on_condition(self, one: Instruction, held: Held) -> None:
        if ("lock", 0) in held:
            self._with_lock(one, held)
        else:
            with self.objects.locks[0]:
                self._with_lock(one, held | {("lock", 0)})

    def _with_lock(self, one: Instruction, held: Held) -> None:
        condition = self.objects.conditions[one.which]
        try:
            if one.kind == "notify":
                condition.notify()
            elif one.kind == "notify all":
                condition.notify_all()
            elif one.kind == "wait":
                condition.wait()
            elif condition.wait(Millis(5 + one.which)):
                self.objects.cells[one.which].set(1)
        except ThreadInterruptedError:
            self.objects.cells[one.which].add_and_get(2)
        self.run(one.block, held)

    def _read_write(self, one: Instruction, held: Held) -> None:
        if not held & {("read", one.which), ("write", one.which)}:
            lock = self.objects.read_write[one.which]
            with lock.read if one.kind == "read" else lock.write:
                self.run(one.block, held | {(one.kind, one.which)})

    def _start(self, one: Instruction, held: Held) -> None:
        del held
        body = _Thread(self.objects, self.waiters).run
        child = sync.thread(partial(body, one.block), "child")
        child.start()
        self.children.append(child)

    def _interrupt(self, one: Instruction, held: Held) -> None:
        del one, held
        for waiting in (*self.children, *self.waiters)[:1]:
            waiting.interrupt()

    def _join(self, one: Instruction, held: Held) -> None:
        del held
        if not self.children:
            return
        if one.kind == "join":
            self.children[-1].join()
        elif self.children[-1].join(Millis(3)):
            self.objects.cells[one.which].set(2)


def random_program(seed: int) -> Program:
    """Return the program of a seed: two or three threads with a few steps each."""
    draws = random.Random(seed)
    threads = draws.choice((2, 2, 3))
    most = draws.randint(3, 7 if threads == 2 else 6) // threads
    kinds = (*_PLAIN, *_LOCKS, *draws.choice(_FLAVOURS))
    code = [
        tuple(_instruction(draws, kinds, 0) for _ in range(draws.randint(1, max(1, most))))
        for _ in range(threads)
    ]
    waiting: list[Instruction] = []
    if "interrupt" in kinds:
        kinds_of_waits = ("wait", "timed wait")
        waiting = [
            _instruction(draws, kinds_of_waits, _DEEPEST) for _ in range(draws.randint(0, 2))
        ]
    settings = Settings(
        time=draws.choice((TimeMode.ANY, TimeMode.ANY, TimeMode.LAZY, TimeMode.CLOCK)),
        spurious_wakeups=draws.choice((0, 0, 0, 1)),
    )
    return Program(
        name=f"random-{seed}",
        summary=repr((code, waiting)),
        build=partial(_build, code, tuple(waiting)),
        settings=settings,
    )


def _build(code: list[tuple[Instruction, ...]], waiting: tuple[Instruction, ...]) -> Scenario:
    objects = _Objects()
    waiters: tuple[sync.Thread, ...] = ()
    if waiting:
        waiter = sync.thread(partial(_Thread(objects).run, waiting), "waiter")
        waiter.start()
        waiters = (waiter,)
    return Scenario(
        threads={
            f"t{number}": partial(_Thread(objects, waiters).run, block)
            for number, block in enumerate(code)
        }
    )


def _instruction(draws: random.Random, kinds: tuple[str, ...], depth: int) -> Instruction:
    kind = draws.choice(kinds)
    nested = draws.randint(0, 1) if kind in _WITH_BLOCK | {"start"} and depth < _DEEPEST else 0
    return Instruction(
        kind,
        draws.randrange(2),
        draws.randrange(3),
        draws.randrange(3),
        tuple(_instruction(draws, kinds, depth + 1) for _ in range(nested)),
    )


def _drop(value: object) -> None:
    del value
