"""The machine `replication` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.replication.bugs import BUGS
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import WHEELPROOF
from wheelproof_spec.components.replication.fuzz.threads import run_threaded_replication_fuzz
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the replica manager; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    manager_class = ReplicaManager if bug is None else bug.manager_class
    if order.threads == "none":
        yield fuzz_with_one_thread(
            REPLICATION, ReferenceReplicationPort(manager_class), WHEELPROOF, **order.batch()
        )
        return
    yield run_threaded_replication_fuzz(manager_class, **order.batch())


MACHINE = Machine(name="replication", threads=("none", "real"), reports=reports)
