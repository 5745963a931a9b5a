"""Runs programs of the model checker while they are recorded, and has their histories judged."""

import io
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import BinaryIO

from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program, Scenario
from wheelproof_explore.result import Exploration
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runs.schedule import decode
from wheelproof_explore.strategies.replay import ReplayStrategy
from wheelproof_explore.strategies.strategy import run
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_lab.worlds.making import program
from wheelproof_lab.worlds.purgatory.on_timer import controlled_thread
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.app.recorder import Recording, recording
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.components.purgatory.component import PREDICATES_TOO, PurgatoryConfig
from wheelproof_spec.history.reader import lines_of

Build = Callable[[Callable[[], Recording]], Scenario]
"""Makes a scenario, given a way to the recording under way."""

_NEVER = 10**9


class Recorded:
    """A program of which every run is recorded from its beginning to its end, and then judged.

    What the program checks by itself comes before that, so its checks are calls alone.
    """

    def __init__(self, build: Build, claims: PurgatoryConfig = PREDICATES_TOO) -> None:
        self._build = build
        self._claims = claims
        self._stream: BinaryIO = io.BytesIO()
        self._open = ExitStack()
        self._recording: Recording | None = None
        self.program: Program = program("recorded", self._begin)

    def now(self) -> Recording:
        assert self._recording is not None
        return self._recording

    def close(self) -> None:
        self._open.close()

    def judged(self, *, stuck: bool = False) -> list[RunVerdict]:
        """End the recording and return the verdicts."""
        self.now().end(stuck=stuck)
        self.close()
        self._stream.seek(0)
        result = judge_lines("recorded", lines_of(self._stream))
        assert result.rejections == [], result.rejections
        return result.verdicts

    def _begin(self) -> Scenario:
        """One run, whose history decides."""
        self.close()
        self._stream = io.BytesIO()
        self._recording = self._open.enter_context(
            recording(
                self._stream, real_clock=False, process=controlled_thread, claims=self._claims
            )
        )
        scenario = self._build(self.now)
        last = scenario.check

        def check() -> None:
            if last is not None:
                last()
            for verdict in self.judged():
                assert verdict.verdict is not Verdict.FAIL, str(verdict.violation)

        return replace(scenario, check=check)


def explored(build: Build, max_runs: int) -> Exploration:
    """Explore, each run judged by its history."""
    recorded = Recorded(build)
    options = Options(max_runs=max_runs, shrink=False, check_every=_NEVER)
    try:
        return explore(recorded.program, options)
    finally:
        recorded.close()


def verdicts_of_a_deadlock(build: Build) -> list[RunVerdict]:
    """Look for a deadlock, repeat the run that leads into it, and judge what was recorded."""
    recorded = Recorded(build, PurgatoryConfig())
    try:
        found = explore(recorded.program, Options(shrink=False, check_every=_NEVER)).counterexample
        assert found is not None
        assert found.failure.kind is FailureKind.DEADLOCK
        _, actors = decode(recorded.program, found.schedule)
        substrate = open_substrate(SubstrateKind.GREENLET)
        execution = Execution(World(recorded.program, substrate))
        try:
            run(execution, ReplayStrategy(actors))
            return recorded.judged(stuck=True)
        finally:
            execution.close()
            substrate.close()
    finally:
        recorded.close()
