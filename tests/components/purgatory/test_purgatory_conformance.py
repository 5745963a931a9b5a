"""The purgatory through the driver protocol: every call and answer, and the reference driven."""

import shlex
import sys

import pytest
from wheelproof_spec.components.purgatory.calls import (
    Advance,
    AskGauges,
    Cancel,
    Check,
    Force,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    Reset,
    SetCondition,
    Watch,
    parse_purgatory_answer,
    parse_purgatory_call,
    purgatory_answer,
)
from wheelproof_spec.components.purgatory.contract import Callbacks, Gauges
from wheelproof_spec.components.purgatory.suite import PurgatorySuite

from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.engines.drive.conformance import ConformancePlan, conform
from wheelproof_spec.engines.drive.driver.messages import format_request, parse_request

_REFERENCE = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
_CALLBACKS = Callbacks(completed=("a", "b"), expired=("b",))
_WATCH = Watch(operation_id="a", delay_ms=5, keys=("x", "y"), conditions=("p",))
_EXCHANGES: tuple[tuple[PurgatoryCall, PurgatoryObservation], ...] = (
    (Reset(config=PurgatoryConfig(purge_interval=7)), PurgatoryObservation()),
    (_WATCH, PurgatoryObservation(done=False)),
    (SetCondition(condition="p"), PurgatoryObservation()),
    (Check(key="x"), PurgatoryObservation(callbacks=_CALLBACKS, count=1)),
    (Force(operation_id="a"), PurgatoryObservation(callbacks=_CALLBACKS, done=True)),
    (Cancel(key="x"), PurgatoryObservation(cancelled=("a",))),
    (Advance(to_ms=9), PurgatoryObservation(callbacks=_CALLBACKS)),
    (AskGauges(), PurgatoryObservation(gauges=Gauges(watched=2, delayed=1, keys=1))),
)


@pytest.mark.parametrize(("call", "seen"), _EXCHANGES, ids=lambda one: type(one).__name__)
def test_calls_and_answers_survive_the_wire(
    call: PurgatoryCall, seen: PurgatoryObservation
) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert parse_purgatory_call(operation, fields) == call
    assert parse_purgatory_answer(purgatory_answer(call, seen), call) == seen


def test_what_is_no_call_or_no_answer_is_refused() -> None:
    with pytest.raises(MalformedError):
        parse_purgatory_call("add", {"args": {"task": "a"}})
    with pytest.raises(MalformedError):
        parse_purgatory_call("watch", {"args": {"operation_id": "a"}})
    with pytest.raises(MalformedError):
        parse_purgatory_answer({"completed": []}, Check(key="x"))


def test_an_operation_that_was_never_handed_in_is_refused() -> None:
    with pytest.raises(RefusedError, match="UnknownOperation"):
        ReferencePurgatoryPort().perform(Force(operation_id="nobody"))


@pytest.mark.slow
def test_the_reference_keeps_its_contract_and_not_that_of_kafka() -> None:
    plan = ConformancePlan(driver=_REFERENCE, profile="wheelproof", cases=30)
    result = conform(PurgatorySuite(), plan)
    assert result.verdict is Verdict.PASS
    assert all(count.checked for count in result.clauses)
    kafka = ConformancePlan(driver=_REFERENCE, profile="kafka", cases=100)
    assert conform(PurgatorySuite(), kafka).verdict is Verdict.FAIL
