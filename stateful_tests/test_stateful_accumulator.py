"""The stateful machines of the record accumulator: the reference holds, each known bug falls."""

import pytest

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import Finder
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.accumulator.bugs import (
    BUGS,
    AccumulatorBug,
)
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.fuzz.threads import run_threaded_accumulator_fuzz
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread

SEED = 20_261_120
MANY = 3_000
"""Cases enough for any defect that one thread can meet."""
MANY_BATCHES_S = 120.0

pytestmark = pytest.mark.slow


def _bugs(finder: Finder) -> list[AccumulatorBug]:
    return [bug for bug in BUGS if finder in bug.finders]


def _sequential(
    accumulator_class: type[RecordAccumulator] = RecordAccumulator, cases: int = 150
) -> FuzzReport:
    port = ReferenceAccumulatorPort(accumulator_class)
    return fuzz_with_one_thread(ACCUMULATOR, port, WHEELPROOF, cases=cases, seed=SEED)


def test_accumulator_one_thread_reference_follows_the_oracle() -> None:
    report = _sequential()
    assert report.failure is None
    assert report.cases >= 150


@pytest.mark.parametrize("bug", _bugs(Finder.SEQUENTIAL), ids=lambda bug: bug.id)
def test_accumulator_one_thread_finds(bug: AccumulatorBug) -> None:
    failure = _sequential(bug.accumulator_class, cases=MANY).failure
    assert failure is not None
    assert failure.violation.rule.startswith("Accumulator.")


def test_accumulator_real_threads_reference_loses_nothing() -> None:
    report = run_threaded_accumulator_fuzz(RecordAccumulator, cases=40, seed=SEED)
    assert report.failure is None
    assert report.cases >= 40


@pytest.mark.long
@pytest.mark.parametrize("bug", _bugs(Finder.THREADS), ids=lambda bug: bug.id)
def test_accumulator_real_threads_find(bug: AccumulatorBug) -> None:
    report = run_threaded_accumulator_fuzz(
        bug.accumulator_class, cases=40, seed=SEED, seconds=MANY_BATCHES_S
    )
    assert report.failure is not None
