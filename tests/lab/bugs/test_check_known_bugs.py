"""Every known bug is seen from outside, or it says why it cannot be, and that is so."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

import wheelproof
from wheelproof.producer import BufferPool, RecordAccumulator
from wheelproof.replication import ReplicaManager
from wheelproof.timer import SystemTimer
from wheelproof_explore.explorer import explore
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.accumulator import AccumulatorBug
from wheelproof_lab.bugs.buffer_pool import BufferPoolBug
from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.bugs.known_bug import KnownBug, Sight
from wheelproof_lab.bugs.purgatory import PurgatoryBug
from wheelproof_lab.bugs.replication import ReplicationBug
from wheelproof_lab.bugs.timer import BUGS as TIMER_BUGS
from wheelproof_lab.bugs.timer import TimerBug
from wheelproof_lab.worlds.timer.system_timer import timer_programs
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import CaseJudge, Port, first_violation
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import Scenario
from wheelproof_spec.components.accumulator.cases import ACCUMULATOR
from wheelproof_spec.components.accumulator.component import WHEELPROOF
from wheelproof_spec.components.accumulator.oracle.ledger import BatchLedger
from wheelproof_spec.components.accumulator.reference import ReferenceAccumulatorPort
from wheelproof_spec.components.buffer_pool.cases import BUFFER_POOL
from wheelproof_spec.components.buffer_pool.component import LONGEST_WAITING_FIRST
from wheelproof_spec.components.buffer_pool.oracle import PoolOracle
from wheelproof_spec.components.buffer_pool.reference import ReferencePoolPort
from wheelproof_spec.components.purgatory.cases import PURGATORY
from wheelproof_spec.components.purgatory.oracle import PurgatoryOracle
from wheelproof_spec.components.purgatory.reference import ReferencePurgatoryPort
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.oracle import ReplicationLedger
from wheelproof_spec.components.replication.reference import ReferenceReplicationPort
from wheelproof_spec.components.timer.cases import TIMER
from wheelproof_spec.components.timer.machine import BoundedReferencePort
from wheelproof_spec.components.timer.model import TimerOracle

pytestmark = pytest.mark.slow

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")

_DRIVEN = [bug for bug in bugs() if Sight.DRIVEN in bug.seen]


@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: bug.id)
def test_a_bug_is_seen_or_says_why_not(bug: KnownBug) -> None:
    assert bool(bug.seen) != bool(bug.unseen)


@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: bug.id)
def test_what_a_bug_replaces_is_named_beside_the_bug(bug: KnownBug) -> None:
    assert bool(bug.seams()) == bool(bug.replaced()) or bug.id == "KAFKA-19567"


def test_the_reference_does_not_speak_of_known_bugs() -> None:
    for file in Path(wheelproof.__file__).parent.rglob("*.py"):
        assert "known bug" not in file.read_text(encoding="utf-8"), file


@pytest.mark.parametrize("bug", _DRIVEN, ids=lambda bug: bug.id)
def test_a_driven_case_shows_the_bug_and_passes_on_the_reference(bug: KnownBug) -> None:
    for case in _cases(bug):
        if case(bug) is not None:
            assert case(None) is None
            return
    pytest.fail("no driven case shows it")


_HIDDEN = [bug for bug in TIMER_BUGS if bug.unseen and bug.timer_class is not SystemTimer]


@pytest.mark.parametrize("bug", _HIDDEN, ids=lambda bug: bug.id)
def test_what_no_timer_shows_is_shown_by_no_program_of_the_timer(bug: TimerBug) -> None:
    for program in timer_programs(bug.timer_class)[0]:
        found = explore(program)
        assert found.verdict() is Verdict.PASS, found.details()


_Case = Callable[[KnownBug | None], Violation | None]
"""Drives what has the bug, or the reference, and returns the first broken rule."""


def _cases(bug: KnownBug) -> Iterator[_Case]:
    match bug.component:
        case "timer":
            yield from _cases_of(TimerOracle, _timer, "kafka", TIMER.scenarios())
        case "purgatory":
            yield from _cases_of(PurgatoryOracle, _purgatory, "wheelproof", PURGATORY.scenarios())
        case "buffer_pool":
            yield from _cases_of(PoolOracle, _pool, LONGEST_WAITING_FIRST, BUFFER_POOL.scenarios())
        case "accumulator":
            yield from _cases_of(BatchLedger, _accumulator, WHEELPROOF, ACCUMULATOR.scenarios())
        case _:
            yield from _cases_of(ReplicationLedger, _broker, WHEELPROOF, REPLICATION.scenarios())


def _cases_of(
    judge: Callable[[str, Tally], CaseJudge[CallT, SeenT]],
    make: Callable[[KnownBug | None], Port[CallT, SeenT]],
    profile: str,
    scenarios: Sequence[Scenario[CallT]],
) -> Iterator[_Case]:
    for scenario in scenarios:
        yield partial(_drive, judge, make, profile, scenario)


def _drive(
    judge: Callable[[str, Tally], CaseJudge[CallT, SeenT]],
    make: Callable[[KnownBug | None], Port[CallT, SeenT]],
    profile: str,
    scenario: Scenario[CallT],
    bug: KnownBug | None,
) -> Violation | None:
    port = make(bug)
    try:
        return first_violation(judge(profile, Tally()), port, scenario.calls)
    finally:
        if isinstance(port, ReferencePoolPort | ReferenceAccumulatorPort):
            port.close()


def _timer(bug: KnownBug | None) -> BoundedReferencePort:
    return BoundedReferencePort(bug.timer_class if isinstance(bug, TimerBug) else SystemTimer)


def _purgatory(bug: KnownBug | None) -> ReferencePurgatoryPort:
    if isinstance(bug, PurgatoryBug):
        return ReferencePurgatoryPort(bug.purgatory_class, bug.discipline, bug.holds)
    return ReferencePurgatoryPort()


def _pool(bug: KnownBug | None) -> ReferencePoolPort:
    return ReferencePoolPort(bug.pool_class if isinstance(bug, BufferPoolBug) else BufferPool)


def _accumulator(bug: KnownBug | None) -> ReferenceAccumulatorPort:
    return ReferenceAccumulatorPort(
        bug.accumulator_class if isinstance(bug, AccumulatorBug) else RecordAccumulator
    )


def _broker(bug: KnownBug | None) -> ReferenceReplicationPort:
    return ReferenceReplicationPort(
        bug.manager_class if isinstance(bug, ReplicationBug) else ReplicaManager
    )
