"""The threaded machine of the replica manager: producers, followers, consumers, the reaper.

Each rule runs a burst of calls at the same time; afterwards everybody who can be answered has been,
once and rightly (semantics.md 2.13 - 2.15).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof.replication import ReplicaManager
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.replication.fuzz.under_test import (
    FOLLOWERS,
    PARTITIONS,
    ReplicationUnderTest,
    run_case,
)
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase

MAX_THREADS = 3
PREEMPT_ONE_IN = (2, 4, 16)
"""How rarely threads give way: once in so many steps."""

_partitions = st.sampled_from(PARTITIONS)
_some_partitions = st.lists(_partitions, min_size=1, unique=True).map("".join)
_timeouts = st.sampled_from((1, 7, 40))
_calls = st.one_of(
    st.builds("produce {} {}".format, _timeouts, _some_partitions),
    st.builds("hurry {}".format, _partitions),
    st.builds("consume {} {}".format, _timeouts, _some_partitions),
    st.builds("replicate {} {}".format, st.sampled_from(FOLLOWERS), _partitions),
)
# Without both followers nothing is ever replicated, so they come together as well.
_rounds = _partitions.map(
    lambda topic: tuple(f"replicate {follower} {topic}" for follower in FOLLOWERS * 2)
)
_programs = st.lists(
    st.lists(_calls, min_size=1, max_size=4).map(tuple) | _rounds,
    min_size=1,
    max_size=MAX_THREADS,
).map(tuple)


def run_threaded_replication_fuzz(
    manager_class: type[ReplicaManager] = ReplicaManager,
    *,
    cases: int,
    seed: int,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz replication --threads real --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run bursts of threads on a broker of `manager_class` and judge them; see `run_machine`."""
    return run_machine(
        "replication, real threads",
        lambda recorder: threaded_replication_machine(manager_class, recorder),
        first_seed=seed,
        cases=cases,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
        run_threaded_case=partial(run_case, manager_class),
    )


def threaded_replication_machine(
    manager_class: type[ReplicaManager], recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that runs bursts on a broker of `manager_class`."""

    class ThreadedReplicationMachine(RuleBasedStateMachine):
        """Bursts of calls, judged together."""

        def __init__(self) -> None:
            super().__init__()
            self._broker: ReplicationUnderTest | None = None
            self._failed = False

        @initialize(preemption_seed=st.integers(0, 1_000), one_in=st.sampled_from(PREEMPT_ONE_IN))
        def reset(self, preemption_seed: int, one_in: int) -> None:
            recorder.begin_case()
            self._case = ThreadedCase(
                setup=(("partitions", len(PARTITIONS)),),
                preemption_seed=preemption_seed,
                preempt_one_in=one_in,
            )
            self._broker = ReplicationUnderTest(manager_class, self._case)

        @precondition(lambda self: self._broker is not None)
        @rule(programs=_programs, jump_ms=st.integers(0, 10))
        def burst(self, programs: Burst, jump_ms: int) -> None:
            if self._broker is not None:
                now_ms = self._broker.now_ms + jump_ms
                reaper = ((f"clock to {now_ms}", "advance"),) if jump_ms else ()
                self._run(self._broker, (*programs, *reaper))

        def teardown(self) -> None:
            """Let everything expire: everybody was answered, and nothing is left."""
            if self._broker is None:
                return
            try:
                if not self._failed:
                    self._run(self._broker, self._broker.drain())
            finally:
                self._broker.close()

        def _run(self, broker: ReplicationUnderTest, burst: Burst) -> None:
            self._case = replace(self._case, bursts=(*self._case.bursts, burst))
            violation: Violation | None = broker.run(burst)
            self._failed = violation is not None
            recorder.judge_threaded(self._case, violation)

    return ThreadedReplicationMachine
