"""The driven conformance of a component: vectors, named cases, then fuzzed ones that shrink.

Cases are judged by the oracle, as the reference is; vectors carry their answers.
"""

import importlib
import shlex
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.component import AnyDefinition, Request
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.known_limits import KnownLimit, read_known_limits
from wheelproof_spec.base.port import first_violation
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import AnySuite, FuzzPlan, Scenario
from wheelproof_spec.engines.drive.answers import answers_to
from wheelproof_spec.engines.drive.counting import CountingPort
from wheelproof_spec.engines.drive.driver.messages import Introduction, request_line
from wheelproof_spec.engines.drive.driver.port import DriverPort
from wheelproof_spec.engines.drive.driver.process import (
    USUAL_LIMITS,
    DriverFailedError,
    DriverLimits,
)
from wheelproof_spec.engines.drive.driver.session import DriverSession
from wheelproof_spec.engines.drive.must_fail import LiftedLimits
from wheelproof_spec.engines.drive.result import (
    CaseResult,
    ClauseCount,
    ConformanceFailure,
    ConformanceResult,
    DriverTrouble,
)
from wheelproof_spec.engines.drive.usual import CASES, SEED
from wheelproof_spec.engines.drive.vector_run import VectorRunner, VectorTally, run_vectors

FUZZED_CASES = "fuzzed cases"
"""The name under which the fuzzed cases are reported."""
VECTORS = "published vectors"
"""The name under which the vectors are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformancePlan:
    """What to run: the driver's command, the profile, how many cases from which seed.

    `profile` None means the component's usual one. `skip` names a file of known limits, see
    `read_known_limits`; with `must_fail` each of them has to be needed still. `vectors` are the
    files of vectors that are run first.
    """

    driver: str
    profile: str | None = None
    cases: int = CASES
    seed: int = SEED
    limits: DriverLimits = USUAL_LIMITS
    skip: Path | None = None
    must_fail: bool = False
    vectors: tuple[Path, ...] = ()


def conform(
    suite: AnySuite,
    plan: ConformancePlan,
    vectors: Sequence[Vector[object, object]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> ConformanceResult:
    """Drive the implementation behind `plan.driver` and judge it by `suite`, `vectors` first.

    `progress` is told the number of cases and of steps whenever a case begins. Once this returns or
    raises, no process of the driver is left. An interruption (Ctrl-C) ends the run with a result:
    what was not finished is not judged.

    Raises UsageError if the driver cannot be started and InputRejectedError if `plan.skip` is no
    file of known limits or `plan.vectors` are no vectors.
    """
    # Extras: if one is missing, this has to be said before anything is started.
    for package in suite.needs:
        importlib.import_module(package)
    known_limits = (
        () if plan.skip is None else read_known_limits(plan.skip, suite.definition.may_be_limits())
    )
    vectors = tuple(vector for vector in vectors if vector.component == suite.definition.name)
    started = time.monotonic()
    with DriverSession(plan.driver, plan.limits) as session:
        run = _Run(suite, plan, known_limits, vectors, session, progress)
        try:
            run.judge()
            run.lift_known_limits()
        except KeyboardInterrupt:
            run.open_question = "interrupted; what was not finished is not judged"
    return run.result(time.monotonic() - started)


class _Run:
    def __init__(
        self,
        suite: AnySuite,
        plan: ConformancePlan,
        known_limits: Sequence[KnownLimit],
        vectors: Sequence[Vector[object, object]],
        session: DriverSession,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        self._suite = suite
        self._plan = plan
        self._definition = suite.definition
        self._profile = suite.definition.profiles[0] if plan.profile is None else plan.profile
        self._known_limits = known_limits
        self._vectors = vectors
        self._session = session
        self._runner = VectorRunner(session, suite.definition, known_limits)
        wire = DrivenWire(suite.definition)
        self._port = CountingPort(DriverPort(session, wire.parse_answer), progress)
        clauses = clauses_of(suite.definition.clauses, Wire.DRIVEN, self._profile)
        self._tally = Tally(clauses, [limit.clause for limit in known_limits])
        self._introduction: Introduction | None = None
        self._results: list[CaseResult] = []
        self._failures: list[ConformanceFailure] = []
        self._trouble: DriverTrouble | None = None
        self.open_question: str | None = None

    def judge(self) -> None:
        """Drive all cases; what they show is in `result`."""
        try:
            self._introduction = self._session.introduce()
            self.open_question = _why_unsupported(self._definition, self._introduction)
            if self.open_question is None:
                self._run_vectors(self._introduction)
                self._run_cases()
            self._port.calls.clear()
            self._session.say_goodbye()
        except DriverFailedError as failure:
            self._trouble = DriverTrouble(
                problem=str(failure),
                last_lines=failure.last_lines,
                lines=_lines(self._port.calls or self._runner.asked),
            )

    def lift_known_limits(self) -> None:
        """If the plan asks for it, check that each known limit is still one."""
        plan = self._plan
        if not plan.must_fail or plan.skip is None:
            return
        if self._trouble is not None or self.open_question is not None:
            return
        fuzz_plan = FuzzPlan(cases=plan.cases, seed=plan.seed, repeat="")
        lifted = LiftedLimits(self._suite, plan.driver, self._profile, fuzz_plan, plan.limits)
        for result in lifted.check(plan.skip, self._known_limits):
            self._results.append(result)

    def result(self, seconds: float) -> ConformanceResult:
        """Return what the run has shown after `seconds`."""
        return ConformanceResult(
            component=self._definition.name,
            profile=self._profile,
            driver=self._plan.driver,
            implementation=self._introduction,
            seed=self._plan.seed,
            cases=self._port.cases,
            steps=self._port.steps + self._runner.steps,
            seconds=seconds,
            clauses=tuple(self._clause_counts()),
            results=tuple(self._results),
            failures=tuple(self._failures),
            trouble=self._trouble,
            open_question=self.open_question,
            repeat=self._repeat(),
        )

    def _run_vectors(self, introduction: Introduction) -> None:
        if not self._plan.vectors:
            return
        started = time.monotonic()
        tally = VectorTally()
        run_vectors(self._runner, self._vectors, self._profile, introduction, tally)
        self._runner.asked = []
        for failure in tally.failures[:1]:
            lines = (f"vector {failure.vector}", *failure.lines)
            self._fail(VECTORS, failure.violation, lines)
        self._results.append(
            CaseResult(
                name=VECTORS,
                verdict=tally.verdict,
                seconds=time.monotonic() - started,
                summary=tally.summary,
            )
        )

    def _run_cases(self) -> None:
        scenarios = self._suite.scenarios()
        for scenario in scenarios:
            if scenario.limit is None:
                self._run_scenario(scenario)
        self._run_fuzz()
        # Last, because here drivers hang and crash, after which nothing more can be asked.
        for scenario in scenarios:
            if scenario.limit is not None:
                self._run_scenario(scenario)

    def _run_scenario(self, scenario: Scenario[Request]) -> None:
        if scenario.limit is not None and self._tally.skips(scenario.limit):
            self._tally.tests(scenario.limit)
            return
        started = time.monotonic()
        violation = self._find_violation(scenario.calls)
        if violation is not None:
            self._fail(scenario.name, violation, _lines(self._port.calls))
        self._report(scenario.name, started, violation, f"{len(scenario.calls)} steps")

    def _find_violation(self, calls: Iterable[Request]) -> Violation | None:
        judge = self._suite.judge(self._profile, self._tally)
        return first_violation(judge, self._port, calls)

    def _run_fuzz(self) -> None:
        started = time.monotonic()
        fuzz_plan = FuzzPlan(cases=self._plan.cases, seed=self._plan.seed, repeat="")
        try:
            report = self._suite.fuzz(self._port, self._profile, self._tally, fuzz_plan)
        except Exception as error:
            # Hypothesis may have wrapped what the driver's failure raised, or shrunk it away.
            if self._session.failure is None:
                raise
            raise self._session.failure from error
        violation = None
        if report.failure is not None:
            violation = report.failure.violation
            self._fail(FUZZED_CASES, violation, report.failure.steps)
        self._report(
            FUZZED_CASES, started, violation, f"{report.cases:,} cases, {report.steps:,} steps"
        )

    def _fail(self, case: str, violation: Violation, lines: tuple[str, ...]) -> None:
        self._failures.append(
            ConformanceFailure(
                case=case,
                violation=violation,
                lines=lines,
                answers=answers_to(self._session, lines),
                repeat=self._repeat(),
            )
        )

    def _report(self, name: str, started: float, violation: Violation | None, extent: str) -> None:
        self._results.append(
            CaseResult(
                name=name,
                verdict=Verdict.PASS if violation is None else Verdict.FAIL,
                seconds=time.monotonic() - started,
                summary=extent if violation is None else f"{violation.rule}: {violation.reason}",
            )
        )

    def _clause_counts(self) -> Iterable[ClauseCount]:
        reasons = {limit.clause: limit.reason for limit in self._known_limits}
        for clause in dict.fromkeys((*self._tally.checked, *self._tally.skipped)):
            yield ClauseCount(
                clause=clause,
                checked=self._tally.checked.get(clause, 0),
                skipped=self._tally.skipped.get(clause, 0),
                reason=reasons.get(clause, ""),
            )

    def _repeat(self) -> str:
        """Return the command that does the same again."""
        plan = self._plan
        words = ["wheelproof", "conform", "--driver", plan.driver]
        words += ["--component", self._definition.name, "--profile", self._profile]
        words += ["--cases", str(plan.cases), "--seed", str(plan.seed)]
        if plan.skip is not None:
            words += ["--skip", str(plan.skip)]
        if plan.must_fail:
            words.append("--must-fail")
        for path in plan.vectors:
            words += ["--vectors", str(path)]
        return shlex.join(words)


def _why_unsupported(definition: AnyDefinition, introduction: Introduction) -> str | None:
    if definition.name not in introduction.components:
        return f"unsupported: the driver has no component {definition.name!r}"
    for capability in definition.capabilities:
        if capability not in introduction.capabilities:
            return f"unsupported: the driver lacks the capability {capability!r}"
    return None


def _lines(calls: Iterable[Request]) -> tuple[str, ...]:
    return tuple(request_line(number, call) for number, call in enumerate(calls, start=1))
