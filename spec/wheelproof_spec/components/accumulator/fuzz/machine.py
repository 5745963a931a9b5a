"""The machine `accumulator` of `wheelproof fuzz`."""

from wheelproof_spec.components.accumulator.bugs import BUGS
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.fuzz.threads import run_threaded_accumulator_fuzz
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.engines.fuzz.machine import Machine

MACHINE = Machine(
    suite=ACCUMULATOR,
    profile=WHEELPROOF,
    bugs=BUGS,
    port=lambda bug: ReferenceAccumulatorPort(bug.accumulator_class),
    parts={"real": (run_threaded_accumulator_fuzz,)},
)
