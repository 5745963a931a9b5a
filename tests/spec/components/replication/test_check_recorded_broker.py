"""Recorded run by run, the reference's broker passes, and each known bug is seen.

Most programs expire nothing, or by recorded calls. Under load, and in a real broker, reapers do it,
on threads that make no recorded call: so the last programs have one, and a clock that it moves.
"""

from collections.abc import Callable
from functools import partial

import pytest

from support.agreement.small_histories import Line, history_of
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor
from wheelproof.units import Millis
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Scenario
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict as Passed
from wheelproof_lab.bugs.known_bug import Sight
from wheelproof_lab.bugs.replication import BUGS, ReplicationBug
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.purgatory.on_timer import controlled_thread
from wheelproof_lab.worlds.timer.system_timer import StandingClock
from wheelproof_spec.app.recorded import history_checker
from wheelproof_spec.base.calls import AdvanceClock
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.replication.clients import Clients
from wheelproof_spec.components.replication.component import ALL_ACKS, WHEELPROOF, ReplicationConfig
from wheelproof_spec.components.replication.work import (
    Consume,
    Lead,
    LoseAndLeadAgain,
    Produce,
    Replicate,
)
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

pytestmark = pytest.mark.slow

_CONFIG = ReplicationConfig(segment_bytes=24)
_WAIT_MS = 10
_NEVER = 10**9

Threads = dict[str, Callable[[], None]]
_APPEND = Produce(required_acks=1, timeout_ms=0, partitions=("a",))
_APPEND_TO_ALL = Produce(required_acks=ALL_ACKS, timeout_ms=_WAIT_MS, partitions=("a",))
_FOLLOW = Replicate(follower=2, partition="a")

MakeThreads = Callable[[Clients], Threads]


def _consume(*, min_bytes: int) -> Consume:
    return Consume(partitions=("a",), max_wait_ms=_WAIT_MS, min_bytes=min_bytes)


def _roll(broker: Clients) -> Threads:
    """A consumer waits for more than a segment has, and the log rolls."""
    broker.take(LoseAndLeadAgain(partition="a", records=0))

    def produce() -> None:
        for _ in range(3):
            broker.take(_APPEND)

    return {"consume": partial(broker.take, _consume(min_bytes=30)), "produce": produce}


def _stall(broker: Clients) -> Threads:
    """A producer stalls while the broker loses the partition, its log, and leads again."""

    def lose() -> None:
        broker.take(LoseAndLeadAgain(partition="a", records=1))
        broker.take(_APPEND)

    return {"produce": partial(broker.take, _APPEND_TO_ALL), "leader": lose}


_WORLDS = {
    "KAFKA-19567/fetch": (_roll, "Replication.AnsweredWhenItCanBe"),
    "silent-append": (_roll, "Replication.AnsweredWhenItCanBe"),
    "epoch-blind-acknowledgement": (_stall, "Replication.AnswerIsRight"),
}


def _world(make_threads: MakeThreads, manager_class: type[ReplicaManager]) -> Scenario:
    recorder = LoadRecorder("h", controlled_thread)
    broker = Clients(_CONFIG, recorder, ManualClock(0), DeferredExecutor(), manager_class)
    broker.take(Lead(partition="a", in_sync=(2,)))
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


class _TimedRecorder(LoadRecorder):
    """Notes the clock at each event. Each is a step, so all orders of the events are explored."""

    def __init__(self) -> None:
        super().__init__("h", controlled_thread)
        self._turn = sync.atomic_integer(0, "turn")
        self.clock = StandingClock()
        self.times_ns: list[int] = []

    def begins(self, what: Call, process: str | None = None) -> None:
        self._note()
        super().begins(what, process)

    def call(self, asked: Call, call: Callable[[], object]) -> bool:
        def answer() -> object:
            answered = call()
            self._note()
            return answered

        self._note()
        return super().call(asked, answer)

    def move_clock(self, now_ms: int) -> None:
        self._turn.add_and_get(1)
        self.clock.now_ms = Millis(now_ms)

    def _note(self) -> None:
        self._turn.add_and_get(1)
        self.times_ns.append(self.clock.now_ms * 1_000_000 + len(self.times_ns))


def _give_data(broker: Clients) -> Callable[[], None]:
    """A consumer waits, and a producer brings its data while its time runs out."""
    broker.take(Lead(partition="a", in_sync=()))
    broker.take(_consume(min_bytes=1))
    return partial(broker.take, _APPEND)


def _replicate(broker: Clients) -> Callable[[], None]:
    """A producer waits, and the follower has its records while its time runs out."""
    broker.take(Lead(partition="a", in_sync=(2,)))
    broker.take(_APPEND_TO_ALL)
    broker.take(_FOLLOW)
    return partial(broker.take, _FOLLOW)


def _lose(broker: Clients) -> Callable[[], None]:
    """A consumer waits, and the broker loses the partition while its time runs out."""
    broker.take(Lead(partition="a", in_sync=()))
    broker.take(_consume(min_bytes=1))
    return partial(broker.take, LoseAndLeadAgain(partition="a", records=0))


def _with_reaper(
    make_thread: Callable[[Clients], Callable[[], None]], manager_class: type[ReplicaManager]
) -> Scenario:
    recorder, executor = _TimedRecorder(), DeferredExecutor()
    broker = Clients(_CONFIG, recorder, recorder.clock, executor, manager_class)
    client = make_thread(broker)

    def reap() -> None:
        recorder.move_clock(_WAIT_MS)
        broker.port.perform(AdvanceClock(timeout_ms=0))
        executor.run_pending()

    def check() -> None:
        lines = [Line(op.process, op.type, op.f, op.value) for op in recorder.take()]
        history = history_of("replication", _CONFIG, lines, quiet=True, times=recorder.times_ns)
        checker = history_checker(history.header, WHEELPROOF)
        for op in history.ops:
            checker.feed(op)
        checker.feed(history.end)
        verdict = checker.finish()
        assert verdict.violation is None, str(verdict.violation)

    return Scenario(threads={"client": client, "reaper": reap}, check=check)


@pytest.mark.parametrize(
    "make_thread", [_give_data, _replicate, _lose], ids=lambda make: make.__name__
)
def test_an_answer_may_be_on_its_way_on_the_reaper(
    make_thread: Callable[[Clients], Callable[[], None]],
) -> None:
    """The client finds the request done, and returns before the reaper has answered."""
    build = partial(_with_reaper, make_thread, ReplicaManager)
    found = explore(program("reaper", build), Options(shrink=False, check_every=_NEVER))
    assert found.verdict() is Passed.PASS, found.details()


def test_a_reaper_is_no_excuse_for_an_append_that_checks_nothing() -> None:
    silent = next(bug.manager_class for bug in BUGS if bug.id == "silent-append")
    build = partial(_with_reaper, _give_data, silent)
    found = explore(program("reaper", build), Options(shrink=False, check_every=_NEVER))
    assert found.counterexample is not None
    assert "Replication.AnsweredWhenItCanBe" in found.counterexample.failure.message
