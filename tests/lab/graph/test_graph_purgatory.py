"""The purgatory and its modules have one graph; where either is changed, the change is told."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from support.graph.philosophers import compared
from wheelproof import sync
from wheelproof.purgatory import CompletionDiscipline, DelayedOperation
from wheelproof.sync.protocols import LockView
from wheelproof_lab.bugs.purgatory_variants import (
    CancelsTimeoutOnlyPurgatory,
    EstimateOverwrittenPurgatory,
    KeepsEmptyKeysPurgatory,
    NoLockDiscipline,
    RetryOnceDiscipline,
)
from wheelproof_lab.graph.comparing.compare import Side
from wheelproof_lab.graph.comparing.comparisons import (
    GraphModel,
    GraphOutcome,
)
from wheelproof_lab.graph.purgatory.abstract import Operations, model_graph
from wheelproof_lab.graph.purgatory.catalog import (
    ATTEMPTS,
    COMPARISONS,
    DELAYED_OPERATION,
    MODEL,
    PURGATORY,
)
from wheelproof_lab.graph.purgatory.delayed_operation import (
    NotedOperation,
    OneOperation,
    delayed_operation,
)
from wheelproof_lab.graph.purgatory.maybe_try_complete import (
    Attempts,
    maybe_try_complete,
)
from wheelproof_lab.graph.purgatory.maybe_try_complete_view import LOCK
from wheelproof_lab.graph.purgatory.purgatory import (
    ComparedPurgatory,
    Visitors,
    purgatory,
)
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.purgatory.model import LedgerPurgatory, Outcome

pytestmark = pytest.mark.slow


class _AnswersAgain(LedgerPurgatory):
    """on_complete may run twice."""

    def answer(self, name: str) -> Violation | None:
        super().answer(name)
        return None if self.outcome(name) is not None else super().answer(name)


class _TellsEarly(LedgerPurgatory):
    """on_expiration need not wait for on_complete."""

    def notify(self, name: str) -> bool:
        return super().notify(name) or self.outcome(name) is Outcome.EXPIRED


class _CompletesAnybody(LedgerPurgatory):
    """A trigger completes whether the predicate holds or not."""

    def holds(self, name: str) -> bool:
        del name
        return True


# The others are left to `python -m wheelproof_lab graph --all`.
_TESTED = {
    "purgatory-model-two-operations",
    "operation-monitor",
    "operation-exclusive",
    "complete-monitor",
    "complete-try-lock-once",
    "complete-try-lock-pending-raising",
    "complete-blocking-three",
    "complete-exclusive",
    "complete-exclusive-raising",
    "purgatory-blocking-trigger-expiry",
    "purgatory-exclusive-trigger-cancel",
    "purgatory-cancel-expiry",
    "purgatory-expiry-purge",
    "purgatory-cancel-purge",
}


@pytest.mark.parametrize(
    "model",
    [one for one in COMPARISONS if one.name in _TESTED],
    ids=lambda model: model.name,
)
def test_code_and_module_are_equal(model: GraphModel) -> None:
    outcome = compared(model)
    assert outcome.comparison.differences == ()
    assert outcome.verdict is Verdict.PASS


def test_every_tested_model_is_in_the_catalog() -> None:
    assert {one.name for one in COMPARISONS} >= _TESTED


def _nearest(outcome: GraphOutcome) -> tuple[str, int]:
    """Return the first by name of the actions that differ soonest, and after how many steps."""
    differences = outcome.comparison.differences
    steps = min(len(one.path) for one in differences)
    return min(str(one.action) for one in differences if len(one.path) == steps), steps


class _AlwaysTold(NotedOperation):
    """Is told of its time-out even if another thread has completed it."""

    __slots__ = ()

    def run(self) -> None:
        self.force_complete()
        self.on_expiration()


@pytest.mark.parametrize(
    ("model", "action"),
    [(_AnswersAgain, "Answer"), (_TellsEarly, "Notify"), (_CompletesAnybody, "Complete")],
)
def test_a_model_that_allows_too_much(model: type[LedgerPurgatory], action: str) -> None:
    one = Operations(names=("op",))
    outcome = compared(
        MODEL.model(one, partial(model_graph, one, lambda tally: model(tally=tally)))
    )
    assert outcome.verdict is Verdict.FAIL
    differences = outcome.comparison.differences
    soonest = min(len(one.path) for one in differences)
    first = {(one.side, one.action) for one in differences if len(one.path) == soonest}
    assert first == {(Side.CODE, action)}


def test_an_operation_that_is_told_of_an_expiry_that_came_too_late() -> None:
    configuration = OneOperation(discipline="exclusive")
    planted = partial(delayed_operation, configuration, _AlwaysTold)
    outcome = compared(DELAYED_OPERATION.model(configuration, planted))
    assert _nearest(outcome) == ("Notify", 1)


PENDING = Attempts(discipline="try_lock_pending", triggers=("t1", "t2"), needed=2)
MONITOR = Attempts(discipline="monitor", triggers=("t1", "t2"), needed=2)


def _no_lock(name: str) -> tuple[CompletionDiscipline, LockView]:
    del name
    return NoLockDiscipline(), sync.monitor(LOCK)


def _retry_once(name: str) -> tuple[CompletionDiscipline, LockView]:
    del name
    lock = sync.lock(LOCK)
    return RetryOnceDiscipline(lock), lock


@pytest.mark.parametrize(
    ("attempts", "make_discipline", "action", "steps"),
    [
        (MONITOR, _no_lock, "t1: IsDone", 1),
        (PENDING, _retry_once, "t1: ReadPending", 6),
    ],
)
def test_a_discipline_with_a_known_bug(
    attempts: Attempts,
    make_discipline: Callable[[str], tuple[CompletionDiscipline, LockView]],
    action: str,
    steps: int,
) -> None:
    planted = partial(maybe_try_complete, attempts, make_discipline)
    outcome = compared(ATTEMPTS.model(attempts, planted))
    assert outcome.verdict is Verdict.FAIL
    assert _nearest(outcome) == (action, steps)


_ONE_KEY = {"op1": ("k1",)}
_TWO_KEYS = {"op1": ("k1", "k2")}
TRIGGERED = Visitors(
    discipline="exclusive",
    watchers={"w1": "op1"},
    keys_of=_ONE_KEY,
    triggers={"c1": ("op1", "k1")},
)
CANCELLED = Visitors(
    discipline="exclusive",
    watchers={"w1": "op1"},
    keys_of=_TWO_KEYS,
    cancellers={"x1": "k1"},
)
EXPIRED_AND_PURGED = Visitors(
    discipline="exclusive",
    watchers={"w1": "op1"},
    keys_of=_ONE_KEY,
    timers=("timer",),
    purgers=("p1",),
)
# A purge is due while an operation is pending only if that has left the timer.
CANCELLED_AND_PURGED = replace(CANCELLED, timers=("timer",), purgers=("p1",))


class _EmptyKeys(KeepsEmptyKeysPurgatory[DelayedOperation], ComparedPurgatory):
    pass


class _TimeoutOnly(CancelsTimeoutOnlyPurgatory[DelayedOperation], ComparedPurgatory):
    pass


class _Overwritten(EstimateOverwrittenPurgatory[DelayedOperation], ComparedPurgatory):
    pass


@pytest.mark.parametrize(
    ("visitors", "purgatory_class", "action", "steps"),
    [
        (TRIGGERED, _EmptyKeys, "c1: TestEmpty", 13),
        (CANCELLED, _TimeoutOnly, "x1: CancelOperation", 7),
        # The two numbers are read the other way round.
        (EXPIRED_AND_PURGED, _Overwritten, "p1: PurgeReadDelayed", 0),
    ],
)
def test_a_purgatory_with_a_known_bug(
    visitors: Visitors, purgatory_class: type[ComparedPurgatory], action: str, steps: int
) -> None:
    planted = partial(purgatory, visitors, purgatory_class)
    outcome = compared(PURGATORY.model(visitors, planted))
    assert outcome.verdict is Verdict.FAIL
    assert _nearest(outcome) == (action, steps)


_OF_ATTEMPTS = ATTEMPTS.model(PENDING)
_OF_TRIGGERED = PURGATORY.model(TRIGGERED)
_OF_CANCELLED = PURGATORY.model(CANCELLED_AND_PURGED)


@pytest.mark.parametrize(
    ("model", "operator", "mutant", "action", "steps"),
    [
        (_OF_ATTEMPTS, "TryLock", "RetryOnce", "t1: TryLock", 2),
        (_OF_ATTEMPTS, "ReadPending", "ClearAfterwards", "t1: ReadPending", 10),
        (_OF_TRIGGERED, "TimeoutStarted", "TailNotTested", "w1: Count", 10),
        (_OF_TRIGGERED, "Watch", "GetThenAdd", "w1: Watch", 4),
        pytest.param(
            *(_OF_CANCELLED, "PurgeIsDone", "CountUnderTheFirstKey", "p1: PurgeReset", 23),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_mutant_of_the_module(
    model: GraphModel, operator: str, mutant: str, action: str, steps: int
) -> None:
    configuration = replace(
        model.configuration,
        module=f"{model.configuration.module}_bugs",
        overrides={**(model.configuration.overrides or {}), operator: mutant},
        folder=tla_directory() / "known_bugs",
    )
    outcome = compared(replace(model, configuration=configuration))
    assert outcome.verdict is Verdict.FAIL
    assert _nearest(outcome) == (action, steps)
