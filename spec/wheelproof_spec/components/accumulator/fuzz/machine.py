"""The machine `accumulator` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.producer import RecordAccumulator
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.accumulator.bugs import BUGS
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.fuzz.threads import run_threaded_accumulator_fuzz
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the record accumulator; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    accumulator_class = RecordAccumulator if bug is None else bug.accumulator_class
    if order.threads == "none":
        yield fuzz_with_one_thread(
            ACCUMULATOR, ReferenceAccumulatorPort(accumulator_class), WHEELPROOF, **order.batch()
        )
        return
    yield run_threaded_accumulator_fuzz(accumulator_class, **order.batch())


MACHINE = Machine(name="accumulator", threads=("none", "real"), reports=reports)
