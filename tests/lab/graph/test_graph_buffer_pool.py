"""Where the pool or its module is changed, the comparison tells the change.

That they are equal as they are is tested with all other comparisons.
"""

import copy
from dataclasses import replace
from functools import partial

import pytest

from support.graph.philosophers import compared
from wheelproof.producer import BufferPool
from wheelproof_lab.bugs.buffer_pool import (
    AnyoneTakesPool,
    BargingPool,
    DeadWaiterPool,
    NoGiveBackPool,
    NoHandOnPool,
    NoRefundPool,
)
from wheelproof_lab.graph.buffer_pool.abstract import model_graph
from wheelproof_lab.graph.buffer_pool.buffer_pool import Borrowers, buffer_pool
from wheelproof_lab.graph.buffer_pool.catalog import BUFFER_POOL, LEDGER, MODEL
from wheelproof_lab.graph.buffer_pool.ledger import Askers, ledger_graph
from wheelproof_lab.graph.comparing.compare import Side
from wheelproof_lab.graph.comparing.comparisons import (
    GraphModel,
    GraphOutcome,
)
from wheelproof_lab.graph.comparing.tlc_side import TlcGraphError
from wheelproof_spec.base.calls import Close, Reset
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.component import (
    KAFKA,
    LONGEST_WAITING_FIRST,
    Allocate,
    PoolCall,
    PoolClause,
    PoolConfig,
    PoolObservation,
    PoolOutcome,
)
from wheelproof_spec.components.buffer_pool.model import LedgerPool
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle

pytestmark = pytest.mark.slow

TWO = Borrowers(total=2, poolable_size=1, programs={"a": (1, 2), "b": (2, 1)})
UNLUCKY = Borrowers(
    total=2, poolable_size=1, programs={"a": (2,), "b": (2,)}, unlucky=frozenset({"a"})
)
LATE = Borrowers(
    total=3, poolable_size=1, programs={"a": (1,), "l": (3,)}, limits_ms={"l": 1}, max_time_ms=1
)
QUEUE = Borrowers(
    total=2, poolable_size=2, programs={"a": (2,), "b": (2,), "p": (2,)}, limits_ms={"p": 0}
)
INTERRUPTED = Borrowers(
    total=1, poolable_size=1, programs={"a": (1,), "b": (1,), "d": (1,)}, victims={"i": "a"}
)
ASKERS = Askers(total=3, sizes={"a": (3,), "b": (1, 2), "d": (2,)})


def _nearest(outcome: GraphOutcome) -> tuple[str, int]:
    """Return the first by name of the actions that differ soonest, and after how many steps."""
    differences = outcome.comparison.differences
    steps = min(len(one.path) for one in differences)
    return min(str(one.action) for one in differences if len(one.path) == steps), steps


def _planted(borrowers: Borrowers, pool_class: type[BufferPool]) -> GraphModel:
    return BUFFER_POOL.model(borrowers, partial(buffer_pool, borrowers, pool_class))


@pytest.mark.parametrize(
    ("borrowers", "pool_class", "action", "steps"),
    [
        (TWO, BargingPool, "a: Lock", 11),
        (LATE, DeadWaiterPool, "l: EndWait", 9),
        (LATE, NoGiveBackPool, "l: EndWait", 9),
        (INTERRUPTED, NoHandOnPool, "a: EndWait", 14),
        (UNLUCKY, NoRefundPool, "a: Refund", 4),
        (QUEUE, AnyoneTakesPool, "p: EndWait", 15),
    ],
)
def test_a_pool_with_a_known_bug(
    borrowers: Borrowers, pool_class: type[BufferPool], action: str, steps: int
) -> None:
    outcome = compared(_planted(borrowers, pool_class))
    assert outcome.verdict is Verdict.FAIL
    assert _nearest(outcome) == (action, steps)


@pytest.mark.parametrize(
    ("borrowers", "operator", "mutant", "action", "steps"),
    [
        (TWO, "MayTakeAtOnce", "TakeThoughSomebodyWaits", "a: Lock", 11),
        (LATE, "LeaveWithout", "StayInTheQueue", "l: EndWait", 9),
        (LATE, "LeaveWithout", "LeaveWithPart", "l: EndWait", 9),
        (INTERRUPTED, "LeaveWithout", "LeaveInSilence", "a: EndWait", 14),
        (UNLUCKY, "MakeFails", "ForgetTheReservation", "a: Make", 3),
        (QUEUE, "IsNext", "EverybodyIsNext", "p: EndWait", 15),
        (TWO, "SignalFirst", "SignalNobody", "a: Deallocate", 7),
        (LATE, "Await", "WaitAsLongAgain", "l: TimeOut", 7),
    ],
)
def test_a_mutant_of_the_module(
    borrowers: Borrowers, operator: str, mutant: str, action: str, steps: int
) -> None:
    model = BUFFER_POOL.model(borrowers)
    configuration = replace(
        model.configuration,
        module="MCBufferPool_bugs",
        overrides={"Later": "MCLater", operator: mutant},
        folder=tla_directory() / "bugs" / "producer",
    )
    outcome = compared(replace(model, configuration=configuration))
    assert outcome.verdict is Verdict.FAIL
    assert _nearest(outcome) == (action, steps)


def test_a_configuration_that_tlc_refuses() -> None:
    """Zero bytes can always be had, and do not occur in the module."""
    nothing = Borrowers(total=1, poolable_size=1, programs={"a": (0,)})
    with pytest.raises(TlcGraphError, match="no graph of MCBufferPool: "):
        compared(BUFFER_POOL.model(nothing))


def test_a_ledger_that_lets_newcomers_overtake() -> None:
    """What Kafka's own profile accepts is more than FifoAllocator allows."""
    planted = partial(ledger_graph, ASKERS, lambda tally: PoolOracle(KAFKA, tally))
    outcome = compared(LEDGER.model(ASKERS, planted))
    assert outcome.verdict is Verdict.FAIL
    assert {one.side for one in outcome.comparison.differences} == {Side.CODE}
    assert _nearest(outcome) == ("Allocate", 2)


class _Waits(LedgerPool):
    """A newcomer may wait for what is there."""

    def _need_not_wait(self, call: str) -> bool:
        del call
        return False


@pytest.mark.parametrize(
    ("pool_class", "profile", "action", "steps"),
    [
        (LedgerPool, KAFKA, "LendAtOnce", 2),
        (_Waits, LONGEST_WAITING_FIRST, "Enqueue", 0),
    ],
)
def test_a_model_that_allows_too_much(
    pool_class: type[LedgerPool], profile: str, action: str, steps: int
) -> None:
    planted = partial(model_graph, ASKERS, lambda config: pool_class(config, profile))
    outcome = compared(MODEL.model(ASKERS, planted))
    assert outcome.verdict is Verdict.FAIL
    assert {one.side for one in outcome.comparison.differences} == {Side.CODE}
    assert _nearest(outcome) == (action, steps)


def test_a_closed_pool_lends_nothing() -> None:
    """The ledger's graph showed it: whoever waited might be lent memory by close itself."""
    ledger = PoolOracle(LONGEST_WAITING_FIRST, Tally())
    lent, closed = PoolOutcome.BUFFER, PoolOutcome.CLOSED
    calls: list[tuple[PoolCall, dict[str, PoolOutcome]]] = [
        (Reset(config=PoolConfig(total_memory=3, poolable_size=1)), {}),
        (Allocate(buffer="a", size=1, max_time_to_block_ms=9), {"a": lent}),
        (Allocate(buffer="b", size=3, max_time_to_block_ms=9), {}),
        (Allocate(buffer="d", size=1, max_time_to_block_ms=9), {}),
    ]
    for call, ended in calls:
        assert ledger.judge(call, PoolObservation(ended=ended)) is None
    fair = copy.deepcopy(ledger)
    assert fair.judge(Close(), PoolObservation(ended={"b": closed, "d": closed})) is None
    violation = ledger.judge(Close(), PoolObservation(ended={"b": closed, "d": lent}))
    assert violation is not None
    assert violation.rule is PoolClause.CLOSE_RELEASES
