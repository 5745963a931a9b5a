"""The driven conformance of a component: vectors, named cases, then fuzzed cases that shrink.

The oracle judges cases, as for the reference; vectors contain the expected answers.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.bounds import Bounds
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.component import CONCURRENT, Capability, Request
from wheelproof_spec.base.history.lines import Vector
from wheelproof_spec.base.port import UnjudgeableError, judge_call
from wheelproof_spec.base.results.fuzz_report import FuzzFailure
from wheelproof_spec.base.results.known_limits import KnownLimit, read_known_limits
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict, overall
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.suite import AnySuite, FuzzPlan, Scenario
from wheelproof_spec.drive.answers import answers_to, is_refusal
from wheelproof_spec.drive.drawn_cases import fuzz
from wheelproof_spec.drive.driver.counting import CountingPort
from wheelproof_spec.drive.driver.crew import CrewPort, DriverCrew
from wheelproof_spec.drive.driver.messages import Introduction
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverSilentError
from wheelproof_spec.drive.must_fail import LiftedLimits
from wheelproof_spec.drive.named_cases import FailedCase, ProfileSearch, SmallestCase, lacking
from wheelproof_spec.drive.outcomes import Outcomes, why_unsupported
from wheelproof_spec.drive.plan import (
    FUZZED_CASES,
    OVERLAPPING,
    VECTORS,
    ConformancePlan,
    read_case,
)
from wheelproof_spec.drive.result import ConformanceResult, Inferred, NotApplicable
from wheelproof_spec.drive.vector_run import VectorRunner, VectorTally, lines_of, run_vectors

INTERRUPTED = "interrupted; what was not finished is not judged"
MOST_FAILURES = 5
"""The run ends after so many failures of the driver: each may take as long as the time-out."""
MOST_OF_A_KIND = 2
"""Fuzzing, or running vectors, ends after so many failures of the driver: mostly they repeat."""
CASES_OF_BURSTS = 10
"""One case of bursts is sent for so many fuzzed cases."""
_NO_CASES = (VECTORS, OVERLAPPING)
"""What another profile is not tried on: the answers are published, or threads chose them."""
_SILENCE = (
    "a silence of the driver: give it more time with --timeout if it is slow; if it never answers, "
    "declare in the hello reply, as bounds, what it cannot be asked, or skip that with --skip"
)


def conform(
    suite: AnySuite,
    plan: ConformancePlan,
    vectors: Sequence[Vector[object, object]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> ConformanceResult:
    """Drive the implementation behind `plan.driver` and judge it by `suite`, `vectors` first.

    `progress` gets the number of cases and of steps whenever a case begins. After the return or an
    error, no process of the driver is left. An interruption (Ctrl-C) ends the run with a result:
    unfinished cases are not judged. With `plan.jobs` so many processes of the driver work at once;
    the result is that of one.

    Raises UsageError if the driver cannot be started, or allows one process alone, and
    InputRejectedError if `plan.skip` is no file of known limits, or `plan.case` no case.
    """
    known_limits = (
        () if plan.skip is None else read_known_limits(plan.skip, suite.definition.may_be_limits())
    )
    vectors = tuple(vector for vector in vectors if vector.component == suite.definition.name)
    started = time.monotonic()

    def judged_by(jobs: int) -> ConformanceResult:
        with DriverCrew(plan.driver, plan.limits, jobs) as crew:
            run = _Run(suite, plan, known_limits, vectors, crew, progress)
            try:
                run.judge()
                run.lift_known_limits()
            except KeyboardInterrupt:
                run.found.open_question = INTERRUPTED
        return run.result(time.monotonic() - started)

    with suppress(_CrewFailedError):
        return judged_by(plan.jobs)
    return judged_by(jobs=1)


class _GivenUpError(Exception):
    """The driver has failed too often: the message says how often."""


class _CrewFailedError(Exception):
    """One of several processes has failed: one process alone shows where the driver does."""


class _FirstFailureError(Exception):
    """The first failure was found, and the plan ends the run there."""


class _Run:
    """Drives an implementation as a plan says, and keeps the results."""

    def __init__(
        self,
        suite: AnySuite,
        plan: ConformancePlan,
        known_limits: Sequence[KnownLimit],
        vectors: Sequence[Vector[object, object]],
        crew: DriverCrew,
        progress: Callable[[int, int], None] | None,
    ) -> None:
        """Prepare to judge the implementation behind `crew` by `suite`."""
        self._suite = suite
        self._plan = plan
        self._definition = suite.definition
        self.found = Outcomes(plan, suite.definition, known_limits)
        self._known_limits = known_limits
        self._vectors = vectors
        self._crew = crew
        self._runner = VectorRunner(crew.leader, suite.definition, known_limits)
        self._wire = DrivenWire(suite.definition)
        self._case = None if plan.case is None else read_case(plan.case, self._wire)
        self._port = CountingPort(CrewPort(crew, self._wire.parse_answer), progress)
        self._undeclared: tuple[Capability, ...] = ()
        self._bounds: Bounds = {}
        self._scenarios: Sequence[Scenario[Request]] = ()
        self._tally = self._new_tally()

    def judge(self) -> None:
        """Drive all cases; `result` returns the outcome."""
        try:
            self.found.introduction = self._crew.introduce()
            self._accept(self.found.introduction)
            if self.found.open_question is None:
                if self._case is not None and any(one.caller for one in self._case):
                    self._run_bursts(self.found.introduction)
                elif self._case is not None:
                    calls = tuple(one.call for one in self._case)
                    self._run_scenario(Scenario(name=str(self._plan.case), calls=calls))
                else:
                    self._run_all(self.found.introduction)
                if self.found.open_question is None and not self._port.cases + self._runner.steps:
                    self.found.open_question = "nothing was driven: no case is applicable"
            self._port.calls.clear()
            self._crew.say_goodbye()
        except DriverFailedError as failure:
            self._note(failure, "", lines_of(self._port.calls))
        except UnjudgeableError as unknown:
            self.found.open_question = str(unknown)
        except _FirstFailureError:
            pass
        except _GivenUpError as reason:
            self.found.open_question = f"given up after {reason}; the rest was not driven"

    def _run_all(self, introduction: Introduction) -> None:
        if self._plan.infer:
            self._infer_profile()
        self._run_vectors(introduction)
        self._run_cases()
        if CONCURRENT in introduction.capabilities:
            self._run_bursts(introduction)
        self._find_profile()

    def lift_known_limits(self) -> None:
        """If the plan asks for it, check that each known limit is still needed."""
        plan = self._plan
        if not plan.must_fail or plan.skip is None:
            return
        if self.found.troubles or self.found.open_question is not None:
            return
        fuzz_plan = FuzzPlan(cases=plan.cases, seed=plan.seed, shrink_seconds=math.inf)
        lifted = LiftedLimits(
            self._suite,
            plan.driver,
            self.found.profile,
            fuzz_plan,
            plan.limits,
            self._undeclared,
            self._bounds,
        )
        self.found.results += lifted.check(plan.skip, self._known_limits)

    def result(self, seconds: float) -> ConformanceResult:
        """Return the result of the run, which took `seconds`."""
        extent = self._port.cases, self._port.steps + self._runner.steps
        return self.found.result(extent, seconds, self._tally, self._undeclared)

    def _accept(self, introduction: Introduction) -> None:
        """Adopt the contract, the capabilities and the bounds that the driver declares."""
        definition = self._definition
        self.found.open_question = why_unsupported(definition, introduction)
        if self._plan.profile is None and self.found.open_question is None:
            self.found.profile = introduction.profiles.get(definition.name, self.found.profile)
        self._undeclared = definition.undeclared(introduction.capabilities)
        self._bounds = introduction.bounds.get(definition.name, {})
        self._scenarios = self._suite.scenarios_within(self._bounds)
        self._tally = self._new_tally()

    def _new_tally(self, profile: str | None = None) -> Tally:
        clauses = clauses_of(self._definition.clauses, Wire.DRIVEN, profile or self.found.profile)
        limits = [*(limit.clause for limit in self._known_limits), *self._undeclared]
        return Tally(clauses, limits, self._bounds)

    def _run_vectors(self, introduction: Introduction) -> None:
        if not self._plan.vectors:
            return
        started = time.monotonic()
        tally = VectorTally()
        # One iterator: a vector in which the driver failed is not run again.
        waiting = iter(self._vectors)
        verdicts = {Verdict.ERROR}
        for _ in range(MOST_OF_A_KIND):
            try:
                run_vectors(self._runner, waiting, self.found.profile, introduction, tally)
                verdicts.clear()
                break
            except DriverFailedError as failure:
                self._survive(failure, VECTORS, lines_of(self._runner.asked))
        for wrong in tally.failures[:1]:
            self._fail(VECTORS, wrong.violation, (f"vector {wrong.vector}", *wrong.lines))
        self.found.report(VECTORS, started, overall([tally.verdict, *verdicts]), tally.summary)

    def _run_cases(self) -> None:
        for scenario in self._within_every_domain():
            self._run_scenario(scenario)
        self._run_fuzz()
        # Last, because drivers hang and crash here, and MOST_FAILURES failures end the run.
        for scenario in self._scenarios:
            if scenario.limit is not None:
                self._run_scenario(scenario)

    def _within_every_domain(self) -> list[Scenario[Request]]:
        """Return the named cases that need no optional part of the domain."""
        return [scenario for scenario in self._scenarios if scenario.limit is None]

    def _run_scenario(self, scenario: Scenario[Request]) -> None:
        needs = lacking(self._suite, scenario, self._tally)
        if needs:
            for need in filter(self._tally.skips, needs):
                self._tally.tests(need)
            self.found.not_applicable.append(NotApplicable(case=scenario.name, needs=needs))
            return
        started = time.monotonic()
        try:
            failed = self._drive(scenario.calls, self._tally)
        except DriverFailedError as failure:
            self._survive(failure, scenario.name, lines_of(self._port.calls))
            return
        if failed is not None:
            if self._case is None and not self._plan.first_failure:
                failed = self._small(failed, scenario.name)
            self._fail(scenario.name, failed.violation, lines_of(failed.made))
        violation = None if failed is None else failed.violation
        self.found.report_case(scenario.name, started, violation, f"{len(scenario.calls)} steps")
        if self.found.open_question is not None:
            raise KeyboardInterrupt

    def _drive(self, calls: Sequence[Request], tally: Tally) -> FailedCase | None:
        judge = self._suite.judge(self.found.profile, tally)
        for place, call in enumerate(calls, start=1):
            possible = judge.as_possible(call)
            violation = None if possible is None else judge_call(judge, self._port, possible)
            if violation is not None:
                return FailedCase(tuple(calls[:place]), tuple(self._port.calls), violation)
        return None

    def _small(self, failed: FailedCase, name: str) -> FailedCase:
        smallest = SmallestCase(failed)
        try:
            smallest.search(lambda calls: self._drive(calls, self._new_tally()))
        except DriverFailedError as failure:
            self._survive(failure, f"{name}, made smaller", lines_of(self._port.calls))
        except KeyboardInterrupt:
            self.found.open_question = INTERRUPTED
        return smallest.case

    def _run_fuzz(self) -> None:
        started = time.monotonic()
        cases = steps = failures = 0
        found: FuzzFailure | None = None
        while cases < self._plan.cases and found is None and failures < MOST_OF_A_KIND:
            before = self._port.cases, self._port.steps
            try:
                # With the seed of the case in which the driver failed, it would fail again.
                left, seed = self._plan.cases - cases, self._plan.seed + cases
                plan = self._fuzz_plan(left, seed)
                report = fuzz(self._suite, self._port, self.found.profile, self._tally, plan)
                found, cases, steps = report.failure, cases + report.cases, steps + report.steps
                if self._crew.failure is not None:
                    raise self._crew.failure
                break
            except DriverFailedError as failure:
                if found is None:
                    cases += max(self._port.cases - before[0], 1)
                    steps += self._port.steps - before[1]
                failures += 1
                self._survive(failure, FUZZED_CASES, lines_of(self._port.calls))
        violation = None if found is None else found.violation
        if found is not None:
            self._fail(FUZZED_CASES, found.violation, found.steps)
        extent = f"{cases:,} cases, {steps:,} steps"
        if violation is None and cases < self._plan.cases:
            extent = f"{extent}, and then the driver failed"
            self.found.report(FUZZED_CASES, started, Verdict.ERROR, extent)
        else:
            self.found.report_case(FUZZED_CASES, started, violation, extent)

    def _fuzz_plan(self, cases: int, seed: int) -> FuzzPlan:
        shrinking = 0.0 if self._plan.first_failure else math.inf
        return FuzzPlan(cases=cases, seed=seed, shrink_seconds=shrinking)

    def _run_bursts(self, introduction: Introduction) -> None:
        """Send bursts of calls that overlap, or the case of the plan again and again."""
        if CONCURRENT not in introduction.capabilities:
            self.found.open_question = f"the case has callers, and the driver is not {CONCURRENT!r}"
            return
        if self._suite.bursts is None:
            why = f"a judge of bursts, which the component {self._definition.name} does not have"
            self.found.not_applicable.append(NotApplicable(case=OVERLAPPING, needs=(why,)))
            return
        started = time.monotonic()
        bursts = self._suite.bursts(self.found.profile, self._tally)
        try:
            if self._case is not None:
                report = bursts.repeat(self._port, self._case)
            else:
                cases = max(self._plan.cases // CASES_OF_BURSTS, 1)
                report = bursts.run(self._port, self._fuzz_plan(cases, self._plan.seed))
            if self._crew.leader.failure is not None:
                raise self._crew.leader.failure
        except DriverFailedError as failure:
            self.found.report(OVERLAPPING, started, Verdict.ERROR, "the driver failed in a burst")
            self._survive(failure, OVERLAPPING, bursts.lines)
            return
        self.found.report_bursts(report, started)

    def _find_profile(self) -> None:
        """If cases have failed, look for another profile by which all of them pass."""
        if not self.found.failures or self.found.troubles:
            return
        failed = [failure.lines for failure in self.found.failures if failure.case not in _NO_CASES]
        if len(failed) == len(self.found.failures):
            others = [name for name in self._definition.profiles if name != self.found.profile]
            # No case has made the driver fail, those of optional parts of the domain included.
            self.found.passes_as = self._search(self._scenarios).find(self._tallies(others), failed)

    def _infer_profile(self) -> None:
        """Look for the strongest profile that the implementation keeps, and judge by that one."""
        search = self._search(self._within_every_domain())
        found = search.find(self._tallies(self._definition.by_strength()))
        self.found.inferred = Inferred(profile=found, stronger=tuple(search.broken))
        if found is not None:
            self.found.profile = found
            self._tally = self._new_tally()

    def _search(self, scenarios: Sequence[Scenario[Request]]) -> ProfileSearch:
        return ProfileSearch(self._suite, self._port, scenarios, self._plan.cases, self._plan.seed)

    def _tallies(self, profiles: Iterable[str]) -> Iterator[tuple[str, Tally]]:
        return ((profile, self._new_tally(profile)) for profile in profiles)

    def _note(self, failure: DriverFailedError, case: str, lines: tuple[str, ...]) -> None:
        if not self._crew.is_alone:
            raise _CrewFailedError
        self.found.trouble(failure, case, lines)

    def _survive(self, failure: DriverFailedError, case: str, lines: tuple[str, ...]) -> None:
        """Report that the driver failed in a case, and start a new driver.

        Raises _GivenUpError after a silence, and after MOST_FAILURES failures; DriverFailedError if
        the driver does not start.
        """
        self._note(failure, case, lines)
        if self._plan.first_failure:
            raise _FirstFailureError
        if isinstance(failure, DriverSilentError):
            # The next silence would last as long, and mostly there is one in many cases.
            raise _GivenUpError(_SILENCE)
        if len(self.found.troubles) >= MOST_FAILURES:
            raise _GivenUpError(f"{MOST_FAILURES} failures of the driver")
        self._port.begin_again()
        self._crew.leader.begin_again()

    def _fail(self, case: str, violation: Violation, lines: tuple[str, ...]) -> None:
        # After an interruption the answer to the interrupted request may still arrive.
        answers = answers_to(self._crew.leader, lines) if self.found.open_question is None else ()
        said = self._crew.leader.last_lines() if answers and is_refusal(answers[-1]) else ()
        if self._crew.failure is not None:
            self._survive(self._crew.failure, f"{case}, asked once more", lines)
        self.found.fail(case, violation, lines, answers, said)
        if self._plan.first_failure:
            raise _FirstFailureError
