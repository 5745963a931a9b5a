"""The reference's purgatory behind the door of `port`."""

from collections.abc import Callable, Sequence

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.purgatory import (
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof.units import Millis
from wheelproof_spec.base.port import RefusedError
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
    NO_GAUGES,
    Callbacks,
    Condition,
    Gauges,
    OperationId,
)
from wheelproof_spec.components.timer.reference import refused

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
Holds = Callable[[Sequence[bool]], bool]
"""Makes a predicate of the ways in which an operation can end."""
_FEW_SHARDS = 4


class ReferencePurgatoryPort:
    """Drives a purgatory, or a variant of it, on a manual clock and a deferred executor."""

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory] = DelayedOperationPurgatory,
        discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline,
        holds: Holds = any,
    ) -> None:
        self._purgatory_class = purgatory_class
        self._discipline = discipline
        self._holds = holds
        self._reset(PurgatoryConfig())

    def perform(self, call: PurgatoryCall) -> PurgatoryObservation:
        """Make `call`; see `Port.perform`."""
        try:
            return self._perform(call)
        except WheelproofError as error:
            raise refused(error) from error

    def _perform(self, call: PurgatoryCall) -> PurgatoryObservation:
        match call:
            case Reset(config=config):
                self._reset(config)
                return PurgatoryObservation()
            case Watch():
                return self._observe(done=self._watch(call))
            case SetCondition(condition=condition):
                self._true.add(condition)
                return self._observe()
            case Check(key=key):
                return self._observe(count=self._purgatory.check_and_complete(key))
            case Force(operation_id=name):
                return self._observe(done=self._operation(name).force_complete())
            case Cancel(key=key):
                cancelled = self._purgatory.cancel_for_key(key)
                return self._observe(cancelled=tuple(map(self._name, cancelled)))
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
                self._purgatory.advance_clock(Millis(0))
                return self._observe()
            case AskGauges():
                return self._observe(
                    gauges=Gauges(
                        watched=self._purgatory.watched(),
                        delayed=self._purgatory.num_delayed(),
                        keys=self._purgatory.num_keys(),
                    )
                )

    def _reset(self, config: PurgatoryConfig) -> None:
        self._clock = ManualClock(config.start_ms)
        self._executor = DeferredExecutor()
        timer = SystemTimer(
            "reference",
            tick_ms=config.tick_ms,
            wheel_size=config.wheel_size,
            clock=self._clock,
            executor=self._executor,
        )
        self._purgatory = self._purgatory_class(
            "reference",
            timer,
            purge_interval=config.purge_interval,
            shards=_FEW_SHARDS,
            reaper_enabled=False,
        )
        self._true: set[Condition] = set()
        self._operations: dict[OperationId, ConditionOperation] = {}
        self._completed: list[OperationId] = []
        self._expired: list[OperationId] = []

    def _watch(self, call: Watch) -> bool:
        operation = ConditionOperation(
            call.operation_id,
            call.delay_ms,
            lambda: self._holds([one in self._true for one in call.conditions]),
            discipline=self._discipline(),
            completed=self._completed,
            expired=self._expired,
        )
        self._operations[call.operation_id] = operation
        return self._purgatory.try_complete_else_watch(operation, call.keys)

    def _operation(self, name: OperationId) -> DelayedOperation:
        if name not in self._operations:
            raise RefusedError("UnknownOperation", f"no operation {name!r} was handed in")
        return self._operations[name]

    def _name(self, operation: DelayedOperation) -> OperationId:
        return next(name for name, one in self._operations.items() if one is operation)

    def _observe(
        self,
        *,
        done: bool | None = None,
        count: int | None = None,
        cancelled: tuple[OperationId, ...] | None = None,
        gauges: Gauges = NO_GAUGES,
    ) -> PurgatoryObservation:
        self._executor.run_pending()
        callbacks = Callbacks(completed=tuple(self._completed), expired=tuple(self._expired))
        self._completed.clear()
        self._expired.clear()
        return PurgatoryObservation(
            callbacks=callbacks,
            done=done,
            count=count,
            cancelled=cancelled,
            gauges=gauges,
        )


class ConditionOperation(DelayedOperation):
    """An operation that can end when `holds` says so, and notes its callbacks by its name."""

    __slots__ = ("_completed", "_expired", "_holds", "name")

    def __init__(
        self,
        name: OperationId,
        delay_ms: int,
        holds: Callable[[], bool],
        *,
        discipline: CompletionDiscipline,
        completed: list[OperationId],
        expired: list[OperationId],
    ) -> None:
        super().__init__(delay_ms, discipline=discipline)
        self.name = name
        self._holds = holds
        self._completed = completed
        self._expired = expired

    def try_complete(self) -> bool:
        """Test the predicate."""
        return self._holds() and self.force_complete()

    def on_complete(self) -> None:
        """Note it."""
        self._completed.append(self.name)

    def on_expiration(self) -> None:
        """Note it."""
        self._expired.append(self.name)
