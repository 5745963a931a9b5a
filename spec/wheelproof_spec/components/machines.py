"""The machines of `wheelproof fuzz`, by name; each is imported when it runs.

A machine is a module `NAME_machine` of this package with `reports(order)`, which yields a report
for each part of it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wheelproof_spec.base.fuzz_report import FuzzReport
    from wheelproof_spec.engines.fuzz.order import FuzzOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What can be fuzzed, and with which kinds of threads."""

    name: str
    threads: tuple[str, ...]
    reports: "Callable[[FuzzOrder], Iterator[FuzzReport]]"


def _timer(order: "FuzzOrder") -> "Iterator[FuzzReport]":
    from wheelproof_spec.components.timer.fuzz.machine import reports

    return reports(order)


def _purgatory(order: "FuzzOrder") -> "Iterator[FuzzReport]":
    from wheelproof_spec.components.purgatory.fuzz.machine import reports

    return reports(order)


def _replication(order: "FuzzOrder") -> "Iterator[FuzzReport]":
    from wheelproof_spec.components.replication.fuzz.machine import reports

    return reports(order)


def _buffer_pool(order: "FuzzOrder") -> "Iterator[FuzzReport]":
    from wheelproof_spec.components.buffer_pool.fuzz.machine import reports

    return reports(order)


def _accumulator(order: "FuzzOrder") -> "Iterator[FuzzReport]":
    from wheelproof_spec.components.accumulator.fuzz.machine import reports

    return reports(order)


MACHINES: dict[str, Machine] = {
    machine.name: machine
    for machine in (
        Machine(name="timer", threads=("none", "real", "controlled"), reports=_timer),
        Machine(name="purgatory", threads=("none", "real"), reports=_purgatory),
        Machine(name="replication", threads=("none", "real"), reports=_replication),
        Machine(name="buffer_pool", threads=("none", "real"), reports=_buffer_pool),
        Machine(name="accumulator", threads=("none", "real"), reports=_accumulator),
    )
}
