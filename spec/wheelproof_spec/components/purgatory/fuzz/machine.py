"""The machine `purgatory` of `wheelproof fuzz`."""

from collections.abc import Iterator

from wheelproof.purgatory import DelayedOperationPurgatory, ExclusiveDiscipline
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.purgatory.bugs import BUGS, any_case
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.component import WHEELPROOF
from wheelproof_spec.components.purgatory.fuzz.threads import run_threaded_purgatory_fuzz
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the purgatory; raises UsageError if it has no such bug."""
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    purgatory_class = DelayedOperationPurgatory if bug is None else bug.purgatory_class
    if order.threads == "real":
        discipline = None if bug is None else bug.discipline
        yield run_threaded_purgatory_fuzz(purgatory_class, discipline, **order.batch())
        return
    holds, first = (any_case, ExclusiveDiscipline) if bug is None else (bug.holds, bug.discipline)
    port = ReferencePurgatoryPort(purgatory_class, first, holds)
    yield fuzz_with_one_thread(PURGATORY, port, WHEELPROOF, **order.batch())


MACHINE = Machine(name="purgatory", threads=("none", "real"), reports=reports)
