"""The reference's BufferPool as a program for graph mode: threads allocate, close, interrupt.

The comparison with BufferPool.tla is in `view`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof.producer import BufferPool, ByteBuffer
from wheelproof.producer.buffer_pool import Waiter
from wheelproof.producer.pooled_memory import PooledMemory
from wheelproof_explore.program import Action, Scenario, Settings, choose
from wheelproof_lab.graph.buffer_pool.clock import PoolClock
from wheelproof_lab.graph.buffer_pool.view import CLOCK, BufferPoolView
from wheelproof_lab.graph.states.views import GraphProgram, ViewedRun
from wheelproof_spec.components.buffer_pool.port import ENDS
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

NONE = ModelValue(name="None")
FOREVER = 1_000
"""A limit that no comparison reaches, in milliseconds."""

_GUARDED: tuple[tuple[type, str], ...] = (
    (BufferPool, "_closed"),
    (PooledMemory, "non_pooled"),
    (PooledMemory, "free"),
    (BufferPool, "_waiters"),
    (PooledMemory, "loans"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowers:
    """The threads of a configuration: clients that borrow, closers and interrupters.

    `programs` maps each client to the sizes in bytes that it allocates and gives back one after the
    other, `limits_ms` to its longest wait (default: for ever). For the `unlucky` clients the
    allocation of the memory itself may fail. `victims` maps interrupters to clients. Time advances
    until `max_time_ms`.
    """

    total: int
    poolable_size: int
    programs: Mapping[str, tuple[int, ...]]
    limits_ms: Mapping[str, int] = field(default_factory=dict[str, int])
    unlucky: Collection[str] = ()
    closers: tuple[str, ...] = ()
    victims: Mapping[str, str] = field(default_factory=dict[str, str])
    max_time_ms: int = 0

    def limit_ms(self, client: str) -> int:
        """Return the longest wait of a client."""
        return self.limits_ms.get(client, FOREVER)

    def constants(self) -> dict[str, Value]:
        """Return the constants of MCBufferPool."""
        return {
            "Clients": frozenset(self.programs),
            "Program": make_function(self.programs.items()),
            "Restless": frozenset(),
            "Limit": make_function((client, self.limit_ms(client)) for client in self.programs),
            "Unlucky": frozenset(self.unlucky),
            "Closers": frozenset(self.closers),
            "Interrupters": frozenset(self.victims),
            "Victim": make_function(self.victims.items()),
            "SpuriousWakeUps": False,
            "Total": self.total,
            "Poolable": self.poolable_size,
            "MaxTime": self.max_time_ms,
            "None": NONE,
        }


class _Buffer(ByteBuffer):
    """A stand-in for memory; a cell is the identity of the memory."""

    __slots__ = ("_identity",)

    def __init__(self, size: int, identity: sync.Volatile[None]) -> None:
        super().__init__(bytearray(), capacity=size)
        self._identity = identity

    def duplicate(self) -> ByteBuffer:
        """Return an empty buffer over the same memory."""
        return _Buffer(self.capacity, self._identity)


class _Bench:
    """The objects of one run, and the actions of its threads."""

    def __init__(self, borrowers: Borrowers, pool_class: type[BufferPool]) -> None:
        self._borrowers = borrowers
        self.interruptible: dict[str, sync.Thread] = {}
        self.clock = PoolClock({name: borrowers.limit_ms(name) for name in borrowers.programs})
        self.pool = pool_class(
            borrowers.total,
            borrowers.poolable_size,
            clock=self.clock,
            allocator=self._make,
        )

    def threads(self) -> dict[str, Action]:
        """Return the action of each thread."""
        borrowers = self._borrowers
        clients = {
            name: partial(self._borrow, name, sizes) for name, sizes in borrowers.programs.items()
        }
        threads: dict[str, Action] = {
            name: action
            for name, action in clients.items()
            if name not in borrowers.victims.values()
        }
        # Only a thread that another thread has started can be interrupted.
        for name, victim in borrowers.victims.items():
            self.interruptible[victim] = sync.thread(clients[victim], victim)
            threads[name] = partial(_start_and_interrupt, self.interruptible[victim])
        threads |= dict.fromkeys(borrowers.closers, self.pool.close)
        threads[CLOCK] = self.clock.tick
        return threads

    def _borrow(self, client: str, sizes: tuple[int, ...]) -> None:
        limit_ms = self._borrowers.limit_ms(client)
        for size in sizes:
            self.clock.begin_allocation()
            try:
                buffer = self.pool.allocate(size, limit_ms)
            except tuple(ENDS):
                continue
            self.pool.deallocate(buffer)

    def _make(self, size: int) -> ByteBuffer:
        """Allocate, in a separate step; for an unlucky client the step may fail."""
        outcomes = 2 if self.clock.reader() in self._borrowers.unlucky else 1
        if choose(outcomes):
            raise MemoryError
        return _Buffer(size, sync.volatile(None, "memory"))


def buffer_pool(borrowers: Borrowers, pool_class: type[BufferPool] = BufferPool) -> GraphProgram:
    """Return the program of a configuration for a class of pools."""

    def build() -> ViewedRun:
        bench = _Bench(borrowers, pool_class)
        scenario = Scenario(threads=bench.threads())
        view = BufferPoolView(
            pool=bench.pool,
            clock=bench.clock,
            clients=tuple(borrowers.programs),
            others=(*borrowers.closers, *borrowers.victims),
            interruptible=bench.interruptible,
            max_time_ms=borrowers.max_time_ms,
        )
        return ViewedRun(scenario=scenario, view=view)

    return GraphProgram(
        name="BufferPool",
        build=build,
        watched_fields=(
            *_GUARDED,
            (Waiter, "accumulated"),
        ),
        settings=Settings(may_wait=frozenset({CLOCK})),
    )


def _start_and_interrupt(client: sync.Thread) -> None:
    client.start()
    client.interrupt()
