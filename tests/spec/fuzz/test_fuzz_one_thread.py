"""One thread drives each component: the reference keeps its contract, each known bug falls."""

import pytest

from support import seeds
from wheelproof.purgatory import DelayedOperation
from wheelproof_lab.bugs.catalog import bugs, variant_of
from wheelproof_lab.bugs.known_bug import Finder
from wheelproof_lab.bugs.purgatory_variants import (
    CancelsTimeoutOnlyPurgatory,
    EstimateOverwrittenPurgatory,
)
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.contract import NEVER_EARLY
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.results.fuzz_report import FuzzFailure, FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import KAFKA, WHEELPROOF
from wheelproof_spec.components.purgatory.machine import DISCIPLINES, Claimed
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.components.registry import machines
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.fuzz.machine import AnyMachine
from wheelproof_spec.fuzz.one_thread import fuzz_with_one_thread

SEED = 20_261_120
"""With it every bug is found by a case that is made small in seconds; with others in minutes."""
MACHINES = machines()
KEPT = [(name, machine.profile) for name, machine in MACHINES.items()]
FOUND = [(bug.component, bug.id) for bug in bugs() if Finder.SEQUENTIAL in bug.finders]
MANY = {"timer": 300, "purgatory": 300}
"""Cases enough for any defect of these that one thread can meet."""
SMALL = {"timer": 4, "replication": 39}
"""How many steps a case has that was made small, a reset and a few calls."""

pytestmark = pytest.mark.slow


class _KafkasPurgatory(
    CancelsTimeoutOnlyPurgatory[DelayedOperation], EstimateOverwrittenPurgatory[DelayedOperation]
):
    """What Kafka's class does where the reference differs."""


def _report(
    component: str,
    cases: int,
    bug: str | None = None,
    profile: str | None = None,
    seed: int = SEED,
) -> FuzzReport:
    plan = FuzzPlan(threads="none", cases=cases, seed=seed, profile=profile)
    variant = None if bug is None else variant_of(component, bug)
    [report] = MACHINES[component].reports(plan, variant)
    return report


def _failure(report: FuzzReport) -> FuzzFailure:
    assert report.failure is not None, f"no failure in {report.cases} cases, seed {report.seed}"
    return report.failure


def _replay(machine: AnyMachine, failure: FuzzFailure, bug: str | None) -> str | None:
    """Drive the shrunk case once more and return the rule that it breaks."""
    judge = machine.suite.judge(machine.profile, Tally())
    port, wire = (
        machine.port(machine.sound if bug is None else variant_of(machine.name, bug)),
        DrivenWire(machine.suite.definition),
    )
    for line in failure.steps:
        _, operation, fields = parse_request(line.encode())
        violation = judge_call(judge, port, wire.parse_call(operation, fields))
        if violation is not None:
            return violation.rule
    return None


@pytest.mark.campaign
@pytest.mark.parametrize(("component", "profile"), [*KEPT, ("buffer_pool", KAFKA)])
def test_one_thread_reference_follows_the_oracle(component: str, profile: str) -> None:
    cases = (150 if component in MANY else 80) * seeds.runs(1, hunted=20)
    report = _report(component, cases, profile=profile, seed=seeds.seed(SEED))
    assert report.failure is None
    assert report.cases >= cases
    assert report.steps > report.cases


@pytest.mark.parametrize(
    ("component", "profile"), [("timer", NEVER_EARLY.name), ("purgatory", KAFKA)]
)
def test_one_thread_a_contract_that_the_reference_does_not_promise_is_refuted(
    component: str, profile: str
) -> None:
    rule = _failure(_report(component, 300, profile=profile)).violation.rule
    # Whoever rounds down runs too early, and others of the same tick in another order.
    rounded = {"Timer.NeverBeforeItIsDue", "Timer.RunsInOrderOfDueTime"}
    assert rule in rounded or rule.startswith("Purgatory.")


@pytest.mark.repeats("k-664")
@pytest.mark.parametrize(("component", "bug"), FOUND)
def test_one_thread_finds(component: str, bug: str) -> None:
    machine = MACHINES[component]
    failure = _failure(_report(component, MANY.get(component, 3_000), bug))
    assert 2 <= len(failure.steps) <= SMALL.get(component, 10), "shrunk"
    assert _replay(machine, failure, bug) == failure.violation.rule
    assert _replay(machine, failure, None) is None


@pytest.mark.parametrize("component", MACHINES)
def test_one_thread_same_seed_same_run(component: str) -> None:
    first, second = _report(component, 50), _report(component, 50)
    assert (first.cases, first.steps) == (second.cases, second.steps)


def test_one_thread_kafkas_way_follows_kafkas_contract() -> None:
    port = ReferencePurgatoryPort(_KafkasPurgatory)
    assert (
        fuzz_with_one_thread(PURGATORY, port, KAFKA, FuzzPlan(cases=300, seed=SEED)).failure is None
    )


@pytest.mark.parametrize("one", DISCIPLINES, ids=lambda one: one.discipline.__name__)
def test_one_thread_every_discipline_follows_the_oracle(one: Claimed) -> None:
    port = ReferencePurgatoryPort(discipline=one.discipline)
    assert (
        fuzz_with_one_thread(PURGATORY, port, WHEELPROOF, FuzzPlan(cases=60, seed=SEED)).failure
        is None
    )
