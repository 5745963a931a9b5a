"""The threaded machine: watchers, triggers, cancellers and an advancing thread at the same time.

Each rule runs a burst of calls at the same time; afterwards the oracle judges the whole history
(semantics.md 2.1 - 2.10).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from wheelproof.purgatory import CompletionDiscipline
from wheelproof_spec.base.fuzz_report import FuzzReport
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.purgatory.fuzz.under_test import (
    CONDITIONS,
    KEYS,
    PurgatoryUnderTest,
    run_case,
)
from wheelproof_spec.components.purgatory.reference import AnyPurgatory
from wheelproof_spec.engines.fuzz.engine import Recorder, run_machine
from wheelproof_spec.engines.fuzz.threaded_case import Burst, ThreadedCase

MAX_THREADS = 3
PREEMPT_ONE_IN = (2, 4, 16)
"""How rarely threads give way: once in so many steps."""

MakeDiscipline = Callable[[], CompletionDiscipline]

_keys = st.sampled_from(KEYS)
_conditions = st.sampled_from(CONDITIONS)
_watches = st.builds(
    "watch {} {} {}".format,
    st.sampled_from((0, 1, 7, 40)),
    st.lists(_keys, min_size=1, unique=True).map("".join),
    st.lists(_conditions, max_size=1).map("".join),
)
_triggers = st.tuples(_conditions.map("set {}".format), _keys.map("check {}".format))
_others = st.one_of(
    st.builds("check {}".format, _keys),
    st.builds("cancel {}".format, _keys),
    st.sampled_from(("force", "purge")),
)
_some_calls = st.one_of(_watches.map(lambda call: (call,)), _triggers, _others.map(lambda c: (c,)))
_programs = st.lists(
    st.lists(_some_calls, min_size=1, max_size=3).map(lambda calls: sum(calls, ())),
    max_size=MAX_THREADS,
).map(tuple)
_jumps = st.lists(st.integers(0, 10), max_size=3)


def run_threaded_purgatory_fuzz(
    purgatory_class: type[AnyPurgatory],
    discipline: MakeDiscipline,
    *,
    cases: int,
    seed: int,
    seconds: float | None = None,
    repeat: str = "wheelproof fuzz purgatory --threads real --seed {seed}",
    progress: Callable[[FuzzReport], None] | None = None,
) -> FuzzReport:
    """Run bursts of threads on `purgatory_class` and judge them; see `run_machine`."""
    return run_machine(
        "purgatory, real threads",
        lambda recorder: threaded_purgatory_machine(purgatory_class, discipline, recorder),
        first_seed=seed,
        cases=cases,
        seconds=seconds,
        repeat=repeat,
        progress=progress,
        run_threaded_case=partial(run_case, purgatory_class, discipline),
    )


def threaded_purgatory_machine(
    purgatory_class: type[AnyPurgatory], discipline: MakeDiscipline, recorder: Recorder
) -> type[RuleBasedStateMachine]:
    """Return the state machine that runs bursts on `purgatory_class`."""

    class ThreadedPurgatoryMachine(RuleBasedStateMachine):
        """Bursts of calls, judged together."""

        def __init__(self) -> None:
            super().__init__()
            self._purgatory: PurgatoryUnderTest | None = None
            self._failed = False

        @initialize(
            tick_ms=st.integers(1, 3),
            wheel_size=st.integers(2, 4),
            purge_interval=st.integers(0, 2),
            preemption_seed=st.integers(0, 1_000),
            one_in=st.sampled_from(PREEMPT_ONE_IN),
        )
        def reset(
            self,
            tick_ms: int,
            wheel_size: int,
            purge_interval: int,
            preemption_seed: int,
            one_in: int,
        ) -> None:
            recorder.begin_case()
            self._case = ThreadedCase(
                setup=(
                    ("tick_ms", tick_ms),
                    ("wheel_size", wheel_size),
                    ("start_ms", 0),
                    ("purge_interval", purge_interval),
                ),
                preemption_seed=preemption_seed,
                preempt_one_in=one_in,
            )
            self._purgatory = PurgatoryUnderTest(purgatory_class, discipline, self._case)

        @precondition(lambda self: self._purgatory is not None)
        @rule(programs=_programs, jumps_ms=_jumps)
        def burst(self, programs: Burst, jumps_ms: list[int]) -> None:
            if self._purgatory is not None:
                now_ms = self._purgatory.now_ms
                steps: list[str] = []
                for jump_ms in jumps_ms:
                    now_ms += jump_ms
                    steps += [f"clock to {now_ms}", "advance"]
                reaper = (tuple(steps),) if steps else ()
                self._run(self._purgatory, (*programs, *reaper))

        def teardown(self) -> None:
            """Let everything expire and purge: nothing is left."""
            if self._purgatory is None:
                return
            try:
                if not self._failed:
                    self._run(self._purgatory, self._purgatory.drain())
            finally:
                self._purgatory.close()

        def _run(self, purgatory: PurgatoryUnderTest, burst: Burst) -> None:
            if burst:
                self._case = replace(self._case, bursts=(*self._case.bursts, burst))
                self._judge(purgatory.run(burst))

        def _judge(self, violation: Violation | None) -> None:
            self._failed = violation is not None
            recorder.judge_threaded(self._case, violation)

    return ThreadedPurgatoryMachine
