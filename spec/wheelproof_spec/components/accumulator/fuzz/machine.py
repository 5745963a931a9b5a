"""The machine `accumulator` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.accumulator.bugs import BUGS
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.fuzz.sequential import run_accumulator_fuzz
from wheelproof_spec.components.accumulator.fuzz.threads import run_threaded_accumulator_fuzz
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the record accumulator; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    accumulator_class = RecordAccumulator if bug is None else bug.accumulator_class
    if order.threads == "none":
        yield run_accumulator_fuzz(
            ReferenceAccumulatorPort(accumulator_class), profile=WHEELPROOF, **order.batch()
        )
        return
    yield run_threaded_accumulator_fuzz(accumulator_class, **order.batch())


MACHINE = Machine(name="accumulator", threads=("none", "real"), reports=reports)
