"""The machine `replication` of `wheelproof fuzz`."""

from wheelproof_spec.components.replication.bugs import BUGS
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import WHEELPROOF
from wheelproof_spec.components.replication.fuzz.threads import run_threaded_replication_fuzz
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.engines.fuzz.machine import Machine

MACHINE = Machine(
    suite=REPLICATION,
    profile=WHEELPROOF,
    bugs=BUGS,
    port=lambda bug: ReferenceReplicationPort(bug.manager_class),
    parts={"real": (run_threaded_replication_fuzz,)},
)
