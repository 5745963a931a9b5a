"""The machine `purgatory` of `wheelproof fuzz`."""

from wheelproof_spec.components.purgatory.bugs import BUGS
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import WHEELPROOF
from wheelproof_spec.components.purgatory.fuzz.threads import run_threaded_purgatory_fuzz
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.engines.fuzz.machine import Machine

MACHINE = Machine(
    suite=PURGATORY,
    profile=WHEELPROOF,
    bugs=BUGS,
    port=lambda bug: ReferencePurgatoryPort(bug.purgatory_class, bug.discipline, bug.holds),
    parts={"real": (run_threaded_purgatory_fuzz,)},
)
