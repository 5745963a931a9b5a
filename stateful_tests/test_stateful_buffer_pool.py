"""The state machine of a buffer pool: right pools pass, wrong ones and known bugs fail."""

from collections.abc import Mapping

import pytest

from support import seeds
from support.contract_tests import NOT_SMALLER, failure, machine_of, steps
from support.reference.python_pool import ReferencePool
from support.reference.shelf_pool import ShelfPool
from support.testing import wrong_pools as wrong
from wheelproof_lab.bugs.buffer_pool import BUGS
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_spec.testing import BufferPoolMachine, MakePool, PoolClause


@pytest.mark.campaign
class TestReference(BufferPoolMachine):
    make = ReferencePool
    seed = seeds.seed(BufferPoolMachine.seed)


@pytest.mark.campaign
class TestShelfPool(BufferPoolMachine):
    """A pool that hands memory on, and keeps its buffers on a shelf."""

    make = ShelfPool
    seed = seeds.seed(BufferPoolMachine.seed)


@pytest.mark.parametrize(
    ("pool", "clause"),
    [
        (wrong.LosesAtTimeOut, PoolClause.MEMORY_IS_CONSERVED),
        (wrong.LendsTwice, PoolClause.LENDS_ONCE),
        (wrong.LastComeFirstServed, PoolClause.LONGEST_WAITING_FIRST),
        (wrong.Barging, PoolClause.LONGEST_WAITING_FIRST),
        (wrong.NoSizeChecked, PoolClause.KEEPS_TO_ITS_DOMAIN),
        (wrong.LendsMore, PoolClause.LENDS_WHAT_WAS_ASKED),
        (wrong.NeverAtOnce, PoolClause.NO_LOST_WAKE_UP),
        (wrong.OpenForEver, PoolClause.CLOSE_RELEASES),
        (wrong.KeepsNothing, PoolClause.KEEPS_BUFFERS),
        (wrong.CountsOneMore, PoolClause.WAITERS_ARE_LIVE),
        (wrong.TakesEverything, PoolClause.KEEPS_TO_ITS_DOMAIN),
        (wrong.LosesUpdates, PoolClause.MEMORY_IS_CONSERVED),
    ],
)
def test_a_wrong_pool_fails_by_its_clause(pool: MakePool, clause: PoolClause) -> None:
    error = failure(machine_of(BufferPoolMachine, pool, settings=NOT_SMALLER))
    assert error.violation.rule == clause
    assert steps(error)[0].startswith("state.new_pool("), "shown as code"


_FOUND: Mapping[str, PoolClause] = {
    "KAFKA-3651": PoolClause.WAITERS_ARE_LIVE,
    "KAFKA-4840/no-give-back": PoolClause.MEMORY_IS_CONSERVED,
    "barging": PoolClause.LONGEST_WAITING_FIRST,
    "given-back-twice": PoolClause.KEEPS_TO_ITS_DOMAIN,
}
"""What is not found needs a fault that a pool in Python is not asked for.

no-hand-on needs an interrupt or a metric that raises, no-refund an allocation that fails,
anyone-takes a spurious wake-up, and narrow-free-list a free list of 2 GiB.
"""


@pytest.mark.parametrize("bug", _FOUND)
def test_a_known_bug_is_found(bug: str) -> None:
    made = type("Buggy", (ReferencePool,), {"pool_class": find_bug(BUGS, bug).pool_class})
    error = failure(machine_of(BufferPoolMachine, made, settings=NOT_SMALLER))
    assert error.violation.rule == _FOUND[bug]
