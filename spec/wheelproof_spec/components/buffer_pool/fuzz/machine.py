"""The machine `buffer_pool` of `wheelproof fuzz`."""

from wheelproof_spec.components.buffer_pool.bugs import BUGS
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import LONGEST_WAITING_FIRST
from wheelproof_spec.components.buffer_pool.fuzz.threads import run_threaded_pool_fuzz
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.engines.fuzz.machine import Machine

MACHINE = Machine(
    suite=BUFFER_POOL,
    profile=LONGEST_WAITING_FIRST,
    bugs=BUGS,
    port=lambda bug: ReferencePoolPort(bug.pool_class),
    parts={"real": (run_threaded_pool_fuzz,)},
)
