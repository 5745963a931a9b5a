"""The machine `replication` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.known_bug import (
    find_bug,
)
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.replication.bug_table import (
    BUGS as REPLICATION_BUGS,
)
from wheelproof_spec.components.replication.fuzz.sequential import run_replication_fuzz
from wheelproof_spec.components.replication.fuzz.threads import run_threaded_replication_fuzz
from wheelproof_spec.engines.fuzz.order import FuzzOrder


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the replica manager.

    Raises UsageError if it has no such bug.
    """
    bug = None if order.bug is None else find_bug(REPLICATION_BUGS, order.bug)
    run = run_replication_fuzz if order.threads == "none" else run_threaded_replication_fuzz
    yield run(
        ReplicaManager if bug is None else bug.manager_class,
        cases=order.cases,
        seed=order.seed,
        seconds=order.seconds,
        repeat=order.repeat,
        progress=order.progress,
    )
