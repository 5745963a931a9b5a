"""How a component is driven: its judge, its named cases, its random cases."""

import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, cast

from wheelproof_spec.base.codec.bounds import Bounds
from wheelproof_spec.base.component import CallT, CallT_co, ComponentDefinition, Request, SeenT
from wheelproof_spec.base.port import Asked, BurstPort, CaseJudge, Judge
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation

if TYPE_CHECKING:
    from wheelproof_spec.base.history.lines import KeptHistory
    from wheelproof_spec.base.results.fuzz_report import FuzzReport

SHRINK_SECONDS = 60.0
"""The default limit for shrinking a failure, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Generic[CallT_co]):
    """A fixed case; `limit` is the part of the domain that it needs, if that part is optional."""

    name: str
    calls: tuple[CallT_co, ...]
    limit: str | None = None


def _never() -> bool:
    return False


def _told(report: "FuzzReport") -> None:
    del report


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlan:
    """A run of random cases, whatever is fuzzed.

    `cases` is the size of a batch, and `seed` its seed; the cases of one thread have consecutive
    seeds. Batches are run for `seconds` (None: one batch). `repeat` is the command that repeats a
    failure, with ``{seed}`` in it.

    `tell` gets a report after each batch, and one of a failure as soon as it is found. Then the
    failing case is shrunk for at most `shrink_seconds` (0: not at all). Once `stopped` returns
    True, no more cases are run.

    `threads` is none, real or controlled. With one thread, `profile` judges (None: that of the
    reference). With several, Hypothesis's engine draws a batch, and learns from case to case; with
    `seed_per_case` each seed gives one case, wherever it is run. `keep` gets each judged history.
    """

    cases: int
    seed: int
    repeat: str = ""
    seconds: float | None = None
    shrink_seconds: float = SHRINK_SECONDS
    stopped: Callable[[], bool] = _never
    tell: "Callable[[FuzzReport], object]" = _told
    threads: str = "none"
    profile: str | None = None
    seed_per_case: bool = False
    keep: "Callable[[KeptHistory], object] | None" = None


DrawnStep = tuple[str, tuple[int, ...]]
"""A kind of call, and the numbers that it is made from; a number nearer to 0 may replace each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCase:
    """A case as numbers: smaller and fewer numbers make a simpler case."""

    config: tuple[int, ...]
    steps: tuple[DrawnStep, ...]


class CaseSpace(Protocol[CallT_co]):
    """The cases of a component."""

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case."""
        ...

    def calls(self, case: DrawnCase) -> Iterable[CallT_co | None]:
        """Return the calls of a case, a reset first; every smaller case has calls as well.

        A None means that the later calls depend on the earlier answers: the judge must have them
        before the next item is taken.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstFailure:
    """Bursts that break the contract: the requests, and in how many of how many runs they did."""

    violation: Violation
    lines: tuple[str, ...]
    failed: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstReport:
    """The bursts that were sent, those of shrinking left out.

    `undecided` counts the cases whose search for a linearization gave up. `unseen` is what is not
    judged. `failures` has the first failure of each clause.
    """

    cases: int = 0
    bursts: int = 0
    calls: int = 0
    undecided: int = 0
    unseen: tuple[str, ...] = ()
    failures: tuple[BurstFailure, ...] = ()


class BurstCases(Protocol[CallT, SeenT]):
    """The bursts of a component: calls of several callers at the same time."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The requests of the case that was sent last."""
        ...

    def run(self, port: BurstPort[CallT, SeenT], plan: FuzzPlan) -> BurstReport:
        """Send random bursts; shrink the first failure of each clause.

        May raise DriverFailedError.
        """
        ...

    def repeat(self, port: BurstPort[CallT, SeenT], case: Sequence[Asked[CallT]]) -> BurstReport:
        """Send one case again and again, a reset first, and tell how often it fails."""
        ...


def _as_they_are(calls: Sequence[CallT], bounds: Bounds) -> Sequence[CallT]:
    del bounds
    return calls


def _nothing(calls: Sequence[Request]) -> Collection[str]:
    del calls
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Generic[CallT, SeenT]):
    """A component with all that is needed to drive an implementation and judge it.

    `judge` makes a judge by the contract of a profile; it counts in a tally. `drawn` makes the
    random cases, and their judge; the tally has the known limits, and the capabilities that are
    not declared.
    """

    definition: ComponentDefinition[CallT, SeenT]
    judge: Callable[[str, Tally], CaseJudge[CallT, SeenT]]
    scenarios: Callable[[], Sequence[Scenario[CallT]]]
    drawn: Callable[[str, Tally], tuple[CaseSpace[CallT], Judge[CallT, SeenT]]]
    asks_for: Callable[[Sequence[CallT]], Collection[str]] = _nothing
    """The parts of the domain and the capabilities that the calls of a case need."""
    scaled: Callable[[Sequence[CallT], Bounds], Sequence[CallT]] = _as_they_are
    """The calls of a named case in other units, if that brings them inside the bounds."""
    bursts: Callable[[str, Tally], BurstCases[CallT, SeenT]] | None = None
    """Makes the bursts, judged by the contract of a profile; None if there are none yet."""

    def scenarios_within(self, bounds: Bounds) -> list[Scenario[CallT]]:
        """Return the named cases for an implementation with these bounds; some may exceed them."""
        return [
            replace(scenario, calls=tuple(self.scaled(scenario.calls, bounds)))
            for scenario in self.scenarios()
        ]

    def needs_of(self, scenario: Scenario[CallT]) -> frozenset[str]:
        """Return the parts of the domain and the capabilities that a case needs."""
        limits = () if scenario.limit is None else (scenario.limit,)
        return frozenset(map(str, (*limits, *self.asks_for(scenario.calls))))


AnySuite = Suite[Request, object]
"""A suite, for code that does not look at its calls and observations."""


def any_suite(suite: Suite[CallT, SeenT]) -> AnySuite:
    """Return a suite, for code that passes its calls and observations on without a look at them."""
    return cast(AnySuite, suite)
