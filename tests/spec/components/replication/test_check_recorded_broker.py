"""Recorded run by run, the reference's broker passes, and each known bug is seen."""

from collections.abc import Callable
from functools import partial

import pytest

from support.agreement.small_histories import Line, history_of
from wheelproof.clock import ManualClock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Scenario
from wheelproof_explore.result import Exploration
from wheelproof_lab.bugs.known_bug import Sight
from wheelproof_lab.bugs.replication import BUGS, ReplicationBug
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.purgatory.on_timer import controlled_thread
from wheelproof_spec.app.recorded import history_checker
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.replication.component import ALL_ACKS, WHEELPROOF, ReplicationConfig
from wheelproof_spec.components.replication.recording.calls import RecordedBroker
from wheelproof_spec.components.replication.reference import ReferenceBroker
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

pytestmark = pytest.mark.slow

_CONFIG = ReplicationConfig(segment_bytes=24)
_WAIT_MS = 10
_NEVER = 10**9

Threads = dict[str, Callable[[], None]]
MakeThreads = Callable[[RecordedBroker], Threads]


def _roll(broker: RecordedBroker) -> Threads:
    """A consumer waits for more than a segment has, and the log rolls."""
    broker.lose_and_lead_again("a", 0, ())

    def consume() -> None:
        broker.consume(("a",), _WAIT_MS, 30)

    def produce() -> None:
        for _ in range(3):
            broker.produce(("a",), 1, 0)

    return {"consume": consume, "produce": produce}


def _stall(broker: RecordedBroker) -> Threads:
    """A producer stalls while the broker loses the partition, its log, and leads again."""

    def lose() -> None:
        broker.lose_and_lead_again("a", 1, ())
        broker.produce(("a",), 1, 0)

    return {"produce": partial(broker.produce, ("a",), ALL_ACKS, _WAIT_MS), "leader": lose}


_WORLDS = {
    "KAFKA-19567/fetch": (_roll, "Replication.AnsweredWhenItCanBe"),
    "silent-append": (_roll, "Replication.AnsweredWhenItCanBe"),
    "epoch-blind-acknowledgement": (_stall, "Replication.AnswerIsRight"),
}


def _world(make_threads: MakeThreads, manager_class: type[ReplicaManager]) -> Scenario:
    recorder = LoadRecorder("h", controlled_thread)
    broker = RecordedBroker(
        ReferenceBroker(_CONFIG, ManualClock(0), DeferredExecutor(), manager_class), recorder
    )
    broker.lead("a", (2,))
    threads = make_threads(broker)

    def check() -> None:
        lines = [Line(op.process, op.type, op.f, op.value) for op in recorder.take()]
        history = history_of("replication", _CONFIG, lines, quiet=True, clock="virtual")
        checker = history_checker(history.header, WHEELPROOF)
        for op in history.ops:
            checker.feed(op)
        checker.feed(history.end)
        verdict = checker.finish()
        assert verdict.verdict is Verdict.PASS, str(verdict.violation)

    return Scenario(threads=threads, check=check)


def _explored(
    make_threads: MakeThreads, manager_class: type[ReplicaManager], max_runs: int
) -> Exploration:
    options = Options(max_runs=max_runs, shrink=False, check_every=_NEVER)
    return explore(program("recorded", partial(_world, make_threads, manager_class)), options)


@pytest.mark.parametrize("make_threads", [_roll, _stall], ids=lambda make: make.__name__)
def test_a_right_broker_passes(make_threads: MakeThreads) -> None:
    found = _explored(make_threads, ReplicaManager, 60)
    assert found.counterexample is None, found.details()


@pytest.mark.parametrize(
    "bug", [bug for bug in BUGS if Sight.RECORDED in bug.seen], ids=lambda bug: bug.id
)
def test_a_known_bug_is_seen(bug: ReplicationBug) -> None:
    make_threads, rule = _WORLDS[bug.id]
    found = _explored(make_threads, bug.manager_class, 5_000)
    assert found.counterexample is not None
    assert rule in found.counterexample.failure.message
