"""Named cases, and drawn ones."""

import random
from collections.abc import Sequence

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import CaseSpace, DrawnCase, Scenario, Suite, any_suite

from .component import DEFINITION, CounterCall, CounterConfig, Increment, Look
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


def _drawn(profile: str, tally: Tally) -> tuple[CounterCases, Oracle]:
    return CounterCases(), Oracle(profile, tally)


COUNTER = Suite(definition=DEFINITION, judge=Oracle, scenarios=_scenarios, drawn=_drawn)
SUITE = any_suite(COUNTER)
