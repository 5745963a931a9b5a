"""Named cases: which of them apply to an implementation, and how a failing case is shrunk.

Also which profile an implementation keeps; cases are driven again to find out.
"""

import math
from collections.abc import Callable, Iterable, Sequence
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
from wheelproof_spec.drive.result import BrokenProfile

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
            # The last call fails. If it stays, leaving out half of the others can succeed at once.
            lambda one: ((*rest, *one.calls[-1:]) for rest in without_chunks(one.calls[1:-1])),
            failing,
            within(MOST_ATTEMPTS, MOST_SECONDS),
        ):
            self.case = smaller


class ProfileSearch:
    """Drives an implementation, and looks for a profile by which all cases pass."""

    def __init__(
        self,
        suite: AnySuite,
        port: SendingPort[Request, object],
        scenarios: Sequence[Scenario[Request]],
        cases: int,
        seed: int,
    ) -> None:
        """Judge the implementation behind `port` by `suite`: named cases, and `cases` random ones.

        Of `scenarios` those that apply are driven. In cases that need an optional part of the
        domain, drivers hang and crash.
        """
        self._suite = suite
        self._port = port
        self._scenarios = scenarios
        self._wire = DrivenWire(suite.definition)
        self._plan = FuzzPlan(cases=cases, seed=seed, shrink_seconds=math.inf)
        self._failed: list[Sequence[Request]] = []
        self.broken: list[BrokenProfile] = []
        """The profiles that it does not keep, in the order in which they were tried."""

    def find(
        self, tallies: Iterable[tuple[str, Tally]], failed: Iterable[Sequence[str]] = ()
    ) -> str | None:
        """Return the first of the profiles by which all cases pass, including those in `failed`.

        May raise DriverFailedError.
        """
        self._failed += [[self._call(line) for line in lines] for lines in failed]
        for name, tally in tallies:
            broken = self._breaks(name, tally)
            if broken is None:
                return name
            self.broken.append(broken)
        return None

    def _breaks(self, profile: str, tally: Tally) -> BrokenProfile | None:
        """Return how a profile is broken, if it is; a case that fails is tried on the next ones."""
        # The cases that have failed come first: mostly one fails again, which ends the check.
        named = [one.calls for one in self._scenarios if not lacking(self._suite, one, tally)]
        judge = self._suite.judge(profile, tally)
        for calls in (*self._failed, *named):
            violation = first_violation(judge, self._port, calls)
            if violation is not None:
                if calls not in self._failed:
                    self._failed.append(calls)
                return BrokenProfile(profile=profile, violation=violation)
        failure = fuzz(self._suite, self._port, profile, tally, self._plan).failure
        if failure is None:
            return None
        self._failed.append([self._call(line) for line in failure.steps])
        return BrokenProfile(profile=profile, violation=failure.violation)

    def _call(self, line: str) -> Request:
        _, operation, content = parse_request(line.encode())
        return self._wire.parse_call(operation, content)
