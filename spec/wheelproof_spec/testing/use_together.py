"""Several threads that use a pool at once: recorded, and judged as every other history.

Each thread gives back what it gets before it asks again, and what was lent before comes back
meanwhile. So with a right pool every wait ends, however the threads are scheduled.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count

from hypothesis import strategies as st

from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
)
from wheelproof_spec.components.buffer_pool.history import RECORDED
from wheelproof_spec.components.buffer_pool.history.search import search
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.testing.python_pool import (
    Buffer,
    Loan,
    PythonPool,
    named_errors,
    shared_memory,
    wrong_buffer,
)

PATIENT_MS = 600_000
"""The limit of a call that waits for memory: longer than any thread is waited for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """In `together`: a thread allocates `size` bytes, and gives back what it gets.

    Unless it is patient, its call has no time to wait.
    """

    size: int
    patient: bool


@dataclass(frozen=True, slots=True)
class CloseIt:
    """In `together`: a thread closes the pool."""


Program = tuple[Use | CloseIt, ...]
"""What one thread does in `together`."""

_USES = st.builds(Use, size=st.integers(0, 4) | st.integers(0, 14), patient=st.booleans())
PROGRAMS: st.SearchStrategy[Program] = st.tuples(_USES) | st.tuples(_USES, _USES)
CLOSING_PROGRAMS: st.SearchStrategy[Program] = st.tuples(st.just(CloseIt())) | st.tuples(
    _USES, st.just(CloseIt())
)


class UsedTogether:
    """One burst of threads on a pool, and the judge of its history."""

    def __init__(
        self, pool: PythonPool, config: PoolConfig, profile: str, skip: Collection[str]
    ) -> None:
        """Begin the history of a pool that nobody waits for."""
        self._pool = pool
        self.history = JudgedBursts(RECORDED, config, profile=profile, skip=skip, search=search)
        self._recorder = self.history.recorder
        self._numbers = count(1)
        self._broken: list[Violation] = []

    def calls(
        self, programs: Sequence[Sequence[Use | CloseIt]], loans: Sequence[Loan], *, closed: bool
    ) -> Sequence[Sequence[Callable[[], None]]]:
        """Return what each thread calls: a thread a program, and one that gives `loans` back.

        `closed` says that the pool is closed already.
        """
        named = [(loan, self._name(loan.buffer)) for loan in loans]
        calls = [[self._made(call) for call in program] for program in programs if program]
        if named:
            calls.append([partial(self._give_back, loan, name) for loan, name in named])
        self._remember(named, closed=closed)
        return calls

    def finish(self) -> Violation | None:
        """Return the first violation, when all threads have ended."""
        return self.history.finish() or next(iter(self._broken), None)

    def _remember(self, named: Sequence[tuple[Loan, str]], *, closed: bool) -> None:
        """Begin the history with what was so before: these calls are recorded, but not made."""
        for loan, name in named:
            asked = Allocate(size=loan.size, max_time_to_block_ms=0)
            lent = Allocated(buffer=name, size=loan.size)
            self._recorder.call(asked, partial(_same, lent))
        if closed:
            self._recorder.do(Close(), _nothing)

    def _made(self, call: Use | CloseIt) -> Callable[[], None]:
        return self._close if isinstance(call, CloseIt) else partial(self._use, call)

    def _use(self, use: Use) -> None:
        lent: list[tuple[Buffer, str]] = []

        def allocate() -> Allocated:
            with named_errors():
                buffer = self._pool.allocate(use.size, limit_ms)
            name = self._name(buffer)
            lent.append((buffer, name))
            return Allocated(buffer=name, size=len(buffer))

        limit_ms = PATIENT_MS if use.patient else 0
        asked = Allocate(size=use.size, max_time_to_block_ms=limit_ms)
        if not self._recorder.call(asked, allocate):
            return
        ((buffer, name),) = lent
        number = next(self._numbers)
        loan = Loan(name=f"loan {number}", size=use.size, buffer=buffer)
        wrong = wrong_buffer(loan.name, use.size, buffer)
        if wrong is not None:
            self._broken.append(wrong)
            return
        loan.fill(number)
        self._give_back(loan, name)

    def _give_back(self, loan: Loan, name: str) -> None:
        shared = shared_memory(loan)
        if shared is not None:
            self._broken.append(shared)
        asked = Deallocate(buffer=name, size=loan.size)
        self._recorder.do(asked, partial(self._deallocate, loan.buffer))

    def _deallocate(self, buffer: Buffer) -> None:
        with named_errors():
            self._pool.deallocate(buffer)

    def _close(self) -> None:
        self._recorder.do(Close(), self._pool.close)

    def _name(self, buffer: Buffer) -> str:
        """Return the name of a buffer in the history; all empty buffers may be one object."""
        return f"b{id(buffer)}" if len(buffer) else f"empty{next(self._numbers)}"


def _same(lent: Allocated) -> Allocated:
    return lent


def _nothing() -> None:
    pass
