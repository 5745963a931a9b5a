"""Threads that produce, consume, replicate, expire and elect at the same time, on one broker.

The machine `replication` of `wheelproof fuzz`. The calls are recorded, and the history judge
decides whether they are correct. After each burst the gauges of both purgatories are read, and each
log, also as consumers see it. At the end of a case all requests have expired, and nothing is kept.
"""

import threading
from collections.abc import Callable
from functools import partial

from hypothesis import strategies as st

from wheelproof.clock import ManualClock
from wheelproof.replication import ReplicaManager
from wheelproof.sync import DeferredExecutor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.replication.cases import REPLICATION
from wheelproof_spec.components.replication.component import ALL_ACKS, WHEELPROOF, ReplicationConfig
from wheelproof_spec.components.replication.history import RECORDED
from wheelproof_spec.components.replication.recording.calls import RecordedBroker
from wheelproof_spec.components.replication.reference import (
    ReferenceBroker,
    ReferenceReplicationPort,
)
from wheelproof_spec.fuzz.bursts import bursts_of, run_burst_fuzz
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts
from wheelproof_spec.fuzz.machine import Machine
from wheelproof_spec.fuzz.threaded_case import Burst, Setup, ThreadedCase

_PARTITIONS = ("a", "b")
_FOLLOWERS = (2, 3)
_TIMEOUTS_MS = (1, 7, 40)


def run_threaded_replication_fuzz(
    manager_class: type[ReplicaManager], plan: FuzzPlan
) -> FuzzReport:
    """Run bursts of threads on a broker of `manager_class`; see `run_burst_fuzz`."""
    return run_burst_fuzz(
        "replication, real threads",
        partial(BrokerUnderTest, manager_class, keep=plan.keep),
        _setups(),
        bursts_of(_calls()),
        plan,
    )


class BrokerUnderTest:
    """A broker that leads both partitions, and whose calls are recorded.

    In words: "produce 40 ab" appends to two partitions with acks = all and a time-out of 40 ms,
    "hurry a" with acks = 1; "consume 40 9 ab" waits for 9 bytes at the end that consumers see,
    "replicate 40 9 2 a" is the same for follower 2, and "round a" is two fetches of each follower
    that do not wait. "advance 7" moves the clock by 7 ms and expires due requests; "lose 1 a"
    follows another broker, drops the last record and leads again, alone in sync.
    """

    def __init__(
        self,
        manager_class: type[ReplicaManager],
        case: ThreadedCase,
        *,
        keep: Callable[[KeptHistory], object] | None,
    ) -> None:
        config = ReplicationConfig(**dict(case.setup))
        self._bursts = JudgedBursts(RECORDED, config, clock="virtual", keep=keep)
        self._runtime = InstrumentedRuntime(ThreadsRuntime(), case.preemption())
        self._executor = DeferredExecutor()
        self._broken = False
        self._clock_moves = threading.Lock()
        self._elections = threading.Lock()
        self._now_ms = 0
        with use_runtime(self._runtime):
            self._clock = ManualClock(0)
            broker = ReferenceBroker(config, self._clock, self._executor, manager_class)
            self._broker = RecordedBroker(broker, self._bursts.recorder)
            for partition in _PARTITIONS:
                self._broker.lead(partition, _FOLLOWERS)

    def run(self, burst: Burst) -> Violation | None:
        """Run one burst and return the violation of its history, if any."""
        programs = [[partial(self._call, words) for words in program] for program in burst]
        # The threads make requests, with primitives of the same runtime.
        with use_runtime(self._runtime):
            violation = self._bursts.run(programs, self._look)
        self._broken = violation is not None
        return violation

    def finish(self) -> Violation | None:
        """Let all requests expire: each must be answered, and nothing may be kept."""
        if self._broken:
            return None
        with use_runtime(self._runtime):
            end = partial(self._advance, max(_TIMEOUTS_MS))
            return self._bursts.run([[end]], self._look) or self._bursts.finish()

    def _call(self, words: str) -> None:
        broker = self._broker
        match words.split(" "):
            case ["produce", timeout_ms, partitions]:
                broker.produce(tuple(partitions), ALL_ACKS, int(timeout_ms))
            case ["hurry", partition]:
                broker.produce((partition,), 1, 0, records=2)
            case ["consume", timeout_ms, min_bytes, partitions]:
                broker.consume(tuple(partitions), int(timeout_ms), int(min_bytes))
            case ["replicate", timeout_ms, min_bytes, follower, partition]:
                broker.replicate(int(follower), partition, int(timeout_ms), int(min_bytes))
            case ["round", partition]:
                for replica_id in _FOLLOWERS * 2:
                    broker.replicate(replica_id, partition, 0)
            case ["advance", jump_ms]:
                self._advance(int(jump_ms))
            case ["lose", records, partition]:
                with self._elections:
                    broker.lose_and_lead_again(partition, int(records), ())
            case _:
                raise AssertionError(words)

    def _advance(self, jump_ms: int) -> None:
        with self._clock_moves:
            self._now_ms += jump_ms
            self._broker.advance(self._clock, self._now_ms)
            self._executor.run_pending()

    def _look(self) -> None:
        self._broker.look()
        for partition in _PARTITIONS:
            self._broker.read(partition)


def _setups() -> st.SearchStrategy[Setup]:
    return st.tuples(
        st.tuples(st.just("segment_bytes"), st.sampled_from((24, 60, 1_000))),
        st.tuples(st.just("min_in_sync_replicas"), st.sampled_from((1, 1, 2))),
    )


def _calls() -> st.SearchStrategy[str]:
    partition = st.sampled_from(_PARTITIONS)
    partitions = st.lists(partition, min_size=1, unique=True).map("".join)
    timeouts = st.sampled_from(_TIMEOUTS_MS)
    followers = st.sampled_from(_FOLLOWERS)
    enough = st.sampled_from((1, 30))
    return st.one_of(
        st.builds("produce {} {}".format, timeouts, partitions),
        st.builds("produce {} {}".format, timeouts, partition),
        st.builds("hurry {}".format, partition),
        st.builds("consume {} {} {}".format, timeouts, enough, partitions),
        st.builds(
            "replicate {} {} {} {}".format, st.sampled_from((0, 7)), enough, followers, partition
        ),
        st.builds("round {}".format, partition),
        st.builds("round {}".format, partition),
        st.builds("advance {}".format, st.integers(1, 10)),
        st.builds("lose {} {}".format, st.integers(0, 2), partition),
    )


MACHINE = Machine(
    suite=REPLICATION,
    profile=WHEELPROOF,
    sound=ReplicaManager,
    port=ReferenceReplicationPort,
    parts={"real": (run_threaded_replication_fuzz,)},
)
