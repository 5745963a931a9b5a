"""The only door to concurrency: locks, cells, threads and executors of the ambient runtime.

A lock or a cell that is built here comes from the runtime that is ambient AT THAT MOMENT:
operating-system threads by default, a model checker's controlled runtime inside `use_runtime`. The
object keeps its runtime for life. Every operation on such an object is one step of the system: it
has a name (the method), an object, and reads or writes it (see `protocols`), so that code written
against this package can be run under every interleaving without a change.
"""

from wheelproof.errors import ThreadInterruptedError
from wheelproof.sync.ambient import (
    atomic_integer,
    atomic_reference,
    await_until,
    condition,
    current_runtime,
    lock,
    monitor,
    monotonic_ms,
    read_write_lock,
    single_thread_executor,
    thread,
    use_runtime,
    volatile,
)
from wheelproof.sync.deferred_executor import DeferredExecutor
from wheelproof.sync.guarded import GuardedBy
from wheelproof.sync.protocols import (
    AtomicInteger,
    AtomicReference,
    Condition,
    Executor,
    Lock,
    Monitor,
    ReadWriteLock,
    Runtime,
    Thread,
    Volatile,
)
from wheelproof.units import Millis

__all__ = [
    "AtomicInteger",
    "AtomicReference",
    "Condition",
    "DeferredExecutor",
    "Executor",
    "GuardedBy",
    "Lock",
    "Millis",
    "Monitor",
    "ReadWriteLock",
    "Runtime",
    "Thread",
    "ThreadInterruptedError",
    "Volatile",
    "atomic_integer",
    "atomic_reference",
    "await_until",
    "condition",
    "current_runtime",
    "lock",
    "monitor",
    "monotonic_ms",
    "read_write_lock",
    "single_thread_executor",
    "thread",
    "use_runtime",
    "volatile",
]
