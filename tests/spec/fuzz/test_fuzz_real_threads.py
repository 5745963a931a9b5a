"""Real threads on each component: the reference holds, each known bug falls."""

from collections.abc import Iterator

import pytest

from support import seeds
from wheelproof.purgatory import DelayedOperationPurgatory
from wheelproof_lab.bugs.catalog import bugs, variant_of
from wheelproof_lab.bugs.known_bug import Finder
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.purgatory.component import CheckAndComplete, PurgatoryConfig
from wheelproof_spec.components.purgatory.machine import (
    DISCIPLINES,
    Claimed,
    PurgatoryUnderTest,
)
from wheelproof_spec.components.purgatory.work import (
    ForceOne,
    HandIn,
    PurgatorySetup,
    PurgatoryStep,
    SatisfyAndCheck,
)
from wheelproof_spec.components.registry import machines
from wheelproof_spec.drive.work import AdvanceBy
from wheelproof_spec.fuzz.hooks import Preemption
from wheelproof_spec.fuzz.stage import RealThreads
from wheelproof_spec.fuzz.threaded_case import Burst

SEED = seeds.seed(20_261_120)
MANY_BATCHES_S = 120.0
"""How long a race that is known to be there may hide, in seconds, before the hunt gives up."""
MACHINES = machines()
FOUND = [(bug.component, bug.id) for bug in bugs() if Finder.THREADS in bug.finders]
CASES = {"timer": 20, "purgatory": 20, "replication": 8}

pytestmark = pytest.mark.slow


def _reports(
    component: str, cases: int, bug: str | None = None, seconds: float | None = None
) -> Iterator[FuzzReport]:
    plan = FuzzPlan(threads="real", cases=cases, seed=SEED, seconds=seconds)
    variant = None if bug is None else variant_of(component, bug)
    return MACHINES[component].reports(plan, variant)


@pytest.mark.campaign
@pytest.mark.parametrize("component", MACHINES)
def test_real_threads_reference_follows_the_oracle(component: str) -> None:
    cases = CASES.get(component, 15) * seeds.runs(1, hunted=15)
    for report in _reports(component, cases):
        assert report.failure is None
        assert report.cases >= cases


@pytest.mark.campaign
@pytest.mark.long
@pytest.mark.parametrize(("component", "bug"), FOUND)
def test_real_threads_find(component: str, bug: str) -> None:
    """How real threads meet is up to the machine: only a hunt insists that the bug is found."""
    reports = _reports(component, 50, bug, MANY_BATCHES_S if seeds.hunting() else None)
    failure = next((report.failure for report in reports if report.failure is not None), None)
    assert failure is not None or not seeds.hunting(), f"no failure with seed {SEED}"
    if failure is None:
        return
    assert failure.violation.rule.partition(".")[0].lower() == component.replace("_", "")
    assert len(failure.steps) >= 2


@pytest.mark.parametrize("one", DISCIPLINES, ids=lambda one: one.discipline.__name__)
def test_every_discipline_is_drawn_and_keeps_its_claims(one: Claimed) -> None:
    number = DISCIPLINES.index(one)
    config = PurgatoryConfig(wheel_size=2, purge_interval=0)
    setup = PurgatorySetup(config=config, discipline=number)
    threads = RealThreads("Purgatory", Preemption(SEED, 4))
    under_test = PurgatoryUnderTest(DelayedOperationPurgatory, None, setup, threads)
    burst: Burst[PurgatoryStep] = (
        (HandIn(delay_ms=7, keys=("x", "y"), conditions=(0,)), SatisfyAndCheck(last=1, key="x")),
        (CheckAndComplete(key="x"), ForceOne(operation=-1)),
        (CheckAndComplete(key="y"), AdvanceBy(jump_ms=9)),
    )
    for _ in range(20):
        assert under_test.run(burst) is None
    assert under_test.finish() is None
