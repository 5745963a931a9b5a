"""The stateful machines of the buffer pool: the reference holds, each known bug falls."""

import pytest

from wheelproof.producer import BufferPool
from wheelproof_spec.base.known_bug import Finder
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.buffer_pool.bugs import (
    BUGS,
    BufferPoolBug,
)
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import (
    DEFINITION,
    LONGEST_WAITING_FIRST,
)
from wheelproof_spec.components.buffer_pool.fuzz.threads import run_threaded_pool_fuzz
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread

SEED = 20_261_120
"""With it every bug is found by a case that is made small in seconds; with others in minutes."""
MANY = 3_000
"""Cases enough for any defect that one thread can meet."""
MANY_BATCHES_S = 120.0

pytestmark = pytest.mark.slow


def _bugs(finder: Finder) -> list[BufferPoolBug]:
    return [bug for bug in BUGS if finder in bug.finders]


def _sequential(
    pool_class: type[BufferPool] = BufferPool,
    profile: str = LONGEST_WAITING_FIRST,
    cases: int = 150,
) -> FuzzReport:
    port = ReferencePoolPort(pool_class)
    return fuzz_with_one_thread(BUFFER_POOL, port, profile, cases=cases, seed=SEED)


@pytest.mark.parametrize("profile", DEFINITION.profiles)
def test_pool_one_thread_reference_follows_the_oracle(profile: str) -> None:
    report = _sequential(profile=profile)
    assert report.failure is None
    assert report.cases >= 150


@pytest.mark.parametrize("bug", _bugs(Finder.SEQUENTIAL), ids=lambda bug: bug.id)
def test_pool_one_thread_finds(bug: BufferPoolBug) -> None:
    failure = _sequential(bug.pool_class, cases=MANY).failure
    assert failure is not None
    assert 2 <= len(failure.steps) <= 10, "shrunk to a reset and a few calls"
    assert failure.violation.rule.startswith("BufferPool.")


def test_pool_real_threads_reference_conserves_memory() -> None:
    report = run_threaded_pool_fuzz(BufferPool, cases=40, seed=SEED)
    assert report.failure is None
    assert report.cases >= 40


@pytest.mark.long
@pytest.mark.parametrize("bug", _bugs(Finder.THREADS), ids=lambda bug: bug.id)
def test_pool_real_threads_find(bug: BufferPoolBug) -> None:
    report = run_threaded_pool_fuzz(bug.pool_class, cases=40, seed=SEED, seconds=MANY_BATCHES_S)
    assert report.failure is not None
