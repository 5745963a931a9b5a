"""The reference's purgatory as `wheelproof conform` drives it: a `base.port.Port`.

A known bug takes the place of the reference's class, discipline or predicate: `PurgatoryVariant`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.port import BrokenDownError, RefusedError
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    WHEELPROOF,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    Condition,
    ForceComplete,
    OperationId,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
Holds = Callable[[Sequence[bool]], bool]
"""Makes a predicate from the cases in which an operation can end."""


def any_case(cases: Sequence[bool]) -> bool:
    """Tell whether any of the cases holds in which an operation can end: the correct predicate."""
    return any(cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryVariant:
    """What is fuzzed: by default the reference's class, discipline and predicate."""

    purgatory_class: type[AnyPurgatory] = DelayedOperationPurgatory
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Holds = any_case


_FEW_SHARDS = 4
_NO_ANSWER = PurgatoryObservation()


class ReferencePurgatoryPort:
    """A port to a purgatory, or a variant of it, on a manual clock and a deferred executor."""

    def __init__(
        self,
        purgatory_class: type[AnyPurgatory] = DelayedOperationPurgatory,
        discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline,
        holds: Holds = any_case,
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
        purgatory = self._purgatory
        match call:
            case Reset(config=config):
                purgatory.close()
                self._reset(config)
                return PurgatoryObservation()
            case TryCompleteElseWatch():
                return self._observe(PurgatoryObservation(completed=self._watch(call)))
            case SetCondition(condition=condition):
                self._true.add(condition)
                return self._observe()
            case CheckAndComplete(key=key):
                return self._observe(PurgatoryObservation(count=purgatory.check_and_complete(key)))
            case ForceComplete(operation=name):
                operation = self._operation(name)
                completed = operation.force_complete()
                if operation.is_completed() == operation.is_cancelled():
                    raise BrokenDownError(
                        "Purgatory.WhoeverIsDoneHasOneEnd", f"{name!r} was forced, and is not done"
                    )
                return self._observe(PurgatoryObservation(completed=completed))
            case CancelForKey(key=key):
                cancelled = tuple(map(self._name, purgatory.cancel_for_key(key)))
                return self._observe(PurgatoryObservation(cancelled=cancelled))
            case Advance(to_ms=to_ms):
                self._clock.advance_to(to_ms)
                purgatory.advance_clock(Millis(0))
                return self._observe()
            case AskGauges():
                return self._observe(
                    PurgatoryObservation(
                        watched=purgatory.watched(),
                        num_delayed=purgatory.num_delayed(),
                        num_keys=purgatory.num_keys(),
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

    def _watch(self, call: TryCompleteElseWatch) -> bool:
        operation = ConditionOperation(
            call.operation,
            call.delay_ms,
            lambda: self._holds([condition in self._true for condition in call.conditions]),
            discipline=self._discipline(),
            completed=self._completed,
            expired=self._expired,
        )
        self._operations[call.operation] = operation
        return self._purgatory.try_complete_else_watch(operation, call.keys)

    def _operation(self, name: OperationId) -> DelayedOperation:
        if name not in self._operations:
            raise RefusedError("UnknownOperation", f"no operation {name!r} was handed in")
        return self._operations[name]

    def _name(self, operation: DelayedOperation) -> OperationId:
        return next(name for name, known in self._operations.items() if known is operation)

    def _observe(self, answer: PurgatoryObservation = _NO_ANSWER) -> PurgatoryObservation:
        """Return an answer together with the callbacks that have run by now."""
        self._executor.run_pending()
        seen = replace(
            answer, on_complete=tuple(self._completed), on_expiration=tuple(self._expired)
        )
        self._completed.clear()
        self._expired.clear()
        return seen


class ConditionOperation(DelayedOperation):
    """An operation whose predicate is `holds`, and that records its callbacks by its name."""

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
        """Record the completion."""
        self._completed.append(self.name)

    def on_expiration(self) -> None:
        """Record the expiry."""
        self._expired.append(self.name)


def serve() -> ServedComponent:
    """Return the reference's purgatory, ready to be driven."""
    return served(DEFINITION, ReferencePurgatoryPort(), WHEELPROOF)
