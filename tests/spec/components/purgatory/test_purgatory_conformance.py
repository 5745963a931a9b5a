"""The purgatory through the driver protocol: every call and answer, and the reference driven."""

import shlex
import sys

import pytest

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.port import RefusedError
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components.purgatory.cases import SUITE
from wheelproof_spec.components.purgatory.component import (
    DEFINITION,
    AskGauges,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryCall,
    PurgatoryConfig,
    PurgatoryObservation,
    SetCondition,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.driver.messages import format_request, parse_request
from wheelproof_spec.drive.plan import ConformancePlan

_REFERENCE = shlex.join([sys.executable, "-m", "wheelproof_spec.app.reference_driver"])
_WIRE = DrivenWire(DEFINITION)
_SEEN = PurgatoryObservation(on_complete=("a", "b"), on_expiration=("b",))
_WATCH = TryCompleteElseWatch(operation="a", delay_ms=5, keys=("x", "y"), conditions=("p",))
_EXCHANGES: tuple[tuple[PurgatoryCall, PurgatoryObservation], ...] = (
    (Reset(config=PurgatoryConfig(purge_interval=7)), PurgatoryObservation()),
    (_WATCH, PurgatoryObservation(completed=False)),
    (SetCondition(condition="p"), PurgatoryObservation()),
    (CheckAndComplete(key="x"), PurgatoryObservation(on_complete=("a",), count=1)),
    (
        ForceComplete(operation="a"),
        PurgatoryObservation(on_complete=("a",), on_expiration=("b",), completed=True),
    ),
    (CancelForKey(key="x"), PurgatoryObservation(cancelled=("a",))),
    (Advance(to_ms=9), _SEEN),
    (AskGauges(), PurgatoryObservation(watched=2, num_delayed=1, num_keys=1)),
)


@pytest.mark.parametrize(("call", "seen"), _EXCHANGES, ids=lambda value: type(value).__name__)
def test_calls_and_answers_survive_the_wire(
    call: PurgatoryCall, seen: PurgatoryObservation
) -> None:
    _, operation, fields = parse_request(format_request(1, call))
    assert _WIRE.parse_call(operation, fields) == call
    assert _WIRE.parse_answer(_WIRE.answer(call, seen), call) == seen


def test_what_is_no_call_or_no_answer_is_refused() -> None:
    with pytest.raises(MalformedError):
        _WIRE.parse_call("add", {"args": {"task": "a"}})
    with pytest.raises(MalformedError):
        _WIRE.parse_call("try_complete_else_watch", {"args": {"operation": "a"}})
    with pytest.raises(MalformedError):
        _WIRE.parse_answer({"on_complete": []}, CheckAndComplete(key="x"))


def test_an_operation_that_was_never_handed_in_is_refused() -> None:
    with pytest.raises(RefusedError, match="UnknownOperation"):
        ReferencePurgatoryPort().perform(ForceComplete(operation="nobody"))


@pytest.mark.slow
def test_the_reference_keeps_its_contract_and_not_that_of_kafka() -> None:
    plan = ConformancePlan(driver=_REFERENCE, profile="wheelproof", cases=30)
    result = conform(SUITE, plan)
    assert result.verdict is Verdict.PASS
    assert all(count.checked for count in result.clauses)
    kafka = ConformancePlan(driver=_REFERENCE, profile="kafka", cases=100)
    assert conform(SUITE, kafka).verdict is Verdict.FAIL
