"""The sequential machine of the buffer pool: blocked allocations under a virtual clock.

One thread drives; allocations that block wait on threads of their own, and after each call it is
settled who waits. What was seen is compared with the oracle's ledger (semantics.md 3).
"""

from typing import Unpack

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof_spec.base.calls import Advance, Close, Interrupt, Reset
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    CallId,
    Deallocate,
    PoolCall,
    PoolConfig,
    PoolFault,
    PoolObservation,
    PoolPort,
)
from wheelproof_spec.components.buffer_pool.fuzz.domain import (
    Amount,
    amounts,
    beyond,
    faults,
    pool_configs,
    timeouts,
)
from wheelproof_spec.components.buffer_pool.oracle import LedgerPool
from wheelproof_spec.engines.fuzz.driven_machine import DrivenMachine
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.order import Batch

_LONGER_THAN_ANY_WAIT_MS = 2_000
_RARELY = (True, False, False, False, False)


def run_pool_fuzz(
    port: PoolPort,
    *,
    profile: str,
    **batch: Unpack[Batch],
) -> FuzzReport:
    """Drive `port` through `cases` random cases and judge it by `profile`; see `run_machine`."""
    return run_machine(
        "buffer pool, sequential",
        lambda recorder: pool_machine(port, profile, recorder),
        **batch,
    )


def pool_machine(port: PoolPort, profile: str, recorder: Recorder) -> type[RuleBasedStateMachine]:
    """Return the state machine that drives `port`."""

    class PoolMachine(DrivenMachine[PoolCall, PoolObservation]):
        """Allocates, gives back, interrupts, lets time pass and closes, in any order."""

        def __init__(self) -> None:
            self._judge = LedgerPool(profile, Tally())
            super().__init__(self._judge, port, recorder)
            self._given_back: list[CallId] = []
            self._closed = False

        @initialize(config=pool_configs())
        def reset(self, config: PoolConfig) -> None:
            self._config = config
            self.begin(Reset(config=config))

        @rule(amount=amounts(), timeout_ms=timeouts(), fault=faults())
        def allocate(self, amount: Amount, timeout_ms: int, fault: PoolFault | None) -> None:
            size = amount.size(self._config)
            self._allocate(size, timeout_ms, fault)

        @rule(amount=amounts())
        def allocate_patiently(self, amount: Amount) -> None:
            self._allocate(amount.size(self._config), 1_000, None)

        @rule(excess=beyond())
        def allocate_outside_the_domain(self, excess: int) -> None:
            self._allocate(excess + (self._config.total_memory if excess > 0 else 0), 5, None)

        @precondition(lambda self: bool(self._judge.lent()))
        @rule(data=st.data())
        def deallocate(self, data: st.DataObject) -> None:
            name = data.draw(st.sampled_from(self._judge.lent()))
            self._given_back.append(name)
            self.call(Deallocate(buffer=name))

        @precondition(lambda self: bool(self._given_back))
        @rule(data=st.data())
        def deallocate_again(self, data: st.DataObject) -> None:
            self.call(Deallocate(buffer=data.draw(st.sampled_from(self._given_back))))

        @precondition(lambda self: bool(self._judge.waiting()))
        @rule(data=st.data())
        def interrupt(self, data: st.DataObject) -> None:
            self.call(Interrupt(name=data.draw(st.sampled_from(self._judge.waiting()))))

        @rule(jump_ms=st.sampled_from((0, 1, 4, 1_000, 25_000)))
        def advance(self, jump_ms: int) -> None:
            self.call(Advance(to_ms=self._judge.now_ms + jump_ms))

        @precondition(lambda self: not self._closed)
        @rule(now=st.sampled_from(_RARELY))
        def close(self, now: bool) -> None:
            if now:
                self._closed = True
                self.call(Close())

        def teardown(self) -> None:
            """Give everything back and let time pass: nobody waits, and all memory is there."""
            while self.running and self._judge.lent():
                self.call(Deallocate(buffer=self._judge.lent()[0]))
            if self.running:
                self.call(Advance(to_ms=self._judge.now_ms + _LONGER_THAN_ANY_WAIT_MS))

        def _allocate(self, size: int, timeout_ms: int, fault: PoolFault | None) -> None:
            name = f"a{self.calls}"
            self.call(
                Allocate(buffer=name, size=size, max_time_to_block_ms=timeout_ms, fault=fault)
            )

    return PoolMachine
