"""Strange accumulators that keep the contract pass, and wrong ones still fail."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from wheelproof.producer import ProducerBatch, Record, RecordAccumulator
from wheelproof.units import Millis
from wheelproof_lab.bugs.accumulator import BUGS
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import Port, UnjudgeableError, first_violation, judge_call
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.accumulator.calls import (
    EXPIRED,
    Append,
    Callback,
    Drain,
    Expire,
    OfBatch,
)
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR, SUITE
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

pytestmark = pytest.mark.slow

_SIZES, _TIME = AccumulatorCapability.KAFKA_SIZES, AccumulatorCapability.EXACT_TIME


class LonelyBatch(ProducerBatch):
    """Has room for one record."""

    __slots__ = ()

    def has_room_for(self, record: Record) -> bool:
        """Tell whether it is empty."""
        return not self.thunks and super().has_room_for(record)


class LonelyAccumulator(RecordAccumulator):
    """Each record in a batch of its own, whatever room there is."""

    _batch_class = LonelyBatch


class LateAccumulator(RecordAccumulator):
    """Reckons in seconds, as floats: what is due at a millisecond may be due just after it."""

    def expired_batches(self, now_ms: int) -> list[ProducerBatch]:
        """Return what is surely late."""
        return super().expired_batches(Millis(now_ms - 1))


class TwoLateAccumulator(RecordAccumulator):
    """Is late by more than a millisecond."""

    def expired_batches(self, now_ms: int) -> list[ProducerBatch]:
        """Return what has been late for more than a millisecond."""
        return super().expired_batches(Millis(now_ms - 2))


class Odd:
    """Another port's accumulator, which names its batches otherwise, or tells less."""

    def __init__(
        self,
        port: AccumulatorPort,
        *,
        named: str = "",
        flags: bool = True,
        drains: Callable[[Drain], Drain] = lambda call: call,
    ) -> None:
        self._port = port
        self._named = named
        self._flags = flags
        self._drains = drains

    def perform(self, call: AccumulatorCall) -> AccumulatorObservation:
        if isinstance(call, Drain):
            call = self._drains(call)
        if isinstance(call, OfBatch) and self._named:
            call = replace(call, batch=call.batch.removesuffix(self._named))
        seen = self._port.perform(call)
        if not self._flags:
            told = (
                replace(one, batch_is_full=ABSENT, new_batch_created=ABSENT)
                for one in seen.appended
            )
            seen = replace(seen, appended=tuple(told))
        batches = (replace(one, batch=one.batch + self._named) for one in seen.batches)
        return replace(seen, batches=tuple(batches), overwritten=None)


def _reference() -> AccumulatorPort:
    return ReferenceAccumulatorPort()


_RIGHT: dict[str, tuple[Callable[[], AccumulatorPort], tuple[str, ...]]] = {
    "one record a batch": (lambda: ReferenceAccumulatorPort(LonelyAccumulator), (_SIZES,)),
    "time in floats": (lambda: ReferenceAccumulatorPort(LateAccumulator), (_TIME,)),
    "names of its own": (lambda: Odd(_reference(), named="-batch"), ()),
    "no word of room": (lambda: Odd(_reference(), flags=False), ()),
}


def _broken(
    port: Port[AccumulatorCall, AccumulatorObservation], *undeclared: str
) -> tuple[set[str], Tally]:
    """Return the clauses that named cases, or else random ones, show to be broken."""
    tally = Tally(limits=undeclared)
    found: set[str] = set()
    for scenario in ACCUMULATOR.scenarios():
        asked: list[Request] = list(scenario.calls)
        if not any(map(tally.skips, SUITE.asks_for(asked))):
            violation = first_violation(BatchLedger(WHEELPROOF, tally), port, scenario.calls)
            found |= set() if violation is None else {violation.rule}
    if found:
        return found, tally
    report = fuzz_with_one_thread(
        ACCUMULATOR, port, WHEELPROOF, FuzzPlan(cases=30, seed=1), tally=tally
    )
    return set() if report.failure is None else {report.failure.violation.rule}, tally


@pytest.mark.parametrize("name", _RIGHT)
def test_a_strange_accumulator_that_is_right_passes(name: str) -> None:
    port, undeclared = _RIGHT[name]
    broken, tally = _broken(port(), *undeclared)
    assert not broken
    assert all(tally.skipped.values()), "what is left open is counted"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("one record a batch", AccumulatorClause.APPEND_FINDS_ROOM),
        ("time in floats", AccumulatorClause.EXPIRES_IN_TIME),
    ],
)
def test_who_declares_what_it_has_not_fails(name: str, rule: AccumulatorClause) -> None:
    port, _ = _RIGHT[name]
    broken, _ = _broken(port())
    assert rule in broken


@pytest.mark.parametrize("partitions", [(1, 2, 0), (2, 1, 0), (0, 1), (1,), (2,)])
def test_a_drain_begins_anywhere_and_stops_at_the_first_that_does_not_fit(
    partitions: tuple[int, ...],
) -> None:
    assert _drained(139, partitions) is None


@pytest.mark.parametrize(
    ("max_size", "partitions"), [(139, ()), (1_000, (0, 1)), (1_000, (2,)), (1_000, ())]
)
def test_a_drain_takes_whatever_fits(max_size: int, partitions: tuple[int, ...]) -> None:
    assert _drained(1_000, (1, 2, 0)) is None
    assert _drained(max_size, partitions) is AccumulatorClause.DRAINS_THE_HEADS


def _drained(max_size: int, partitions: tuple[int, ...]) -> str | None:
    """Drain three heads, of which two fit in 139 bytes; return what is wrong with it.

    The port drains these partitions, in this order.
    """
    port = Odd(_reference(), drains=lambda call: replace(call, partitions=partitions))
    judge = BatchLedger(WHEELPROOF, Tally())
    calls: list[AccumulatorCall] = [
        Reset(config=AccumulatorConfig(total_memory=360, batch_size=90)),
        Append(record="r0", partition=0, size=3, max_time_to_block_ms=0),
        Append(record="r1", partition=1, size=0, max_time_to_block_ms=0),
        Append(record="r2", partition=2, size=20, max_time_to_block_ms=0),
    ]
    for call in calls:
        assert judge_call(judge, port, call) is None
    violation = judge_call(judge, port, Drain(node=0, partitions=(0, 1, 2), max_size=max_size))
    return None if violation is None else violation.rule


def test_two_milliseconds_late_is_late_for_everybody() -> None:
    broken, _ = _broken(ReferenceAccumulatorPort(TwoLateAccumulator), _TIME)
    assert broken == {AccumulatorClause.EXPIRES_IN_TIME}


def test_what_expires_a_millisecond_early_is_early_for_everybody() -> None:
    judge, port = BatchLedger(WHEELPROOF, Tally(limits=(_TIME,))), ReferenceAccumulatorPort()
    config = AccumulatorConfig(total_memory=91, batch_size=91, delivery_timeout_ms=50)
    append = Append(record="a", partition=0, size=3, max_time_to_block_ms=0)
    for call in (Reset(config=config), append, Advance(to_ms=49)):
        assert judge_call(judge, port, call) is None
    early = Callback(record="a", offset=None, error=EXPIRED)
    violation = judge.judge(Expire(), replace(port.perform(Expire()), called_back=(early,)))
    assert violation is not None
    assert violation.rule == AccumulatorClause.EXPIRES_IN_TIME


@pytest.mark.parametrize("bug", [bug.id for bug in BUGS])
def test_a_known_bug_is_found_in_an_accumulator_of_other_sizes(bug: str) -> None:
    unseen = {"KAFKA-9312", "KAFKA-8202", "late-behind-a-retry"}
    unseen |= {"callback-ends-batch", "closed-unseen"}
    broken, _ = _broken(ReferenceAccumulatorPort(find_bug(BUGS, bug).accumulator_class), _SIZES)
    assert bool(broken) is (bug not in unseen)


def test_nobody_guesses_where_batches_end() -> None:
    judge = BatchLedger(WHEELPROOF, Tally(limits=(_SIZES,)))
    port: AccumulatorPort = Odd(_reference(), flags=False)
    config = AccumulatorConfig(total_memory=910, batch_size=91)
    first = Append(record="a", partition=0, size=3, max_time_to_block_ms=0)
    for call in (Reset(config=config), first):
        assert judge_call(judge, port, call) is None
    with pytest.raises(UnjudgeableError, match="neither declares kafka_sizes nor tells"):
        judge_call(judge, port, replace(first, record="b"))
