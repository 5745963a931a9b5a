"""The machine `replication` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.replication import ReplicaManager
from wheelproof_spec.fuzz.order import FuzzOrder
from wheelproof_spec.fuzz.replication_sequential import run_replication_fuzz
from wheelproof_spec.fuzz.replication_threads import run_threaded_replication_fuzz
from wheelproof_spec.fuzz.report import FuzzReport
from wheelproof_spec.known_bugs import REPLICATION_BUGS, find_bug


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
