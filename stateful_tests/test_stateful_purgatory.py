"""The stateful machines of the purgatory: the reference holds, each known bug falls."""

import pytest

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.known_bug import Finder
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.results.fuzz_report import FuzzFailure, FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.purgatory.bugs import (
    BUGS,
    CancelsTimeoutOnlyPurgatory,
    EstimateOverwrittenPurgatory,
    PurgatoryBug,
)
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import DEFINITION, KAFKA, WHEELPROOF
from wheelproof_spec.components.purgatory.fuzz.disciplines import DISCIPLINES, Claimed
from wheelproof_spec.components.purgatory.fuzz.threads import (
    PurgatoryUnderTest,
    run_threaded_purgatory_fuzz,
)
from wheelproof_spec.components.purgatory.oracle import OraclePurgatory
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.engines.drive.driver.messages import parse_request
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.threaded_case import ThreadedCase

SEED = 20_261_120
MANY_BATCHES_S = 120.0
"""How long a race that is known to be there may hide, in seconds, before the test gives up."""

pytestmark = pytest.mark.slow


class _KafkasPurgatory(
    CancelsTimeoutOnlyPurgatory[DelayedOperation], EstimateOverwrittenPurgatory[DelayedOperation]
):
    """What Kafka's class does where the reference differs."""


def _known_bugs(finder: Finder) -> list[PurgatoryBug]:
    return [bug for bug in BUGS if finder in bug.finders]


def _port(bug: PurgatoryBug | None) -> ReferencePurgatoryPort:
    if bug is None:
        return ReferencePurgatoryPort()
    return ReferencePurgatoryPort(bug.purgatory_class, bug.discipline, bug.holds)


def _sequential(
    port: ReferencePurgatoryPort, profile: str = WHEELPROOF, cases: int = 300
) -> FuzzReport:
    return fuzz_with_one_thread(PURGATORY, port, profile, cases=cases, seed=SEED)


def test_one_thread_reference_follows_the_oracle() -> None:
    report = _sequential(_port(None))
    assert report.failure is None
    assert report.cases >= 300
    assert report.steps > report.cases


def test_one_thread_kafkas_way_follows_kafkas_contract() -> None:
    assert _sequential(ReferencePurgatoryPort(_KafkasPurgatory), KAFKA).failure is None


def test_one_thread_a_contract_that_the_reference_does_not_promise_is_refuted() -> None:
    failure = _failure(_sequential(_port(None), KAFKA))
    assert failure.violation.rule.startswith("Purgatory.")


@pytest.mark.repeats("k-664")
@pytest.mark.parametrize("bug", _known_bugs(Finder.SEQUENTIAL), ids=lambda bug: bug.id)
def test_one_thread_finds(bug: PurgatoryBug) -> None:
    failure = _failure(_sequential(_port(bug)))
    assert 2 <= len(failure.steps) <= 10, "shrunk to a reset and a few calls"
    assert _replay(failure, bug) == failure.violation.rule
    assert _replay(failure, None) is None


def test_one_thread_same_seed_same_run() -> None:
    first, second = _sequential(_port(None), cases=50), _sequential(_port(None), cases=50)
    assert (first.cases, first.steps) == (second.cases, second.steps)


@pytest.mark.parametrize("one", DISCIPLINES, ids=lambda one: one.discipline.__name__)
def test_one_thread_every_discipline_follows_the_oracle(one: Claimed) -> None:
    assert _sequential(ReferencePurgatoryPort(discipline=one.discipline), cases=60).failure is None


@pytest.mark.parametrize("one", DISCIPLINES, ids=lambda one: one.discipline.__name__)
def test_every_discipline_is_drawn_and_keeps_its_claims(one: Claimed) -> None:
    number = DISCIPLINES.index(one)
    setup = {"tick_ms": 1, "wheel_size": 2, "purge_interval": 0, "discipline": number}
    case = ThreadedCase(setup=tuple(setup.items()), preemption_seed=SEED, preempt_one_in=4)
    under_test = PurgatoryUnderTest(DelayedOperationPurgatory, None, case)
    burst = (("watch 7 xy", "trigger 1 x"), ("check x", "force"), ("check y", "advance 9"))
    for _ in range(20):
        assert under_test.run(burst) is None
    assert under_test.finish() is None


def test_real_threads_reference_follows_the_oracle() -> None:
    report = run_threaded_purgatory_fuzz(DelayedOperationPurgatory, None, cases=60, seed=SEED)
    assert report.failure is None
    assert report.cases >= 60


@pytest.mark.long
@pytest.mark.parametrize("bug", _known_bugs(Finder.THREADS), ids=lambda bug: bug.id)
def test_real_threads_find(bug: PurgatoryBug) -> None:
    report = run_threaded_purgatory_fuzz(
        bug.purgatory_class, bug.discipline, cases=20, seed=SEED, seconds=MANY_BATCHES_S
    )
    assert _failure(report).steps


def _failure(report: FuzzReport) -> FuzzFailure:
    assert report.failure is not None, "the bug was not found"
    return report.failure


def _replay(failure: FuzzFailure, bug: PurgatoryBug | None) -> str | None:
    """Return the rule that the failing case breaks when it is run again."""
    judge, port, wire = OraclePurgatory(WHEELPROOF, Tally()), _port(bug), DrivenWire(DEFINITION)
    for line in failure.steps:
        _, operation, fields = parse_request(line.encode())
        violation = judge_call(judge, port, wire.parse_call(operation, fields))
        if violation is not None:
            return violation.rule
    return None
