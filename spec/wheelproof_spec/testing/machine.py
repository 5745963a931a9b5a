"""What the machines of all components share: pytest runs them, and their failures are shown.

A machine is written as Hypothesis has it, with rules, but without an `__init__`: a class that has
one is no test for pytest. Its `@initialize` makes the implementation, and `machine` joins the class
with Hypothesis's RuleBasedStateMachine.

A machine keeps its steps and what has failed. Mostly Hypothesis shows the smallest case itself. It
cannot do so if a failure does not repeat, or if a thread does not come back; then the steps stand
in a note of the error.

>>> from wheelproof_spec.testing import NothingToTestError, TimerMachine
>>> class TestNothing(TimerMachine):
...     pass
>>> try:
...     TestNothing().test_it_keeps_its_contract()
... except NothingToTestError as error:
...     print(error)
TestNothing has no timer; write in it: make = YourTimer
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NoReturn, Protocol, TypeVar, cast

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from wheelproof_spec.base.component import AnyDefinition
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.fuzz_report import ContractViolationError
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.fuzz.burst import BurstError, run_burst
from wheelproof_spec.fuzz.judged_bursts import JudgedBursts

Answer = TypeVar("Answer")
_Programs = Sequence[Sequence[Callable[[], object]]]


class NothingToTestError(UsageError):
    """A test does not say what it is for, or by which contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What a machine found, and the steps up to there, as code."""

    violation: Violation
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceBy:
    """In `together`: a thread advances the clock by this many milliseconds."""

    by_ms: int


class NotLookedAtWarning(UserWarning):
    """The test has passed; what the implementation does not offer was not looked at."""


class StuckError(BaseException):
    """A thread did not come back.

    It is not an Exception, since Hypothesis would run the case again and again to make it smaller.
    """


class Closable(Protocol):
    """What ends when it is closed."""

    def close(self) -> None:
        """End what it has started."""
        ...


class ContractMachine:
    """A machine that compares an implementation with its model. It knows no component.

    A subclass is a test: of a class that is called `Test...` pytest runs the method below. Every
    run draws the same cases, and no time is measured. Another `seed` draws others, and
    `settings = hypothesis.settings(TimerMachine.settings, max_examples=1_000)` draws more. Without
    `threads` no step has calls that overlap.
    """

    seed: ClassVar[int] = 0
    settings: ClassVar[hypothesis.settings] = hypothesis.settings(
        derandomize=True,
        database=None,
        deadline=None,
        print_blob=False,
        max_examples=100,
        stateful_step_count=15,
        phases=(Phase.generate, Phase.shrink),
        # It measures time.
        suppress_health_check=(HealthCheck.too_slow,),
    )
    threads: ClassVar[bool] = True
    component: ClassVar[AnyDefinition]
    profile: ClassVar[str]
    failures: ClassVar[list[Failure]] = []
    not_offered: ClassVar[set[str]] = set()
    """The optional methods that the implementation does not have; the machine adds to it."""
    _steps: list[str] | None = None
    _under_test: Closable | None = None
    """What `teardown` closes."""

    def test_it_keeps_its_contract(self) -> None:
        """Run the machine: first one call at a time, then with threads as well.

        So what one thread shows is found without luck. Raises ContractViolationError with the
        steps of the smallest case that failed, and NothingToTestError if the class does not say
        what to test. Warns with NotLookedAtWarning about optional methods that are not there.
        """
        not_offered: set[str] = set()
        for threads in (False, True):
            self.run(threads=threads, not_offered=not_offered)
        if not_offered:
            names = ", ".join(sorted(not_offered))
            what = f"{type(self).__name__} has not looked at what is not there: {names}"
            warnings.warn(what, NotLookedAtWarning, stacklevel=2)

    @classmethod
    def run(cls, **attributes: object) -> None:
        """Run the machine once, with these attributes of the class: `threads`, `settings`."""
        failures: list[Failure] = []
        machine = cls.machine(failures=failures, **attributes)
        try:
            run_state_machine_as_test(hypothesis.seed(cls.seed)(machine), settings=cls.settings)
        except (Flaky, StuckError) as error:
            if not failures:
                raise
            smallest = min(failures, key=lambda failure: len(failure.steps))
            raise _with_steps(smallest, error) from None

    @classmethod
    def machine(cls, **attributes: object) -> type[RuleBasedStateMachine]:
        """Return the state machine for Hypothesis, with these attributes of the class.

        Raises NothingToTestError.
        """
        what = cls.component.name.replace("_", " ")
        if not hasattr(cls, "make"):
            your = f"Your{cls.component.title()}"
            raise NothingToTestError(f"{cls.__name__} has no {what}; write in it: make = {your}")
        if not cls.component.has_profile(cls.profile):
            known = ", ".join(cls.component.profiles)
            raise NothingToTestError(
                f"{cls.__name__} has the profile {cls.profile!r}; take {known}"
            )
        # Without a file: Hypothesis would parse this one each time, to tell whether the class
        # changed.
        mine = {"__module__": f"the test {cls.__qualname__}", **attributes}
        # Hypothesis prints the name of the class with rules: `state = TimerMachine()`.
        of_rules = [one for one in cls.__mro__ if ContractMachine in one.__bases__]
        name = of_rules[0].__name__ if of_rules else cls.__name__
        return cast(type[RuleBasedStateMachine], type(name, (cls, RuleBasedStateMachine), mine))

    def teardown(self) -> None:
        """Close the implementation."""
        if self._under_test is not None:
            self._under_test.close()

    def run_burst(self, programs: _Programs, of: str) -> object:
        """Run each program on its own thread, all at once; see `burst.run_burst`.

        A subclass may give the threads an order, so that they meet where it wants.
        """
        return run_burst(programs, of)

    def _alone(self, call: Callable[[], Answer]) -> Answer:
        """Make a call that no other overlaps, on a thread, since it may not come back."""
        try:
            return run_burst([[call]], self.component.title(), "step")[0]
        except BurstError as error:
            self._fail(error.violation, stuck=error.stuck)

    def _judge_burst(self, history: JudgedBursts, programs: _Programs) -> None:
        """Run a burst whose calls record themselves, and judge the history so far."""
        stuck: list[bool] = []

        def burst() -> None:
            try:
                self.run_burst(programs or [[]], self.component.title())
            except BurstError as error:
                stuck.append(error.stuck)
                raise

        self._fail_if(history.judge(burst), stuck=any(stuck))

    def _tell(self, step: str, **arguments: object) -> None:
        """Keep a step, which is a call of a rule as code."""
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        self._told().append(f"state.{step}({given})")

    def _told(self) -> list[str]:
        if self._steps is None:
            self._steps = []
        return self._steps

    def _fail_if(self, violation: Violation | None, *, stuck: bool = False) -> None:
        """End the case if there is a violation; see `_fail`."""
        if violation is not None:
            self._fail(violation, stuck=stuck)

    def _fail(self, violation: Violation, *, stuck: bool = False) -> NoReturn:
        """End the case; `stuck` says that a thread did not come back, so no other is to be tried.

        Raises ContractViolationError, or StuckError.
        """
        # A thread may have left a lock taken, on which `close` would wait for ever.
        self._under_test = None
        self.failures.append(Failure(violation=violation, steps=tuple(self._told())))
        if stuck:
            raise StuckError
        raise ContractViolationError(violation)


def _with_steps(failure: Failure, reason: BaseException) -> ContractViolationError:
    """Return the error of a failure that Hypothesis does not show, or not with its steps."""
    why = (
        "A thread did not come back, so nothing was made smaller."
        if isinstance(reason, StuckError)
        else "These steps failed once and then passed: it takes luck how the threads meet.\n"
        "The violation is real all the same. Run it again, or with more examples."
    )
    error = ContractViolationError(failure.violation)
    error.add_note("\n".join((why, "The steps:", *(f"    {step}" for step in failure.steps))))
    return error
