"""Accumulators that lack a call, or wait where others do not: what they have is judged."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.port import first_violation, judge_call
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.accumulator.calls import (
    Append,
    AppendedRecord,
    AppendRefusal,
    Drain,
    DrainedBatch,
    Expire,
    Ready,
    Reenqueue,
    Split,
)
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import (
    WHEELPROOF,
    AccumulatorCall,
    AccumulatorCapability,
    AccumulatorClause,
    AccumulatorConfig,
    AccumulatorObservation,
    AccumulatorPort,
)
from wheelproof_spec.components.accumulator.oracle.ledger import BatchLedger
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.fuzz.one_thread import fuzz_with_one_thread

_CALLS = (
    AccumulatorCapability.READY,
    AccumulatorCapability.MAX_SIZE,
    AccumulatorCapability.EXPIRE,
    AccumulatorCapability.REENQUEUE,
    AccumulatorCapability.SPLIT,
)
_LACKS = (AccumulatorCapability.MANY_BATCHES, AccumulatorCapability.MEMORY)
_ENOUGH = 2**20


class Plain:
    """An accumulator with appends, drains and responses; `leaves` tells what a drain leaves."""

    def __init__(self, leaves: Callable[[AccumulatorPort, int], bool]) -> None:
        self._port: AccumulatorPort = ReferenceAccumulatorPort()
        self._leaves = leaves

    def perform(self, call: AccumulatorCall) -> AccumulatorObservation:
        assert not isinstance(call, Ready | Expire | Reenqueue | Split), "nobody declared it"
        if isinstance(call, Drain):
            assert call.max_size >= _ENOUGH
            left = tuple(
                one
                for one in call.partitions
                if isinstance(one, int) and not self._leaves(self._port, one)
            )
            call = Drain(node=call.node, partitions=left, max_size=call.max_size)
        return self._port.perform(call)


def _lingers(port: AccumulatorPort, partition: int) -> bool:
    return not port.perform(Ready(leaders={partition: 0})).ready_nodes


def _nothing(port: AccumulatorPort, partition: int) -> bool:
    del port, partition
    return False


def _partition_1(port: AccumulatorPort, partition: int) -> bool:
    return partition == 1 or _lingers(port, partition)


@pytest.mark.parametrize(
    ("leaves", "broken"),
    [
        (_lingers, None),
        (_nothing, AccumulatorClause.DRAINS_THE_HEADS),
        (_partition_1, AccumulatorClause.DRAINS_THE_HEADS),
    ],
    ids=["what lingers", "nothing", "what is ready"],
)
def test_a_drain_that_nobody_prepares_leaves_what_lingers_and_nothing_else(
    leaves: Callable[[AccumulatorPort, int], bool], broken: AccumulatorClause | None
) -> None:
    tally = Tally(limits=_CALLS)
    plan = FuzzPlan(cases=30, seed=1)
    report = fuzz_with_one_thread(ACCUMULATOR, Plain(leaves), WHEELPROOF, plan, tally=tally)
    rule = None if report.failure is None else report.failure.violation.rule
    assert rule == broken


def test_named_cases_without_these_calls_pass_and_some_are_left() -> None:
    left = [
        scenario
        for scenario in ACCUMULATOR.scenarios()
        if not set(ACCUMULATOR.asks_for(scenario.calls)) & set(_CALLS)
    ]
    assert len(left) > 3
    for scenario in left:
        judge = BatchLedger(WHEELPROOF, Tally(limits=_CALLS))
        assert first_violation(judge, Plain(_lingers), scenario.calls) is None


class Told:
    """A port that answers what it was told to."""

    def __init__(self) -> None:
        self.seen = AccumulatorObservation()

    def perform(self, call: AccumulatorCall) -> AccumulatorObservation:
        del call
        return self.seen


_RESET = Reset(config=AccumulatorConfig(total_memory=9_100, batch_size=91))
_WAITS = AccumulatorObservation()


def _append(record: str, partition: int = 0) -> Append:
    return Append(record=record, partition=partition, size=20, max_time_to_block_ms=50)


def _accepted(record: str) -> AccumulatorObservation:
    return AccumulatorObservation(appended=(AppendedRecord(record=record),))


_DRAIN = Drain(node=0, partitions=(0,), max_size=_ENOUGH)
_TAKEN = AccumulatorObservation(batches=(DrainedBatch(batch="b1", partition=0, records=("a",)),))
_LATE = AccumulatorObservation(refused={"b": AppendRefusal.EXHAUSTED})
Step = tuple[AccumulatorCall, AccumulatorObservation]
_BEHIND: tuple[Step, ...] = ((_append("a"), _accepted("a")), (_append("b"), _WAITS))


@pytest.mark.parametrize(
    ("steps", "broken"),
    [
        (_BEHIND, None),
        ((*_BEHIND, (Advance(to_ms=50), _LATE)), None),
        ((*_BEHIND, (_DRAIN, replace(_TAKEN, appended=_accepted("b").appended))), None),
        ((*_BEHIND, (_DRAIN, _TAKEN)), AccumulatorClause.NO_APPEND_WAITS_IN_VAIN),
        ((*_BEHIND, (Advance(to_ms=50), _WAITS)), AccumulatorClause.APPEND_ENDS_FOR_A_REASON),
        ((*_BEHIND, (Advance(to_ms=40), _LATE)), AccumulatorClause.APPEND_ENDS_FOR_A_REASON),
        (
            (*_BEHIND, (_append("c", 1), _WAITS)),
            AccumulatorClause.NO_APPEND_WAITS_IN_VAIN,
        ),
        (((_append("a"), _WAITS),), AccumulatorClause.NO_APPEND_WAITS_IN_VAIN),
    ],
)
def test_an_append_may_wait_behind_a_full_batch_alone(
    steps: tuple[Step, ...], broken: AccumulatorClause | None
) -> None:
    assert _broken_by(steps, Tally(limits=_LACKS)) == broken


def test_who_declares_many_batches_does_not_wait_behind_one() -> None:
    assert _broken_by(_BEHIND, Tally()) == AccumulatorClause.NO_APPEND_WAITS_IN_VAIN


def test_what_is_left_to_wait_is_counted() -> None:
    tally = Tally(limits=_LACKS)
    assert _broken_by(_BEHIND, tally) is None
    assert tally.skipped[AccumulatorCapability.MANY_BATCHES] == 1


def _broken_by(steps: tuple[Step, ...], tally: Tally) -> str | None:
    judge, port = BatchLedger(WHEELPROOF, tally), Told()
    assert judge_call(judge, port, _RESET) is None
    violation = None
    for call, port.seen in steps:
        assert violation is None, "only the last step breaks a clause"
        violation = judge_call(judge, port, call)
    return None if violation is None else violation.rule
