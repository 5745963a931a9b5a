"""Code and module have the same graph; where either is changed, the change is told."""

from dataclasses import replace
from functools import partial

import pytest

from support.graph.philosophers import (
    compared,
    philosophers_model,
    sizes,
)
from wheelproof.timer import SystemTimer, TimerTaskList, TimingWheel
from wheelproof.units import Millis
from wheelproof_lab.bugs.timer import (
    PollOutsideLockTimer,
    StaleListBucket,
    SubmitAfterTestTimer,
    UnguardedEntryBucket,
)
from wheelproof_lab.graph.all_comparisons import comparisons
from wheelproof_lab.graph.comparing.compare import Side
from wheelproof_lab.graph.comparing.comparisons import GraphModel
from wheelproof_lab.graph.comparing.tlc_side import TlcConfiguration, TlcGraphError
from wheelproof_lab.graph.purgatory.catalog import COMPARISONS as PURGATORY_MODELS
from wheelproof_lab.graph.timer.abstract import TimerBounds, model_graph
from wheelproof_lab.graph.timer.catalog import (
    ENTRY_MIGRATION,
    OVERFLOW_WHEEL,
    SYSTEM_TIMER,
    TIMER,
    TIMING_WHEEL,
)
from wheelproof_lab.graph.timer.entry_migration import (
    EXPIRED,
    Migration,
    entry_migration,
)
from wheelproof_lab.graph.timer.overflow_wheel import (
    NotedWheel,
    WheelAdders,
    overflow_wheel,
)
from wheelproof_lab.graph.timer.system_timer import Cast, system_timer
from wheelproof_lab.graph.timer.timing_wheel import WheelBounds, wheel_graph
from wheelproof_spec.base.contract import NEVER_EARLY
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.timer.model import HeapTimer

pytestmark = pytest.mark.slow

MIGRATION = Migration(
    task_of={"e1": "k1"},
    below={"upper": "lower", "lower": EXPIRED},
    adders={"a1": ("e1", "upper")},
    cancellers={"c1": "k1"},
    flushed=True,
)


@pytest.mark.parametrize(("count", "states", "edges"), [(3, 87, 153), (4, 391, 924)])
def test_philosophers(count: int, states: int, edges: int) -> None:
    outcome = compared(philosophers_model(count))
    assert outcome.comparison.equal
    assert sizes(outcome) == {"code": (states, edges), "spec": (states, edges)}
    # Both sides agree on the deadlock, which remains a failure of the code.
    assert outcome.verdict is Verdict.FAIL
    assert outcome.failures[0].startswith("deadlock: ")


# Those of the purgatory are in test_graph_purgatory. The largest are left to
# `python -m wheelproof_lab graph --all`.
_LARGE = {
    "system-timer-two-adders-advancer",
    "system-timer-two-advancers",
    "system-timer-again",
    "accumulator-two-partitions",
    "accumulator-close-by-force",
    "replication-consumer",
    "replication-slow",
    "replication-two-partitions",
}


@pytest.mark.parametrize(
    "model",
    [one for one in comparisons() if one.name not in _LARGE and one not in PURGATORY_MODELS],
    ids=lambda model: model.name,
)
def test_code_and_module_are_equal(model: GraphModel) -> None:
    outcome = compared(model)
    assert outcome.comparison.differences == ()
    assert outcome.verdict is Verdict.PASS


def _planted(bucket_class: type[TimerTaskList]) -> GraphModel:
    return ENTRY_MIGRATION.model(MIGRATION, partial(entry_migration, MIGRATION, bucket_class))


def test_a_bucket_that_removes_what_another_one_holds() -> None:
    """KAFKA-2226: the canceller meets the entry in the lower bucket, with the upper one locked."""
    outcome = compared(_planted(StaleListBucket))
    assert outcome.verdict is Verdict.FAIL
    code, spec = outcome.comparison.differences[:2]
    assert {code.side, spec.side} == {Side.CODE, Side.SPEC}
    assert code.action == spec.action == "c1: RemoveTest"
    assert code.path == spec.path
    path = [label for label, _ in code.path]
    # Nothing shorter: the add, the canceller's reads, the whole flush of the upper bucket.
    assert len(path) == 33
    assert path[-2:] == ["c1: RemoveLockList", "c1: RemoveLockEntry"]


def test_a_bucket_that_does_not_lock_the_entry() -> None:
    outcome = compared(_planted(UnguardedEntryBucket))
    first = outcome.comparison.differences[0]
    assert first.action == "a1: AddLockList"
    assert [label for label, _ in first.path] == [
        "a1: BindLock",
        "a1: BindSwap",
        "a1: BindUnlock",
        "a1: TestCancelled",
        "a1: RemoveReadList",
    ]


@pytest.mark.parametrize(
    ("action", "mutant", "label", "steps"),
    [
        ("RemoveTest", "RemoveFromAnyList", "c1: RemoveTest", 33),
        ("Claim", "ForgetExpired", "f: Claim", 35),
    ],
)
def test_a_mutant_of_the_module(action: str, mutant: str, label: str, steps: int) -> None:
    configuration = TlcConfiguration(
        module="MCEntryMigration_bugs",
        constants=MIGRATION.constants(),
        overrides={action: mutant},
        folder=tla_directory() / "bugs" / "timer",
    )
    outcome = compared(replace(ENTRY_MIGRATION.model(MIGRATION), configuration=configuration))
    first = outcome.comparison.differences[0]
    assert (first.action, len(first.path)) == (label, steps)


_BOUNDS = TimerBounds(tasks=("a",), delays_ms=(0, 1, 3), tick_ms=2, horizon_ms=4, max_adds=2)


class _DeafTimer(HeapTimer):
    """Says that it cancelled nothing."""

    __slots__ = ()

    def cancel(self, task: str) -> bool:
        super().cancel(task)
        return False


def _model(timer_class: type[HeapTimer], tick_ms: int) -> HeapTimer:
    return timer_class(tick_ms=tick_ms, start_ms=0, contract=NEVER_EARLY)


@pytest.mark.parametrize(
    ("timer_class", "action", "steps"),
    [(HeapTimer, "Add", 0), (_DeafTimer, "Add", 0)],
)
def test_another_model(timer_class: type[HeapTimer], action: str, steps: int) -> None:
    code = partial(model_graph, _BOUNDS, partial(_model, timer_class))
    outcome = compared(TIMER.model(_BOUNDS, code))
    first = outcome.comparison.differences[0]
    assert (first.action, len(first.path)) == (action, steps)


class _OfferingBucket(TimerTaskList):
    """Says that its expiration has changed whenever it is set."""

    __slots__ = ()

    def set_expiration(self, expiration_ms: Millis) -> bool:
        super().set_expiration(expiration_ms)
        return True


class _OfferingWheel(TimingWheel):
    __slots__ = ()
    _bucket_class = _OfferingBucket


class _OfferingTimer(SystemTimer):
    _timing_wheel_class = _OfferingWheel


ADDING = Cast(delays_ms={"k1": 1, "k2": 1}, programs={"a1": ("k1",), "a2": ("k2",)}, max_time_ms=0)


def _timer(timer_class: type[SystemTimer], cast: Cast) -> GraphModel:
    return SYSTEM_TIMER.model(cast, partial(system_timer, cast, timer_class))


def test_a_timer_that_offers_a_bucket_twice() -> None:
    first = compared(_timer(_OfferingTimer, ADDING)).comparison.differences[0]
    assert (first.side, len(first.path)) == (Side.CODE, 7)
    assert first.action in ("a1: Offer", "a2: Offer")


class _PublishedFirst(NotedWheel):
    """KAFKA-2112: others see the overflow wheel before it is complete."""

    __slots__ = ()

    def _get_or_create_overflow_wheel(self) -> TimingWheel:
        overflow_wheel = self._overflow_wheel.get()
        if overflow_wheel is not None:
            return overflow_wheel
        with self._monitor:
            overflow_wheel = self._overflow_wheel.get()
            if overflow_wheel is None:
                overflow_wheel = TimingWheel._new_overflow_wheel(self)
                self._overflow_wheel.set(overflow_wheel)
                self.makers().note(overflow_wheel)
            return overflow_wheel


def test_an_overflow_wheel_that_is_published_too_early() -> None:
    adders = WheelAdders(adders=("a1", "a2"))
    planted = partial(overflow_wheel, adders, _PublishedFirst)
    outcome = compared(OVERFLOW_WHEEL.model(adders, planted))
    assert outcome.verdict is Verdict.FAIL
    first = outcome.comparison.differences[0]
    assert first.action in ("a1: Read", "a2: Read")
    assert len(first.path) == 2


def test_a_wheel_that_offers_a_bucket_twice() -> None:
    bounds = WheelBounds(
        tasks=("a", "b"), delays_ms=(1,), tick_ms=1, wheel_size=2, horizon_ms=2, max_adds=1
    )
    model = TIMING_WHEEL.model(bounds, partial(wheel_graph, bounds, _OfferingTimer))
    differences = compared(model).comparison.differences
    assert (differences[0].action, len(differences[0].path)) == ("Add", 1)


_ADVANCED = Cast(
    delays_ms={"k1": 1},
    programs={"a1": ("k1",)},
    victims={"c1": "k1"},
    advancers=("r",),
    max_time_ms=0,
)


@pytest.mark.parametrize(
    ("timer_class", "action"),
    [
        # The bucket is taken before the lock is asked for.
        (PollOutsideLockTimer, "r: Poll"),
        # A task that is being submitted can still be cancelled.
        (SubmitAfterTestTimer, "c1: CancelUnbind"),
    ],
)
def test_known_bugs_of_advancing(timer_class: type[SystemTimer], action: str) -> None:
    outcome = compared(_timer(timer_class, _ADVANCED))
    assert outcome.verdict is Verdict.FAIL
    # Several differences are equally near to the beginning.
    code_only = {one.action for one in outcome.comparison.differences if one.side is Side.CODE}
    assert action in code_only


def test_a_configuration_that_tlc_refuses() -> None:
    constants = {**MIGRATION.constants(), "Flushers": frozenset({"f", "g"})}
    configuration = TlcConfiguration(module="EntryMigration", constants=constants)
    with pytest.raises(TlcGraphError, match="no graph of EntryMigration: "):
        compared(replace(ENTRY_MIGRATION.model(MIGRATION), configuration=configuration))
