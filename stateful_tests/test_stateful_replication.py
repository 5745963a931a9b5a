"""The replica manager: the reference follows the ledger, and each known bug is found and shrunk."""

import pytest

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.known_bug import (
    Finder,
)
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.replication.bugs import (
    BUGS as REPLICATION_BUGS,
)
from wheelproof_spec.components.replication.bugs import (
    ReplicationBug,
)
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import WHEELPROOF
from wheelproof_spec.components.replication.fuzz.threads import run_threaded_replication_fuzz
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread

SEED = 3
MANY = 3_000
"""Cases enough for any defect that one thread can meet."""
MANY_BATCHES_S = 120.0
"""How long a race that is known to be there may hide, in seconds, before the test gives up."""

pytestmark = pytest.mark.slow


def _known_bugs(finder: Finder) -> list[ReplicationBug]:
    return [bug for bug in REPLICATION_BUGS if finder in bug.finders]


def _sequential(manager_class: type[ReplicaManager], cases: int) -> FuzzReport:
    port = ReferenceReplicationPort(manager_class)
    return fuzz_with_one_thread(REPLICATION, port, WHEELPROOF, cases=cases, seed=SEED)


def test_replication_one_thread_follows_the_ledger() -> None:
    report = _sequential(ReplicaManager, cases=100)
    assert report.failure is None
    assert report.cases >= 100
    assert report.steps > report.cases


@pytest.mark.parametrize("bug", _known_bugs(Finder.SEQUENTIAL), ids=lambda bug: bug.id)
def test_replication_one_thread_finds(bug: ReplicationBug) -> None:
    report = _sequential(bug.manager_class, cases=MANY)
    assert report.failure is not None, f"no failure in {report.cases} cases, seed {report.seed}"
    assert report.failure.violation.rule == "Replication.AnsweredWhenItCanBe"
    assert len(report.failure.steps) < 40


def test_replication_real_threads_answer_everybody_once() -> None:
    report = run_threaded_replication_fuzz(ReplicaManager, cases=20, seed=SEED)
    assert report.failure is None
    assert report.cases >= 20


@pytest.mark.long
@pytest.mark.parametrize("bug", _known_bugs(Finder.THREADS), ids=lambda bug: bug.id)
def test_replication_real_threads_find(bug: ReplicationBug) -> None:
    report = run_threaded_replication_fuzz(
        bug.manager_class, cases=50, seed=SEED, seconds=MANY_BATCHES_S
    )
    assert report.failure is not None, f"no failure in {report.cases} cases, seed {report.seed}"
    assert report.failure.violation.rule.startswith("Replication.")
