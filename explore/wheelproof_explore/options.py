"""The options of an exploration, and its engines."""

from dataclasses import dataclass
from enum import StrEnum

from wheelproof_explore.program import Program
from wheelproof_explore.result import CERTIFYING_ENGINE
from wheelproof_explore.runs.schedule import decode
from wheelproof_explore.strategies.bounded import BoundedStrategy
from wheelproof_explore.strategies.brute import BruteStrategy
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.strategies.replay import ReplayStrategy
from wheelproof_explore.strategies.sample import SampleStrategy
from wheelproof_explore.strategies.source import SourceStrategy
from wheelproof_explore.strategies.strategy import Strategy
from wheelproof_explore.substrates.substrate import SubstrateKind

SAMPLES = 10_000
CHECK_EVERY = 256
"""One run in this many is repeated, to check that the program is deterministic."""


class Engine(StrEnum):
    """The engines of the model checker."""

    OPTIMAL = CERTIFYING_ENGINE
    SAMPLE = "sample"
    BRUTE = "brute"
    SOURCE = "source"
    BOUNDED = "bounded"
    REPLAY = "replay"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of an exploration.

    `max_runs` and `max_seconds` end the exploration early (None: never). `keep_going` continues
    after the first failure. `shrink` simplifies that failure. `schedule` is what the engine
    `replay` replays. For `check_every` see CHECK_EVERY. With `record` the result has the failing
    run, or an example of a passing one, with all its states. `jobs` processes explore in parallel,
    only with the engine `optimal`; they may make a few runs more than `max_runs`. A `strategy` of
    the caller replaces the engine; the verdict is then never PASS.
    """

    engine: Engine = Engine.OPTIMAL
    substrate: SubstrateKind = SubstrateKind.GREENLET
    seed: int = 0
    max_runs: int | None = None
    max_seconds: float | None = None
    keep_going: bool = False
    shrink: bool = True
    schedule: str = ""
    check_every: int = CHECK_EVERY
    record: bool = False
    jobs: int = 1
    strategy: Strategy | None = None

    def strategy_for(self, program: Program) -> Strategy:
        """Return what chooses the runs of `program`: the caller's strategy, or the engine's."""
        if self.strategy is not None:
            return self.strategy
        match self.engine:
            case Engine.OPTIMAL:
                return OptimalStrategy()
            case Engine.SAMPLE:
                return SampleStrategy(self.seed, self.max_runs or SAMPLES)
            case Engine.BOUNDED:
                return BoundedStrategy()
            case Engine.BRUTE:
                return BruteStrategy()
            case Engine.SOURCE:
                return SourceStrategy()
            case Engine.REPLAY:
                return ReplayStrategy(decode(program, self.schedule)[1])


DEFAULT_OPTIONS = Options()
