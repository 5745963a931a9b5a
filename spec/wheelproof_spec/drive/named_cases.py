"""Named cases: which of them apply to an implementation, and how a failing case is shrunk.

Also whether cases that fail by one profile pass by another; they are driven again to find out.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from wheelproof_spec.base.codec.bounds import outside
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import SendingPort, first_violation
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.shrinking import ever_smaller, within, without_chunks
from wheelproof_spec.base.suite import AnySuite, FuzzPlan, Scenario
from wheelproof_spec.drive.drawn_cases import fuzz
from wheelproof_spec.drive.driver.messages import parse_request

MOST_ATTEMPTS = 300
"""The most smaller cases that shrinking tries."""
MOST_SECONDS = 10.0
"""The most seconds that shrinking takes; a smaller case that has begun is finished."""


@dataclass(frozen=True, slots=True)
class FailedCase:
    """The calls of a case up to the one that breaks a clause, and the calls that were made."""

    calls: tuple[Request, ...]
    made: tuple[Request, ...]
    violation: Violation


def lacking(suite: AnySuite, scenario: Scenario[Request], tally: Tally) -> tuple[str, ...]:
    """Return what a case needs and the implementation declares not to have."""
    needs = sorted(need for need in suite.needs_of(scenario) if tally.skips(need))
    return (*needs, *outside(tally.bounds, scenario.calls))


class SmallestCase:
    """A search for a smaller case that breaks the same clause, within the budget."""

    def __init__(self, failed: FailedCase) -> None:
        """Begin with a case that fails."""
        self.case = failed
        """The smallest failing case so far, also after `search` has raised."""

    def search(self, drive: Callable[[Sequence[Request]], FailedCase | None]) -> None:
        """Leave calls out, except the reset; `drive` returns a FailedCase, or None for a pass."""
        reset, rule = self.case.calls[0], self.case.violation.rule

        def failing(rest: Sequence[Request]) -> FailedCase | None:
            found = drive((reset, *rest))
            return found if found is not None and found.violation.rule == rule else None

        for smaller in ever_smaller(
            self.case,
            lambda one: without_chunks(one.calls[1:]),
            failing,
            within(MOST_ATTEMPTS, MOST_SECONDS),
        ):
            self.case = smaller


class OtherProfiles:
    """Drives an implementation once more, and judges it by other profiles."""

    def __init__(
        self, suite: AnySuite, port: SendingPort[Request, object], cases: int, seed: int
    ) -> None:
        """Judge the implementation behind `port` by `suite`, with `cases` random cases."""
        self._suite = suite
        self._port = port
        self._wire = DrivenWire(suite.definition)
        self._plan = FuzzPlan(cases=cases, seed=seed, shrink_seconds=math.inf)

    def find(self, tallies: Mapping[str, Tally], failed: Iterable[Sequence[str]]) -> str | None:
        """Return the first of the profiles by which all cases pass, including those in `failed`.

        May raise DriverFailedError.
        """
        cases = [[self._call(line) for line in lines] for lines in failed]
        # `_passes` drives the failed cases first: mostly one fails again, which ends the check.
        return next(
            (name for name, tally in tallies.items() if self._passes(name, tally, cases)), None
        )

    def _passes(self, profile: str, tally: Tally, failed: Sequence[Sequence[Request]]) -> bool:
        scenarios = self._suite.scenarios()
        named = [one.calls for one in scenarios if not lacking(self._suite, one, tally)]
        judge = self._suite.judge(profile, tally)
        if any(first_violation(judge, self._port, calls) for calls in (*failed, *named)):
            return False
        return fuzz(self._suite, self._port, profile, tally, self._plan).failure is None

    def _call(self, line: str) -> Request:
        _, operation, content = parse_request(line.encode())
        return self._wire.parse_call(operation, content)
