"""Named cases, and drawn ones."""

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, Scenario, Suite, any_suite

from .component import DEFINITION, CounterCall, CounterConfig, Increment, Look
from .oracle import Oracle
from .work import driven_work


def _scenarios() -> tuple[Scenario[CounterCall], ...]:
    reset = Reset(config=CounterConfig(bound=1))
    full = (reset, Increment(), Increment(), Look())
    return (Scenario(name="nothing is counted beyond the bound", calls=full),)


def _drawn(profile: str, tally: Tally) -> tuple[CaseSpace[CounterCall], Oracle]:
    return driven_work(), Oracle(profile, tally)


COUNTER = Suite(definition=DEFINITION, judge=Oracle, scenarios=_scenarios, drawn=_drawn)
SUITE = any_suite(COUNTER)
