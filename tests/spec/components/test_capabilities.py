"""What a driver does not declare is not asked of it, in no named case and in no random one."""

from collections.abc import Iterator, Sequence

import pytest

from support.checkout import ROOT
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import AnyDefinition, Capability, Request
from wheelproof_spec.base.port import BrokenDownError, RefusedError, first_violation, outcome_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import AnySuite, FuzzPlan
from wheelproof_spec.components.accumulator.component import AccumulatorCapability
from wheelproof_spec.components.registry import served_components, suites
from wheelproof_spec.drive.drawn_cases import fuzz
from wheelproof_spec.drive.named_cases import lacking

pytestmark = pytest.mark.slow

_SERVED = {served.name: served for served in served_components()}
_OPTIONAL = [
    pytest.param(suite, capability, id=f"{name}-{capability}")
    for name, suite in suites().items()
    for capability in suite.definition.optional or ()
    # Without `ready` a drain leaves what lingers, and the reference's does not:
    # test_accumulator_capabilities.py has one that does.
    if capability is not AccumulatorCapability.READY
]


class Listening:
    """The reference, and every case that is asked of it."""

    def __init__(self, definition: AnyDefinition) -> None:
        self._served = _SERVED[definition.name]
        self._wire = DrivenWire(definition)
        self.cases: list[list[Request]] = []

    def perform(self, call: Request) -> object:
        if call.name_on_the_wire() == "reset":
            self.cases.append([])
        self.cases[-1].append(call)
        fields = self._served.answer(call.name_on_the_wire(), dict(call.fields()))
        return self._wire.parse_answer(fields, call)

    def perform_all(
        self, calls: Sequence[Request]
    ) -> Iterator[object | RefusedError | BrokenDownError]:
        return (outcome_of(self, call) for call in calls)


@pytest.mark.parametrize(("suite", "capability"), _OPTIONAL)
def test_nothing_is_asked_that_is_not_declared(suite: AnySuite, capability: Capability) -> None:
    profile, port = _SERVED[suite.definition.name].profile, Listening(suite.definition)
    tally = Tally(limits=(capability,))
    applicable = [one for one in suite.scenarios() if not lacking(suite, one, tally)]
    for scenario in applicable:
        assert first_violation(suite.judge(profile, tally), port, scenario.calls) is None
    report = fuzz(suite, port, profile, tally, FuzzPlan(cases=15, seed=1, repeat=""))
    assert report.failure is None
    assert len(port.cases) > len(applicable) > 0
    assert not [case for case in port.cases if capability in suite.asks_for(case)]


@pytest.mark.parametrize("name", suites())
def test_the_reference_declares_all_there_is(name: str) -> None:
    assert suites()[name].definition.undeclared(_SERVED[name].capabilities) == ()


def test_the_guide_for_adapters_names_every_capability() -> None:
    guide = (ROOT / "adapters" / "README.md").read_text(encoding="utf-8")
    known = {str(name) for suite in suites().values() for name in suite.definition.optional or ()}
    assert {name for name in known if f"| `{name}` |" not in guide} == set()
