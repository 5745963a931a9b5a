"""How a component is driven: who judges it, its named cases, its random ones."""

import math
import random
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, cast

from wheelproof_spec.base.component import CallT, CallT_co, ComponentDefinition, Request, SeenT
from wheelproof_spec.base.port import CaseJudge, Judge
from wheelproof_spec.base.results.tally import Tally

if TYPE_CHECKING:
    from wheelproof_spec.base.results.fuzz_report import FuzzReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario(Generic[CallT_co]):
    """A fixed case; `limit` is the part of the domain that it needs, if not all have it."""

    name: str
    calls: tuple[CallT_co, ...]
    limit: str | None = None


def _never() -> bool:
    return False


def _told(report: "FuzzReport") -> None:
    del report


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzPlan:
    """How many random cases, each with the seed after that of the one before it.

    `seed` is that of the first, and `repeat` the command that does it again.

    A case that fails is made smaller for at most `shrink_seconds`; before that `tell` hears of it.
    Once `stopped` says so, there are no more cases.
    """

    cases: int
    seed: int
    repeat: str
    shrink_seconds: float = math.inf
    stopped: Callable[[], bool] = _never
    tell: "Callable[[FuzzReport], object]" = _told


DrawnStep = tuple[str, tuple[int, ...]]
"""What kind of call, and the numbers that it is made from; each may be replaced by one nearer 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCase:
    """A case as numbers: the smaller they are and the fewer, the simpler is the case."""

    config: tuple[int, ...]
    steps: tuple[DrawnStep, ...]


class CaseSpace(Protocol[CallT_co]):
    """The cases of a component."""

    def draw(self, chance: random.Random) -> DrawnCase:
        """Return a random case."""
        ...

    def calls(self, case: DrawnCase) -> Iterable[CallT_co | None]:
        """Return the calls of a case, a reset first; every smaller case has calls as well.

        None among them: what comes behind it depends on the answers before it. Once it has been
        taken, the judge knows them.
        """
        ...


def _nothing(calls: Sequence[Request]) -> Collection[str]:
    del calls
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite(Generic[CallT, SeenT]):
    """A component with all that is needed to drive an implementation and judge it.

    `judge` makes a judge by the contract of a profile that counts in a tally. `drawn` makes the
    random cases, and their judge; the tally knows the known limits, and the capabilities that are
    not declared.
    """

    definition: ComponentDefinition[CallT, SeenT]
    judge: Callable[[str, Tally], CaseJudge[CallT, SeenT]]
    scenarios: Callable[[], Sequence[Scenario[CallT]]]
    drawn: Callable[[str, Tally], tuple[CaseSpace[CallT], Judge[CallT, SeenT]]]
    asks_for: Callable[[Sequence[CallT]], Collection[str]] = _nothing
    """The parts of the domain and the capabilities that the calls of a case need."""

    def needs_of(self, scenario: Scenario[CallT]) -> frozenset[str]:
        """Return the parts of the domain and the capabilities without which a case says nothing."""
        limits = () if scenario.limit is None else (scenario.limit,)
        return frozenset(map(str, (*limits, *self.asks_for(scenario.calls))))


AnySuite = Suite[Request, object]
"""A suite whose calls and observations are its own affair."""


def any_suite(suite: Suite[CallT, SeenT]) -> AnySuite:
    """Return a suite for those who pass its calls and observations on and do not look at them."""
    return cast(AnySuite, suite)
