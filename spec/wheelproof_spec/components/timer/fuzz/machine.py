"""The machine `timer` of `wheelproof fuzz`; with real threads its lists too, more contended."""

from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.components.timer.bugs import BUGS
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.fuzz.bounded_reference import BoundedReferencePort
from wheelproof_spec.components.timer.fuzz.controlled import run_controlled_timer_fuzz
from wheelproof_spec.components.timer.fuzz.lists import run_list_fuzz
from wheelproof_spec.components.timer.fuzz.threads import run_threaded_timer_fuzz
from wheelproof_spec.engines.fuzz.machine import Machine

MACHINE = Machine(
    suite=TIMER,
    profile=KAFKA.name,
    bugs=BUGS,
    port=lambda bug: BoundedReferencePort(bug.timer_class),
    parts={
        "real": (run_threaded_timer_fuzz, run_list_fuzz),
        "controlled": (run_controlled_timer_fuzz,),
    },
)
