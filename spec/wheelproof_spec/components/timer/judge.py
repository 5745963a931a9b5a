"""Judging what a timer showed, call by call, beside the oracle."""

from wheelproof_spec.base.contract import TimerContract
from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.timer.calls import (
    Add,
    Advance,
    Cancel,
    Reset,
    Size,
    TaskId,
    TimerCall,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.components.timer.clauses import TimerClause
from wheelproof_spec.components.timer.oracle import HeapTimer


class TimerJudge:
    """Tells after each call of a case whether the contract allows what was seen."""

    def __init__(self, contract: TimerContract) -> None:
        self._contract = contract
        self._oracle = self._fresh(TimerConfig())

    def judge(self, call: TimerCall, seen: TimerObservation) -> Violation | None:
        """Return the clause that `seen`, the outcome of `call`, breaks, if any."""
        match call:
            case Reset(config=config):
                self._oracle = self._fresh(config)
                return None
            case Add(task=task, delay_ms=delay_ms):
                self._oracle.add(task, delay_ms)
                return self._oracle.observe(seen.fired, advanced=False)
            case Cancel(task=task):
                waiting = self._oracle.cancel(task)
                return self._oracle.observe(seen.fired, advanced=False) or self._compare(
                    TimerClause.CANCEL_TELLS_THE_TRUTH, "cancelled", waiting, seen.cancelled
                )
            case Advance(to_ms=to_ms):
                self._oracle.advance_to(to_ms)
                return self._oracle.observe(seen.fired, advanced=True)
            case Size():
                return self._oracle.observe(seen.fired, advanced=False) or self._compare(
                    TimerClause.SIZE_COUNTS_WAITING, "size", self._oracle.size(), seen.size
                )

    @property
    def now_ms(self) -> int:
        """The time that the timer's clock shows, in milliseconds."""
        return self._oracle.now_ms

    def drain(self) -> TimerCall:
        """Return the advance after which nothing waits any more."""
        return Advance(to_ms=max(self._oracle.latest_due_ms() or 0, self._oracle.now_ms))

    def judge_refusal(self, call: TimerCall, refusal: RefusedError) -> Violation:
        """Return what is wrong with refusing a call of the domain (semantics.md 1.17)."""
        return unexpected_refusal(TimerClause.ACCEPTS_ITS_DOMAIN, call, refusal)

    def _fresh(self, config: TimerConfig) -> HeapTimer[TaskId]:
        return HeapTimer(tick_ms=config.tick_ms, start_ms=config.start_ms, contract=self._contract)

    def _compare(
        self, clause: TimerClause, what: str, expected: object, observed: object
    ) -> Violation | None:
        if observed is None or observed == expected:
            return None
        return Violation(
            rule=clause,
            expected=f"{what} {expected}",
            observed=f"{what} {observed}",
            reason=f"the answer differs from the state: {self._oracle.size()} waiting",
        )
