"""Named cases, and drawn ones."""

import random
from collections.abc import Sequence

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.port import SendingPort
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan, Scenario, Suite, any_suite
from wheelproof_spec.engines.drive.drawn_cases import CaseSpace, DrawnCase, run_drawn_cases

from .component import (
    DEFINITION,
    CounterCall,
    CounterConfig,
    CounterObservation,
    Increment,
    Look,
)
from .oracle import Oracle


class CounterCases(CaseSpace[CounterCall]):
    def draw(self, chance: random.Random) -> DrawnCase:
        steps = tuple((chance.choice(("increment", "increment", "look")), ()) for _ in range(10))
        return DrawnCase(config=(chance.randrange(6),), steps=steps)

    def calls(self, case: DrawnCase) -> Sequence[CounterCall]:
        reset = Reset(config=CounterConfig(bound=abs(case.config[0]) + 1))
        return (reset, *(Increment() if kind == "increment" else Look() for kind, _ in case.steps))


def _scenarios() -> tuple[Scenario[CounterCall], ...]:
    reset = Reset(config=CounterConfig(bound=1))
    full = (reset, Increment(), Increment(), Look())
    return (Scenario(name="nothing is counted beyond the bound", calls=full),)


def _fuzz(
    port: SendingPort[CounterCall, CounterObservation],
    profile: str,
    tally: Tally,
    plan: FuzzPlan,
) -> FuzzReport:
    judge = Oracle(profile, tally)
    return run_drawn_cases("counter, driven", CounterCases(), port, judge, plan)


COUNTER = Suite(definition=DEFINITION, judge=Oracle, scenarios=_scenarios, fuzz=_fuzz)
SUITE = any_suite(COUNTER)
