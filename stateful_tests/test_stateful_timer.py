"""The stateful machines of the timer: the reference holds, each known bug falls."""

import pytest

from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.contract import KAFKA, NEVER_EARLY
from wheelproof_spec.base.known_bug import Finder
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.results.fuzz_report import FuzzFailure, FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.timer.bugs import (
    BUGS,
    TimerBug,
)
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.component import DEFINITION
from wheelproof_spec.components.timer.fuzz.bounded_reference import BoundedReferencePort
from wheelproof_spec.components.timer.fuzz.lists import run_list_fuzz
from wheelproof_spec.components.timer.fuzz.threads import run_threaded_timer_fuzz
from wheelproof_spec.components.timer.oracle import TimerOracle
from wheelproof_spec.engines.drive.driver.messages import parse_request
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread

SEED = 20_261_120
MANY_BATCHES_S = 120.0
"""How long a race that is known to be there may hide, in seconds, before the test gives up."""

pytestmark = pytest.mark.slow


def _known_bugs(finder: Finder) -> list[TimerBug]:
    return [bug for bug in BUGS if finder in bug.finders]


def _sequential(
    timer_class: type[SystemTimer] = SystemTimer,
    profile: str = KAFKA.name,
    cases: int = 300,
) -> FuzzReport:
    port = BoundedReferencePort(timer_class)
    return fuzz_with_one_thread(TIMER, port, profile, cases=cases, seed=SEED)


def test_one_thread_reference_follows_the_oracle() -> None:
    report = _sequential()
    assert report.failure is None
    assert report.cases >= 300
    assert report.steps > report.cases


def test_one_thread_a_contract_that_the_reference_does_not_promise_is_refuted() -> None:
    report = _sequential(profile=NEVER_EARLY.name)
    # Whoever rounds down runs too early, and others of the same tick in another order.
    rules = {"Timer.NeverBeforeItIsDue", "Timer.RunsInOrderOfDueTime"}
    assert _failure(report).violation.rule in rules


@pytest.mark.parametrize("bug", _known_bugs(Finder.SEQUENTIAL), ids=lambda bug: bug.id)
def test_one_thread_finds(bug: TimerBug) -> None:
    failure = _failure(_sequential(bug.timer_class))
    assert 2 <= len(failure.steps) <= 4, "shrunk to a reset and a few calls"
    assert _replay(failure, bug.timer_class) == failure.violation.rule
    assert _replay(failure, SystemTimer) is None


def test_one_thread_same_seed_same_run() -> None:
    first, second = _sequential(cases=50), _sequential(cases=50)
    assert (first.cases, first.steps) == (second.cases, second.steps)


def test_real_threads_reference_follows_the_oracle() -> None:
    report = run_threaded_timer_fuzz(SystemTimer, profile=KAFKA.name, cases=60, seed=SEED)
    assert report.failure is None
    assert report.cases >= 60


def test_real_threads_lists_of_the_reference_stay_consistent() -> None:
    report = run_list_fuzz(TimerTaskList, cases=60, seed=SEED)
    assert report.failure is None
    assert report.cases >= 60


@pytest.mark.long
@pytest.mark.parametrize("bug", _known_bugs(Finder.THREADS), ids=lambda bug: bug.id)
def test_real_threads_find(bug: TimerBug) -> None:
    if bug.bucket_class is TimerTaskList:
        report = run_threaded_timer_fuzz(
            bug.timer_class, profile=KAFKA.name, cases=100, seed=SEED, seconds=MANY_BATCHES_S
        )
    else:
        report = run_list_fuzz(bug.bucket_class, cases=100, seed=SEED, seconds=MANY_BATCHES_S)
    failure = _failure(report)
    assert failure.violation.rule.startswith("Timer.")
    assert len(failure.steps) >= 2


def _failure(report: FuzzReport) -> FuzzFailure:
    assert report.failure is not None, f"no failure in {report.cases} cases, seed {report.seed}"
    return report.failure


def _replay(failure: FuzzFailure, timer_class: type[SystemTimer]) -> str | None:
    """Drive the shrunk case once more and return the rule that it breaks."""
    judge = TimerOracle(KAFKA.name, Tally())
    port = BoundedReferencePort(timer_class)
    for line in failure.steps:
        _, operation, fields = parse_request(line.encode())
        call = DrivenWire(DEFINITION).parse_call(operation, fields)
        violation = judge_call(judge, port, call)
        if violation is not None:
            return violation.rule
    return None
