"""Where the replica manager or ProduceFetch is changed, the comparison tells the change.

That they are equal as they are is tested with all other comparisons.
"""

from dataclasses import replace
from functools import partial

import pytest

from support.graph.philosophers import compared
from wheelproof_lab.bugs.replication import SilentAppendManager
from wheelproof_lab.graph.comparing.comparisons import GraphOutcome
from wheelproof_lab.graph.replication.catalog import PRODUCE_FETCH
from wheelproof_lab.graph.replication.produce_fetch import Brokers, produce_fetch
from wheelproof_lab.graph.replication.stepped import SteppedManager
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = pytest.mark.slow

ONE = Brokers()


def _nearest(outcome: GraphOutcome) -> tuple[str, int]:
    """Return the first by name of the actions that differ soonest, and after how many steps."""
    assert outcome.verdict is Verdict.FAIL
    differences = outcome.comparison.differences
    steps = min(len(one.path) for one in differences)
    return min(str(one.action) for one in differences if len(one.path) == steps), steps


class _SilentAppend(SilentAppendManager, SteppedManager):
    pass


def test_an_append_that_nobody_is_told_of() -> None:
    planted = partial(produce_fetch, ONE, _SilentAppend)
    assert _nearest(compared(PRODUCE_FETCH.model(ONE, planted))) == ("p1: Trigger fetch q1", 4)


@pytest.mark.parametrize(
    ("operator", "mutant", "action", "steps"),
    [
        ("Both", "NoFetches", "f1: Trigger fetch q1", 12),
        ("Least", "LeastOfTheLeader", "(no action)", 1),
        ("LastTry", "WatchAndWait", "f1: LastTry", 5),
    ],
)
def test_a_mutant_of_the_module(operator: str, mutant: str, action: str, steps: int) -> None:
    model = PRODUCE_FETCH.model(ONE)
    configuration = replace(
        model.configuration,
        module="MCProduceFetch_bugs",
        overrides={operator: mutant},
        folder=tla_directory() / "bugs" / "replication",
    )
    outcome = compared(replace(model, configuration=configuration))
    assert _nearest(outcome) == (action, steps)
