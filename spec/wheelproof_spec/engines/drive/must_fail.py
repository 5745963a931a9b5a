"""Whether what an implementation is known not to do is still so: `--must-fail`.

Each known limit is lifted alone, and the implementation is driven again, in a process of its own
(some limits are known because the process does not survive). If nothing goes wrong then, the line
is out of date and would hide the next defect.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from wheelproof_spec.base.calls import Request
from wheelproof_spec.base.known_limits import KnownLimit, skips
from wheelproof_spec.base.port import first_violation
from wheelproof_spec.base.suite import FuzzPlan, Suite
from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.engines.drive.driver.port import DriverPort
from wheelproof_spec.engines.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.engines.drive.driver.session import DriverSession
from wheelproof_spec.engines.drive.result import CaseResult
from wheelproof_spec.engines.drive.tally import Tally

LONGEST_SILENCE_S = 5.0
"""How long an answer may take here, in seconds: several limits are calls that do not return."""

CallT = TypeVar("CallT", bound=Request)
SeenT = TypeVar("SeenT")


class LiftedLimits(Generic[CallT, SeenT]):
    """Drives an implementation without one of its known limits, one after the other."""

    def __init__(
        self,
        suite: Suite[CallT, SeenT],
        driver: str,
        profile: str,
        plan: FuzzPlan,
        limits: DriverLimits,
    ) -> None:
        self._suite = suite
        self._driver = driver
        self._profile = profile
        self._plan = plan
        self._limits = replace(limits, timeout_s=min(limits.timeout_s, LONGEST_SILENCE_S))

    def check(self, source: Path, known: Sequence[KnownLimit]) -> Iterator[CaseResult]:
        """Yield a result for each known limit of the file `source`; one that holds passes."""
        for limit in known:
            started = time.monotonic()
            others = tuple(one for one in known if one is not limit)
            seen = self._what_goes_wrong(limit, others)
            stale = (
                f"{source}:{limit.line}: {limit.clause} holds in every named case and in "
                f"{self._plan.cases:,} random ones; remove the line"
            )
            yield CaseResult(
                name=f"known limit {limit.clause}",
                verdict=Verdict.FAIL if seen is None else Verdict.PASS,
                seconds=time.monotonic() - started,
                summary=stale if seen is None else f"still so: {seen}",
            )

    def _what_goes_wrong(self, lifted: KnownLimit, others: Sequence[KnownLimit]) -> str | None:
        """Return in a sentence what goes wrong once `lifted` is not skipped, if anything does."""
        with DriverSession(self._driver, self._limits) as session:
            try:
                session.introduce()
                port = DriverPort(session, self._suite.parse_answer)
                tally = Tally(port, self._suite, others)
                return self._in_named_cases(lifted, others, tally) or self._in_random_cases(
                    lifted, others, tally
                )
            except DriverFailedError as failure:
                return failure.problem
            except Exception:
                # Hypothesis may have wrapped what the driver's failure raised.
                if session.failure is None:
                    raise
                return session.failure.problem

    def _in_named_cases(
        self, lifted: KnownLimit, others: Sequence[KnownLimit], tally: Tally[CallT, SeenT]
    ) -> str | None:
        scenarios = self._suite.scenarios()
        # The cases that need it come first: where it is still a limit, they end the search.
        for scenario in sorted(scenarios, key=lambda one: one.limit != lifted.clause):
            needed = scenario.limit
            if needed is None or needed == lifted.clause or not skips(others, needed):
                judge = self._suite.judge(self._profile, others)
                violation = first_violation(judge, tally, scenario.calls)
                if violation is not None and self._is_about(lifted, violation.rule):
                    return f"{violation.rule}: {violation.reason} ({scenario.name})"
        return None

    def _in_random_cases(
        self, lifted: KnownLimit, others: Sequence[KnownLimit], tally: Tally[CallT, SeenT]
    ) -> str | None:
        failure = self._suite.fuzz(tally, self._profile, others, self._plan).failure
        if failure is None or not self._is_about(lifted, failure.violation.rule):
            return None
        return f"{failure.violation.rule}: {failure.violation.reason}"

    def _is_about(self, lifted: KnownLimit, rule: str) -> bool:
        """Tell whether breaking `rule` shows that the limit is still there."""
        return lifted.clause not in self._suite.clauses or rule == lifted.clause
