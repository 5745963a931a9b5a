"""Where the pool or its module is changed, the comparison tells the change.

That they are equal as they are is tested with all other comparisons.
"""

from dataclasses import replace

import pytest

from support.graph.philosophers import compared
from wheelproof.producer import BufferPool
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.components.buffer_pool.bugs import (
    AnyoneTakesPool,
    BargingPool,
    DeadWaiterPool,
    NoGiveBackPool,
    NoHandOnPool,
    NoRefundPool,
)
from wheelproof_spec.components.buffer_pool.graph.buffer_pool import Borrowers, buffer_pool
from wheelproof_spec.components.buffer_pool.graph.catalog import buffer_pool_model
from wheelproof_spec.engines.graph.comparing.comparisons import (
    GraphModel,
    GraphOutcome,
    program_side,
)
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcGraphError

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


def _nearest(outcome: GraphOutcome) -> tuple[str, int]:
    """Return the first by name of the actions that differ soonest, and after how many steps."""
    differences = outcome.comparison.differences
    steps = min(len(one.path) for one in differences)
    return min(str(one.action) for one in differences if len(one.path) == steps), steps


def _planted(borrowers: Borrowers, pool_class: type[BufferPool]) -> GraphModel:
    model = buffer_pool_model("planted", "", borrowers)
    return replace(model, code=program_side(buffer_pool(borrowers, pool_class)))


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
    model = buffer_pool_model("mutant", "", borrowers)
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
    with pytest.raises(TlcGraphError, match="no graph of MCBufferPool: "):
        compared(
            buffer_pool_model(
                "refused", "", Borrowers(total=1, poolable_size=1, programs={"a": (0,)})
            )
        )
