"""The machine `timer` of `wheelproof fuzz`."""

from collections.abc import Iterator
from dataclasses import replace

from wheelproof.timer import SystemTimer, TimerTaskList
from wheelproof_spec.base.contract import KAFKA
from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.components.timer.bugs import BUGS
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.fuzz.bounded_reference import BoundedReferencePort
from wheelproof_spec.components.timer.fuzz.controlled import run_controlled_timer_fuzz
from wheelproof_spec.components.timer.fuzz.lists import run_list_fuzz
from wheelproof_spec.components.timer.fuzz.threads import run_threaded_timer_fuzz
from wheelproof_spec.engines.fuzz.one_thread import fuzz_with_one_thread
from wheelproof_spec.engines.fuzz.order import FuzzOrder, Machine


def reports(order: FuzzOrder) -> Iterator[FuzzReport]:
    """Fuzz the timer; with real threads its lists as well, under far more contention.

    Raises UsageError if the timer has no such bug.
    """
    bug = None if order.bug is None else find_bug(BUGS, order.bug)
    timer_class = SystemTimer if bug is None else bug.timer_class
    if order.threads == "none":
        yield fuzz_with_one_thread(
            TIMER, BoundedReferencePort(timer_class), KAFKA.name, **order.batch()
        )
        return
    if order.threads == "controlled":
        yield run_controlled_timer_fuzz(timer_class, profile=KAFKA.name, **order.batch())
        return
    half = order if order.seconds is None else replace(order, seconds=order.seconds / 2)
    yield run_threaded_timer_fuzz(timer_class, profile=KAFKA.name, **half.batch())
    yield run_list_fuzz(TimerTaskList if bug is None else bug.bucket_class, **half.batch())


MACHINE = Machine(name="timer", threads=("none", "real", "controlled"), reports=reports)
