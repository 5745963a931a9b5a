"""Judging a pool, call by call, by the oracle's ledger."""

from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.buffer_pool.calls import (
    Advance,
    Allocate,
    CallId,
    Close,
    Deallocate,
    Interrupt,
    PoolCall,
    PoolConfig,
    PoolObservation,
    Reset,
)
from wheelproof_spec.components.buffer_pool.oracle import LedgerPool, PoolClause, PoolContract

_CLOSE_TO_NOTHING = PoolConfig(total_memory=0, poolable_size=1)


class PoolJudge:
    """Follows one case after another; see `Judge`."""

    def __init__(self, contract: PoolContract) -> None:
        self._contract = contract
        self._oracle = self._fresh(_CLOSE_TO_NOTHING)

    @property
    def now_ms(self) -> int:
        """The time that the pool's clock shows, in milliseconds."""
        return self._oracle.now_ms

    def waiting(self) -> tuple[CallId, ...]:
        """Return the allocations that wait, the longest-waiting first."""
        return self._oracle.waiting()

    def lent(self) -> tuple[CallId, ...]:
        """Return the allocations whose buffers have not come back."""
        return self._oracle.lent()

    def judge(self, call: PoolCall, seen: PoolObservation) -> Violation | None:
        """Return the clause that `seen` breaks, if any."""
        match call:
            case Reset(config=config):
                self._oracle = self._fresh(config)
                return None
            case Allocate(call=name, size=size, timeout_ms=timeout_ms, fault=fault):
                if not self._oracle.in_domain(size):
                    return self._not_refused(f"{size} bytes can never be lent")
                self._oracle.allocate(name, size, timeout_ms, fault)
            case Deallocate(call=name):
                if not self._oracle.deallocate(name):
                    return self._not_refused(f"the buffer of {name!r} is not on loan")
            case Interrupt(call=name):
                self._oracle.interrupt(name)
            case Advance(to_ms=to_ms):
                self._oracle.advance_to(to_ms)
            case Close():
                self._oracle.close()
        return self._oracle.observe(seen.ended) or self._oracle.observe_gauges(
            seen.available, seen.unallocated, seen.queued
        )

    def judge_refusal(self, call: PoolCall, refusal: RefusedError) -> Violation | None:
        """Return what is wrong with refusing a call, if it lies within the domain."""
        match call:
            case Allocate(size=size) if not self._oracle.in_domain(size):
                return None
            case Deallocate(call=name) if name not in self._oracle.lent():
                return None
            case _:
                return unexpected_refusal(PoolClause.KEEPS_TO_ITS_DOMAIN, call, refusal)

    def _fresh(self, config: PoolConfig) -> LedgerPool[CallId]:
        return LedgerPool(
            total_memory=config.total_memory,
            poolable_size=config.poolable_size,
            start_ms=config.start_ms,
            contract=self._contract,
        )

    def _not_refused(self, reason: str) -> Violation:
        return Violation(
            rule=PoolClause.KEEPS_TO_ITS_DOMAIN,
            expected="the call is refused",
            observed="it was carried out",
            reason=reason,
        )
