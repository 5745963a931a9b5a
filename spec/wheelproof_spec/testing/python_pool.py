"""A buffer pool that is written in Python, as the machine calls it: its methods and its loans.

Each loan is filled with bytes of its own. Whoever finds other bytes in its buffer shares the
memory with somebody.

>>> loans = [Loan(name=name, size=2, buffer=bytearray(2)) for name in ("a", "b")]
>>> for number, loan in enumerate(loans):
...     loan.fill(number)
>>> [loan.is_untouched() for loan in loans]
[True, True]
>>> loans[0].buffer[1] = 7
>>> [loan.is_untouched() for loan in loans]
[False, True]
"""

import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Protocol, TypeAlias

from wheelproof.errors import IllegalArgumentError, WheelproofError
from wheelproof.producer import BufferExhaustedError, ProducerClosedError
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import CallId, PoolClause, PoolOutcome

Buffer: TypeAlias = bytearray | memoryview
"""What a pool lends: as many bytes as were asked for."""

_LOOK_EVERY_S = 0.001
"""How often it is asked, in seconds, whether a thread waits by now. No verdict depends on it."""


class PythonPool(Protocol):
    """A pool as the machine calls it, also from several threads at once. Sizes are in bytes."""

    def allocate(self, size: int, max_block_ms: int) -> Buffer:
        """Return a buffer of `size` bytes, waiting at most `max_block_ms` milliseconds for memory.

        Raises ValueError for a size below 0 or above the total, TimeoutError if the memory did not
        come in time, and RuntimeError if the pool is closed now or during the wait.
        """
        ...

    def deallocate(self, buffer: Buffer) -> None:
        """Take a buffer back, also after `close`; raises ValueError if it is not on loan."""
        ...

    def available_memory(self) -> int:
        """Return what is not lent, without the part that waiting threads have gathered."""
        ...

    def unallocated_memory(self) -> int | None:
        """Return what is available and no kept buffer; None if the pool keeps no such account."""
        ...

    def queued(self) -> int:
        """Return how many threads wait; who has got its memory waits no more."""
        ...

    def close(self) -> None:
        """Refuse further allocations and end all waits."""
        ...


class MakePool(Protocol):
    """A class or a function that makes the pool under test."""

    def __call__(self, *, total_memory: int, poolable_size: int) -> PythonPool:
        """Return an open pool of `total_memory` bytes, of which nothing is lent."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loan:
    """A buffer that is lent, the name of its allocation, and the size that was asked for."""

    name: CallId
    size: int
    buffer: Buffer
    _filled: bytearray = field(default_factory=bytearray, init=False)

    def fill(self, number: int) -> None:
        """Write the lowest byte of `number` everywhere."""
        self._filled[:] = bytes([number % 256]) * len(self.buffer)
        self.buffer[:] = self._filled

    def is_untouched(self) -> bool:
        """Tell whether nobody else has written."""
        return self.buffer == self._filled


@dataclass(slots=True, kw_only=True)
class Allocation:
    """A call of allocate on a thread of its own. Once `ended` is set, it has one of the others."""

    name: CallId
    size: int
    ended: Event = field(default_factory=Event)
    outcome: PoolOutcome | None = None
    buffer: Buffer | None = None
    refusal: RefusedError | None = None
    defect: str = ""
    """How it was raised, if it raised an error that no caller expects."""


class Callers:
    """The threads that allocate from a pool, each for one call."""

    def __init__(self, pool: PythonPool) -> None:
        self._pool = pool
        self._ends: SimpleQueue[Allocation] = SimpleQueue()
        self._given_up = False
        self.open: set[CallId] = set()
        """The names of the calls whose ends `next_end` has not returned."""

    def allocate(self, name: CallId, size: int, max_block_ms: int) -> Allocation:
        """Begin a call on a new thread."""
        allocation = Allocation(name=name, size=size)
        self.open.add(name)
        call = (allocation, max_block_ms)
        Thread(target=self._call, args=call, name=f"allocation-{name}", daemon=True).start()
        return allocation

    def await_place(self, allocation: Allocation, place: int) -> None:
        """Return once the call has ended, or once `place` threads wait."""
        while not self._given_up and not allocation.ended.is_set() and self._pool.queued() < place:
            allocation.ended.wait(_LOOK_EVERY_S)

    def next_end(self, within_s: float) -> Allocation | None:
        """Return a call that has ended, or None if none ends within so many seconds."""
        try:
            ended = self._ends.get(timeout=within_s) if within_s else self._ends.get_nowait()
        except Empty:
            return None
        self.open.discard(ended.name)
        return ended

    def give_up(self) -> None:
        """Let the pool release whoever waits, on a thread that nobody waits for."""
        self._given_up = True
        Thread(target=self._close, name="close", daemon=True).start()

    def _close(self) -> None:
        with suppress(Exception):
            self._pool.close()

    def _call(self, allocation: Allocation, max_block_ms: int) -> None:
        try:
            with named_errors():
                allocation.buffer = self._pool.allocate(allocation.size, max_block_ms)
            allocation.outcome = PoolOutcome.BUFFER
        except BufferExhaustedError:
            allocation.outcome = PoolOutcome.EXHAUSTED
        except ProducerClosedError:
            allocation.outcome = PoolOutcome.CLOSED
        except IllegalArgumentError as error:
            allocation.refusal = RefusedError("IllegalArgument", str(error))
        except Exception:
            allocation.defect = traceback.format_exc(limit=-4)
        self._ends.put(allocation)
        allocation.ended.set()


@contextmanager
def named_errors() -> Generator[None]:
    """Raise the refusals of a pool as the reference raises them; other errors pass."""
    try:
        yield
    except (WheelproofError, NotImplementedError, RecursionError):
        raise
    except TimeoutError as error:
        raise BufferExhaustedError(str(error)) from error
    except ValueError as error:
        raise IllegalArgumentError(str(error)) from error
    except RuntimeError as error:
        raise ProducerClosedError(str(error)) from error


def defect(allocation: Allocation, of: str) -> Violation | None:
    """Return the violation if a call of what `of` is raised an error that no caller expects."""
    if not allocation.defect:
        return None
    return Violation(
        rule=f"{of}.NoCallFails",
        expected="no call raises",
        observed=allocation.defect,
        reason=f"allocate({allocation.size}) raised an error that no caller expects",
    )


def wrong_buffer(name: CallId, size: int, buffer: Buffer | None) -> Violation | None:
    """Return the violation if what was lent has not `size` bytes."""
    if buffer is not None and len(buffer) == size:
        return None
    return PoolClause.LENDS_WHAT_WAS_ASKED.broken(
        f"a bytearray or a memoryview of {size} bytes", f"{name!r} got {buffer!r}"
    )


def shared_memory(loan: Loan) -> Violation | None:
    """Return the violation if somebody else has written to the memory of a loan."""
    if loan.is_untouched():
        return None
    return PoolClause.LENDS_ONCE.broken(
        f"the memory of {loan.name!r} has one user",
        f"another loan has written to the memory of {loan.name!r}",
    )
