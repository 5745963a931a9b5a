'''The test of a buffer pool that is written in Python: a state machine that Hypothesis runs.

    class TestMine(BufferPoolMachine):
        make = MyPool

That is a whole test for pytest. The machine allocates, gives back and closes, one call at a time,
and compares each outcome and what the pool tells about itself with the oracle's ledger. Then it
does so with threads. An allocation may wait on its own thread, behind others whose places in the
line are known, until memory comes back or the pool is closed. In a step `together` two or three
threads use the pool at once; what they got is judged as a recorded history.

>>> from wheelproof_spec.base.results.fuzz_report import ContractViolationError
>>> class Generous:
...     """It lends whatever is asked for."""
...     def __init__(self, total_memory, poolable_size): self.total = total_memory
...     def allocate(self, size, max_block_ms): return bytearray(size)
...     def deallocate(self, buffer): pass
...     def available_memory(self): return self.total
...     def unallocated_memory(self): return None
...     def queued(self): return 0
...     def close(self): pass
>>> class TestGenerous(BufferPoolMachine):
...     make = Generous
>>> try:
...     TestGenerous().test_it_keeps_its_contract()
... except ContractViolationError as error:
...     print(error.violation.rule)
BufferPool.CloseReleasesEveryone
'''

import copy
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import count
from typing import ClassVar, NoReturn

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from wheelproof.errors import WheelproofError
from wheelproof_spec.base.calls import Advance, Close, Reset
from wheelproof_spec.base.component import any_definition
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    LONGEST_WAITING_FIRST,
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolClause,
    PoolConfig,
    PoolLimit,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.fuzz import burst
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.testing.machine import ContractMachine
from wheelproof_spec.testing.python_pool import (
    Allocation,
    Callers,
    Loan,
    MakePool,
    defect,
    named_errors,
    shared_memory,
    wrong_buffer,
)
from wheelproof_spec.testing.use_together import (
    CLOSING_PROGRAMS,
    PATIENT_MS,
    PROGRAMS,
    CloseIt,
    Program,
    UsedTogether,
)

_TITLE = DEFINITION.title()
_SIZES = st.integers(0, 4) | st.integers(-1, 14)
"""What is asked for, in bytes: mostly little, now and then more than the pool has."""
_PENDING = PoolClause.NO_LOST_WAKE_UP, PoolClause.CLOSE_RELEASES
"""What is broken only if the call that should have ended does not end soon."""
_OF_THE_LINE = (PoolClause.LONGEST_WAITING_FIRST,)


class BufferPoolMachine(ContractMachine):
    """Calls a buffer pool and compares it with a ledger; a subclass says what `make` is.

    `make` is called with `total_memory` and `poolable_size`; see `MakePool` and `PythonPool`.
    `profile` says who is served first: `longest-waiting-first`, or `kafka`, where a newcomer may be
    served ahead of those who wait. `skip` has what is a known limit: the clauses of the memory that
    is kept or told and of the line, and parts of the domain, as `PoolLimit.GIVEN_BACK_TWICE`.
    Without `threads` no call waits and no calls overlap. A subclass may add rules. See
    `ContractMachine` for `seed`, `settings` and `threads`.
    """

    make: ClassVar[MakePool]
    component = any_definition(DEFINITION)
    _given_back: Loan | None = None
    profile: ClassVar[str] = LONGEST_WAITING_FIRST
    skip: ClassVar[Collection[PoolClause | PoolLimit]] = ()

    @initialize(poolable_size=st.integers(1, 4), buffers=st.integers(1, 3), rest=st.integers(0, 1))
    def new_pool(self, poolable_size: int, buffers: int, rest: int) -> None:
        """Make a pool of some buffers of the poolable size, and perhaps a byte more."""
        self._tell("new_pool", poolable_size=poolable_size, buffers=buffers, rest=rest)
        self._ledger = PoolOracle(self.profile, Tally(limits=self.skip))
        self._numbers = count(1)
        total = poolable_size * buffers + rest
        self._config = PoolConfig(total_memory=total, poolable_size=poolable_size)
        self._make()

    @rule(size=_SIZES)
    def allocate(self, size: int) -> None:
        """Allocate without time: either the memory is there, or the call is refused."""
        self._tell("allocate", size=size)
        self._allocate(size, 0)

    @precondition(lambda self: self._may_wait())
    @rule(size=_SIZES)
    def allocate_patiently(self, size: int) -> None:
        """Allocate on another thread; the step ends once that thread waits or is served."""
        self._tell("allocate_patiently", size=size)
        self._allocate(size, PATIENT_MS)

    @precondition(lambda self: self._may_wait() and not self._ledger.waiting())
    @rule(left=st.integers(0, 2), sizes=st.lists(st.integers(1, 4), min_size=2, max_size=3))
    def line_up(self, left: int, sizes: list[int]) -> None:
        """Take all memory but `left` bytes, then let other threads allocate in this order."""
        self._tell("line_up", left=left, sizes=sizes)
        lent = sum(loan.size for loan in self._loans.values())
        self._allocate(max(self._config.total_memory - lent - left, 0), 0)
        for size in sizes:
            self._allocate(size, PATIENT_MS)

    @precondition(lambda self: self._loans)
    @rule(newest=st.booleans())
    def deallocate(self, newest: bool) -> None:
        """Give back the newest or the oldest loan."""
        self._tell("deallocate", newest=newest)
        name = (max if newest else min)(self._loans, key=_number)
        loan = self._loans.pop(name)
        self._fail_if(shared_memory(loan))
        self._given_back = loan
        self._take_back(loan)

    @precondition(lambda self: self._given_back and PoolLimit.GIVEN_BACK_TWICE not in self.skip)
    @rule()
    def deallocate_again(self) -> None:
        """Give the last buffer back again before a new loan: the pool has to refuse it."""
        self._tell("deallocate_again")
        if self._given_back is not None:
            self._take_back(self._given_back)

    @rule()
    def close(self) -> None:
        """Close the pool, or close it again; whoever waits has to end."""
        self._tell("close")
        self._closed = True
        self._judge(Close(), self._call(self._pool.close))

    @precondition(lambda self: self._closed)
    @rule()
    def another_pool(self) -> None:
        """Go on with a new pool of the same size."""
        self._tell("another_pool")
        self._make()

    @precondition(lambda self: self.threads and not self._ledger.waiting())
    @rule(first=PROGRAMS, second=PROGRAMS, third=st.just(()) | PROGRAMS | CLOSING_PROGRAMS)
    def together(self, first: Program, second: Program, third: Program) -> None:
        """Let each program run on its own thread, all at once.

        Another thread gives back meanwhile what was lent before. So memory comes back for whoever
        waits, and in the end all of it is there.
        """
        self._tell("together", first=first, second=second, third=third)
        used = UsedTogether(self._pool, self._config, self.profile, self.skip)
        loans = list(self._loans.values())
        programs = [
            [call for call in program if isinstance(call, CloseIt) or self._is_drawn(call.size)]
            for program in (first, second, third)
        ]
        self._judge_burst(used.history, used.calls(programs, loans, closed=self._closed))
        self._fail_if(used.finish())
        self._loans.clear()
        self._given_back = None
        for loan in loans:
            self._fail_if(self._ledger.judge(Deallocate(buffer=loan.name), PoolObservation()))
        if any(isinstance(call, CloseIt) for program in programs for call in program):
            self._closed = True
            self._fail_if(self._ledger.judge(Close(), PoolObservation()))
        self._judge(Advance(to_ms=self._ledger.now_ms), None)

    def teardown(self) -> None:
        """Close the pool; whoever still waits has to end."""
        if self._under_test is None:
            return
        if self._ledger.waiting():
            self.close()
        else:
            self._call(self._pool.close)

    def _make(self) -> None:
        self._pool = self._under_test = type(self).make(
            total_memory=self._config.total_memory, poolable_size=self._config.poolable_size
        )
        self._callers = Callers(self._pool)
        self._loans: dict[CallId, Loan] = {}
        self._given_back = None
        self._closed = False
        self._ledger.judge(Reset(config=self._config), PoolObservation())

    def _allocate(self, size: int, max_block_ms: int) -> None:
        if not self._is_drawn(size):
            return
        name = f"a{next(self._numbers)}"
        allocation = self._callers.allocate(name, size, max_block_ms)
        if max_block_ms:
            self._await_place(allocation)
        elif not allocation.ended.wait(burst.STUCK_AFTER_S):
            self._fail(
                PoolClause.WAIT_IS_BOUNDED.broken(
                    f"{name!r}, which has no time, ends", f"{name!r} does not end"
                ),
                stuck=True,
            )
        call = Allocate(buffer=name, size=size, max_time_to_block_ms=max_block_ms)
        self._judge(call, allocation.refusal)

    def _may_wait(self) -> bool:
        return self.threads and PoolClause.WAITERS_ARE_LIVE not in self.skip

    def _is_drawn(self, size: int) -> bool:
        """Tell whether a size may be asked for: it is no known limit."""
        limits = [PoolLimit.SIZE_OUTSIDE, *([PoolLimit.NEGATIVE_SIZE] if size < 0 else [])]
        return self._ledger.in_domain(size) or not any(limit in self.skip for limit in limits)

    def _await_place(self, allocation: Allocation) -> None:
        """Return once a call has ended, or is the last in the line."""
        place = len(self._ledger.waiting()) + 1
        try:
            run_burst([[partial(self._callers.await_place, allocation, place)]], _TITLE, "step")
        except BurstError as error:
            if not error.stuck:
                self._fail(error.violation)
            self._fail(
                PoolClause.WAITERS_ARE_LIVE.broken(
                    f"{allocation.name!r} ends, or {place} threads wait",
                    f"neither; {error.violation.observed}",
                ),
                stuck=True,
            )

    def _take_back(self, loan: Loan) -> None:
        call = Deallocate(buffer=loan.name)
        self._judge(call, self._call(partial(self._pool.deallocate, loan.buffer)))

    def _call(self, call: Callable[[], object]) -> RefusedError | None:
        """Make a call that no other overlaps, and return how it was refused."""

        def make() -> RefusedError | None:
            try:
                with named_errors():
                    call()
            except WheelproofError as error:
                return RefusedError(type(error).__name__, str(error))
            return None

        return self._alone(make)

    def _judge(self, call: PoolCall, refusal: RefusedError | None) -> None:
        """Judge a call that no other has overlapped, and whatever it has let go on."""
        if refusal is not None:
            self._fail_if(self._ledger.judge_refusal(call, refusal))
            return
        ended = self._settled(call)
        self._fail_if(self._ledger.judge(call, self._seen(ended)))

    def _settled(self, call: PoolCall) -> Mapping[CallId, PoolOutcome]:
        """Return how allocations have ended, once all have ended that have to."""
        ended: dict[CallId, PoolOutcome] = {}
        within_s = 0.0
        while True:
            while (allocation := self._callers.next_end(within_s)) is not None:
                self._take(allocation, ended)
                within_s = 0.0
            # A wait that has to end takes a moment to do so: a copy tells whether all have ended.
            violation = copy.deepcopy(self._ledger).judge(call, PoolObservation(ended=ended))
            if not self._may_be_early(violation):
                return ended
            if within_s and violation is not None:
                self._fail(violation, stuck=True)
            if within_s:
                return ended
            within_s = burst.STUCK_AFTER_S

    def _may_be_early(self, violation: Violation | None) -> bool:
        """Tell whether this verdict may be another one when one more wait has ended."""
        still_open = len(self._callers.open)
        if not still_open:
            return False
        if violation is not None and violation.rule not in _OF_THE_LINE:
            return violation.rule in _PENDING
        # Whoever has left the line is about to end. The others were not served before.
        queued: list[int] = []
        self._call(lambda: queued.append(self._pool.queued()))
        return any(number < still_open for number in queued)

    def _take(self, allocation: Allocation, ended: dict[CallId, PoolOutcome]) -> None:
        """Take note of the end of an allocation."""
        name, size = allocation.name, allocation.size
        self._fail_if(defect(allocation, _TITLE))
        if allocation.refusal is not None and name in self._ledger.waiting():
            waited = Allocate(buffer=name, size=size, max_time_to_block_ms=PATIENT_MS)
            self._fail_if(self._ledger.judge_refusal(waited, allocation.refusal))
        if allocation.outcome is not None:
            ended[name] = allocation.outcome
        # What should have been refused is no loan: the oracle says so.
        if allocation.outcome is PoolOutcome.BUFFER and self._ledger.in_domain(size):
            self._fail_if(wrong_buffer(name, size, allocation.buffer))
            assert allocation.buffer is not None
            self._loans[name] = Loan(name=name, size=size, buffer=allocation.buffer)
            self._loans[name].fill(_number(name))
            self._given_back = None
            for loan in self._loans.values():
                self._fail_if(shared_memory(loan))

    def _seen(self, ended: Mapping[CallId, PoolOutcome]) -> PoolObservation:
        """Return the ends with what the pool tells about itself."""
        seen: list[PoolObservation] = []
        somebody_waits = bool(self._callers.open)

        def look() -> None:
            # Two looks that a waiting thread comes between would not fit together.
            unallocated = None if somebody_waits else self._pool.unallocated_memory()
            available, queued = self._pool.available_memory(), self._pool.queued()
            seen.append(
                PoolObservation(
                    ended=ended,
                    available_memory=available,
                    unallocated_memory=unallocated,
                    queued=queued,
                )
            )

        refusal = self._call(look)
        if refusal is not None:
            raise refusal
        return seen[0]

    def _fail(self, violation: Violation, *, stuck: bool = False) -> NoReturn:
        """End the case; nobody waits for the threads of a wrong pool."""
        self._callers.give_up()
        super()._fail(violation, stuck=stuck)


def _number(name: CallId) -> int:
    return int(name[1:])
