"""The reference's purgatory as `wheelproof conform` drives it: a `base.port.Port`.

A known bug takes the place of the reference's class, discipline or predicate: `PurgatoryVariant`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from wheelproof.clock import ManualClock
from wheelproof.errors import WheelproofError
from wheelproof.purgatory import (
    CompletionDiscipline,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)
from wheelproof.sync import DeferredExecutor
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.calls import Advance, AdvanceClock, Advanced, Gauge, Reset, Tick
from wheelproof_spec.base.codec.vocabulary import Absent, Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.port import BrokenDownError, RefusedError
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    WHEELPROOF,
    AskGauges,
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.port import (
    AnyPurgatory,
    Holds,
    PurgatoryAnswer,
    PurgatoryPort,
    any_case,
)
from wheelproof_spec.drive.driver.serve import ServedComponent, refused, served


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
        port = self._port
        match call:
            case Reset(config=config):
                port.purgatory.close()
                self._reset(config)
                return PurgatoryObservation()
            case TryCompleteElseWatch() | SetCondition() | CheckAndComplete() | CancelForKey():
                return self._observe(_told(port.perform(call)))
            case ForceComplete(operation=name):
                if name not in port.operations:
                    raise RefusedError("UnknownOperation", f"no operation {name!r} was handed in")
                operation, answer = port.operations[name], port.perform(call)
                if operation.is_completed() == operation.is_cancelled():
                    raise BrokenDownError(
                        "Purgatory.WhoeverIsDoneHasOneEnd", f"{name!r} was forced, and is not done"
                    )
                return self._observe(_told(answer))
            case Advance(to_ms=to_ms):
                port.perform(Tick(to_ms=to_ms))
                port.perform(AdvanceClock(timeout_ms=0))
                return self._observe()
            case AskGauges():
                purgatory = port.purgatory
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
        self._ran = _Ran()
        timer = SystemTimer(
            "reference",
            tick_ms=config.tick_ms,
            wheel_size=config.wheel_size,
            clock=self._clock,
            executor=self._executor,
        )
        purgatory = self._purgatory_class(
            "reference",
            timer,
            purge_interval=config.purge_interval,
            shards=_FEW_SHARDS,
            reaper_enabled=False,
        )
        self._port = PurgatoryPort(
            purgatory,
            self._ran,
            clock=self._clock,
            discipline=self._discipline,
            holds=self._holds,
        )

    def _observe(self, answer: PurgatoryObservation = _NO_ANSWER) -> PurgatoryObservation:
        """Return an answer together with the callbacks that have run by now."""
        self._executor.run_pending()
        ran, self._ran.callbacks = self._ran.callbacks, []
        return replace(
            answer,
            on_complete=tuple(what.operation for what in ran if isinstance(what, OnComplete)),
            on_expiration=tuple(what.operation for what in ran if isinstance(what, OnExpiration)),
        )


class _Ran:
    """The callbacks of operations that have run."""

    def __init__(self) -> None:
        self.callbacks: list[Call] = []

    def begins(self, what: Call) -> None:
        """Take note of a callback."""
        self.callbacks.append(what)

    def ends(self, what: Call) -> None:
        """Do nothing: a driver tells that a callback has run, and not when it ended."""


def _told(answer: PurgatoryAnswer) -> PurgatoryObservation:
    match answer:
        case Completed(completed=completed):
            return PurgatoryObservation(completed=completed)
        case Checked(count=count):
            return PurgatoryObservation(count=count)
        case Cancelled(cancelled=cancelled):
            assert not isinstance(cancelled, Absent)
            return PurgatoryObservation(cancelled=cancelled)
        case Gauge() | Advanced() | Nothing():
            return _NO_ANSWER


def serve() -> ServedComponent:
    """Return the reference's purgatory, ready to be driven."""
    return served(DEFINITION, ReferencePurgatoryPort(), WHEELPROOF)
