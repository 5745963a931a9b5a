"""Judging a purgatory, call by call, by the oracle."""

from wheelproof_spec.base.port import RefusedError, unexpected_refusal
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.calls import (
    Advance,
    AskGauges,
    Cancel,
    Check,
    Force,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    Reset,
    SetCondition,
    Watch,
)
from wheelproof_spec.components.purgatory.contract import (
    OperationId,
    OperationSpec,
    PurgatoryClause,
    PurgatoryContract,
)
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory


class PurgatoryJudge:
    """Follows one case after another; see `Judge`."""

    def __init__(self, contract: PurgatoryContract) -> None:
        self._contract = contract
        self._oracle = self._fresh(PurgatoryConfig())

    @property
    def now_ms(self) -> int:
        """The time that the purgatory's clock shows, in milliseconds."""
        return self._oracle.now_ms

    def alive(self) -> tuple[OperationId, ...]:
        """Return the operations that are watched and not done, by name."""
        return tuple(sorted(self._oracle.alive()))

    def drain(self) -> PurgatoryCall:
        """Return the advance after which no time-out is left."""
        return Advance(to_ms=max(self._oracle.latest_due_ms() or 0, self.now_ms))

    def judge(self, call: PurgatoryCall, seen: PurgatoryObservation) -> Violation | None:
        """Return the clause that `seen` breaks, if any."""
        callbacks = seen.callbacks
        match call:
            case Reset(config=config):
                self._oracle = self._fresh(config)
                return None
            case Watch():
                return self._oracle.watch(_spec(call), seen.done, callbacks)
            case SetCondition(condition=condition):
                return self._oracle.set(condition, callbacks)
            case Check(key=key):
                return self._oracle.check(key, seen.count, callbacks)
            case Force(operation_id=name):
                return self._oracle.force(name, seen.done, callbacks)
            case Cancel(key=key):
                return self._oracle.cancel(key, seen.cancelled, callbacks)
            case Advance(to_ms=to_ms):
                return self._oracle.advance_to(to_ms, callbacks)
            case AskGauges():
                return self._oracle.gauges(seen.gauges, callbacks)

    def judge_refusal(self, call: PurgatoryCall, refusal: RefusedError) -> Violation:
        """Return what is wrong with refusing a call of the domain."""
        return unexpected_refusal(PurgatoryClause.ACCEPTS_ITS_DOMAIN, call, refusal)

    def _fresh(self, config: PurgatoryConfig) -> OraclePurgatory:
        return OraclePurgatory(
            tick_ms=config.tick_ms,
            start_ms=config.start_ms,
            purge_interval=config.purge_interval,
            contract=self._contract,
        )


def _spec(call: Watch) -> OperationSpec:
    return OperationSpec(
        name=call.operation_id,
        delay_ms=call.delay_ms,
        keys=call.keys,
        conditions=call.conditions,
    )
