"""Checks whether each known limit of an implementation is still needed: `--must-fail`.

Each known limit is lifted alone, and the implementation is driven again in a new process (without
some limits the process crashes). If nothing goes wrong then, the line of the limit is out of date
and would hide the next defect. If no case tests the limit, the result is inconclusive.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from wheelproof_spec.base.codec.bounds import Bounds
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.port import SendingPort, first_violation
from wheelproof_spec.base.results.known_limits import KnownLimit
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.suite import AnySuite, FuzzPlan
from wheelproof_spec.drive.drawn_cases import fuzz
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.drive.named_cases import lacking
from wheelproof_spec.drive.result import CaseResult

LONGEST_SILENCE_S = 5.0
"""The limit for an answer here, in seconds: several known limits are calls that never return."""


class LiftedLimits:
    """Drives an implementation again, with one known limit lifted at a time."""

    def __init__(
        self,
        suite: AnySuite,
        driver: str,
        profile: str,
        plan: FuzzPlan,
        limits: DriverLimits,
        undeclared: Sequence[str],
        bounds: Bounds,
    ) -> None:
        self._suite = suite
        self._driver = driver
        self._profile = profile
        self._plan = plan
        self._undeclared = undeclared
        self._bounds = bounds
        self._limits = replace(limits, timeout_s=min(limits.timeout_s, LONGEST_SILENCE_S))

    def check(self, source: Path, known: Sequence[KnownLimit]) -> Iterator[CaseResult]:
        """Yield a result for each known limit of the file `source`; a needed limit passes."""
        for limit in known:
            started = time.monotonic()
            tally = self._tally_without([other for other in known if other is not limit])
            seen = self._what_goes_wrong(limit, tally)
            if seen is not None:
                verdict, summary = Verdict.PASS, f"still so: {seen}"
            elif tally.checked.get(limit.clause):
                verdict = Verdict.FAIL
                summary = (
                    f"{source}:{limit.line}: {limit.clause} holds in every named case and in "
                    f"{self._plan.cases:,} random ones; remove the line"
                )
            else:
                verdict = Verdict.INCONCLUSIVE
                summary = (
                    f"{source}:{limit.line}: not tried: no case that the driver can be asked needs "
                    f"{limit.clause}; remove the line, or declare wider bounds and capabilities"
                )
            yield CaseResult(
                name=f"known limit {limit.clause}",
                verdict=verdict,
                seconds=time.monotonic() - started,
                summary=summary,
            )

    def _tally_without(self, limits: Sequence[KnownLimit]) -> Tally:
        skipped = [*self._undeclared, *(limit.clause for limit in limits)]
        return Tally(limits=skipped, bounds=self._bounds)

    def _what_goes_wrong(self, lifted: KnownLimit, tally: Tally) -> str | None:
        """Return one sentence on what goes wrong without the limit `lifted`; None if nothing."""
        with DriverSession(self._driver, self._limits) as session:
            try:
                session.introduce()
                port = DriverPort(session, DrivenWire(self._suite.definition).parse_answer)
                return self._in_named_cases(lifted, port, tally) or self._in_random_cases(
                    lifted, port, tally
                )
            except DriverFailedError as failure:
                return failure.problem

    def _in_named_cases(
        self, lifted: KnownLimit, port: SendingPort[Request, object], tally: Tally
    ) -> str | None:
        scenarios = self._suite.scenarios_within(self._bounds)
        # The cases that need the limit come first: if it is still needed, they end the search.
        for scenario in sorted(
            scenarios, key=lambda scenario: lifted.clause not in self._suite.needs_of(scenario)
        ):
            if not lacking(self._suite, scenario, tally):
                if lifted.clause in self._suite.needs_of(scenario):
                    tally.tests(lifted.clause)
                judge = self._suite.judge(self._profile, tally)
                violation = first_violation(judge, port, scenario.calls)
                if violation is not None and self._is_about(lifted, violation.rule):
                    return f"{violation.rule}: {violation.reason} ({scenario.name})"
        return None

    def _in_random_cases(
        self, lifted: KnownLimit, port: SendingPort[Request, object], tally: Tally
    ) -> str | None:
        failure = fuzz(self._suite, port, self._profile, tally, self._plan).failure
        if failure is None or not self._is_about(lifted, failure.violation.rule):
            return None
        return f"{failure.violation.rule}: {failure.violation.reason}"

    def _is_about(self, lifted: KnownLimit, rule: str) -> bool:
        """Tell whether a violation of `rule` shows that the limit is still needed."""
        return lifted.clause not in tuple(self._suite.definition.clauses) or rule == lifted.clause
