"""Whatever a driver answers, a judge gives a verdict: it never fails itself."""

import random

import pytest

from support import seeds
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.suite import AnySuite, Scenario
from wheelproof_spec.components.registry import served_components, suites

pytestmark = pytest.mark.slow

_FAULTY_ANSWERS = seeds.runs(3, hunted=10)
_FIRST = seeds.seed(0)
_SCENARIOS = [
    pytest.param(suite, scenario, id=f"{name}: {scenario.name}")
    for name, suite in suites().items()
    for scenario in suite.scenarios()
    if len(scenario.calls) < 100
]


def _faulty(value: object, chance: random.Random) -> object:
    """Return a value of the same type that is another one, mostly."""
    match value:
        case bool():
            return not value
        case int():
            return value + chance.choice((-1, 1, 1_000))
        case str():
            return chance.choice(("nobody", "a", "b1", value))
        case list():
            items: list[object] = [*value]
            ways: tuple[list[object], ...] = (
                [],
                items * 2,
                items[::-1],
                [_faulty(item, chance) for item in items],
            )
            return chance.choice(ways)
        case dict():
            fields: dict[object, object] = {**value}
            chosen = chance.choice([*fields, "nobody"])
            unheard_of = chance.choice((False, "buffer", "closed"))
            fields[chosen] = _faulty(fields.get(chosen, unheard_of), chance)
            return fields
        case _:
            return value


def _judged(suite: AnySuite, scenario: Scenario[Request], place: int, seed: int) -> None:
    served = next(one for one in served_components() if one.name == suite.definition.name)
    wire, judge = DrivenWire(suite.definition), suite.judge(served.profile, Tally())
    chance = random.Random(seed)
    for number, fixed in enumerate(scenario.calls):
        call = judge.as_possible(fixed)
        if call is None:
            continue
        try:
            fields = served.answer(call.name_on_the_wire(), dict(call.fields()))
            if number == place and fields:
                name = chance.choice(list(fields))
                fields = {**fields, name: _faulty(fields[name], chance)}
            violation = judge.judge(call, wire.parse_answer(fields, call))
        except RefusedError as refusal:
            violation = judge.judge_refusal(call, refusal)
        except MalformedError:
            return
        if violation is not None:
            return


@pytest.mark.campaign
@pytest.mark.parametrize(("suite", "scenario"), _SCENARIOS)
def test_a_judge_survives_every_answer(suite: AnySuite, scenario: Scenario[Request]) -> None:
    chance = random.Random(f"{scenario.name} {_FIRST}")
    for seed in range(_FIRST, _FIRST + _FAULTY_ANSWERS):
        _judged(suite, scenario, chance.randrange(1, len(scenario.calls)), seed)
