"""Programs in which a known bug of the producer's memory is brought back: each has to fail."""

from wheelproof_spec.base.known_bug import find_bug
from wheelproof_spec.components.accumulator.bug_table import (
    ACCUMULATOR_BUGS,
)
from wheelproof_spec.components.accumulator.programs import accumulator_program
from wheelproof_spec.components.buffer_pool.bug_table import (
    BUFFER_POOL_BUGS,
)
from wheelproof_spec.components.buffer_pool.programs import pool_program
from wheelproof_spec.engines.explore.program import Program

_POOL_BUGS = {
    "KAFKA-3651": "pool-timed-out",
    "KAFKA-4840/no-give-back": "pool-timed-out-with-a-part",
    "KAFKA-4840/no-hand-on": "pool-interrupted",
    "KAFKA-4840/no-refund": "pool-failing",
    "barging": "pool-in-turn",
    "anyone-takes": "pool-spurious",
    "given-back-twice": "pool-given-back-twice",
}
_ACCUMULATOR_BUGS = {
    "KAFKA-19012": "accumulator-append-expiry",
    "KAFKA-3147": "accumulator-append-abort",
    "KAFKA-3655": "accumulator-interrupted-flush",
    "KAFKA-4741": "accumulator-two-appends-abort",
    "KAFKA-9312": "accumulator-flush-split",
    "KAFKA-8202": "accumulator-flush-split",
}


def producer_bug_programs() -> dict[str, Program]:
    """Return a program for each known bug that the checker finds, by the bug's id."""
    pools = {
        bug: pool_program(bug, scenario, find_bug(BUFFER_POOL_BUGS, bug).pool_class)
        for bug, scenario in _POOL_BUGS.items()
    }
    accumulators = {
        bug: accumulator_program(bug, scenario, find_bug(ACCUMULATOR_BUGS, bug).accumulator_class)
        for bug, scenario in _ACCUMULATOR_BUGS.items()
    }
    return {**pools, **accumulators}
