"""What the tests of all components share: how a machine runs, and how its failures are shown.

A machine keeps its steps and what has failed. Mostly Hypothesis shows the smallest case itself. It
cannot do so if a failure does not repeat, or if a thread does not come back; then the steps stand
in a note of the error.

>>> from wheelproof_spec.components.timer.component import DEFINITION
>>> from wheelproof_spec.testing.running import NothingToTestError, require_choice
>>> class TestMine:
...     pass
>>> try:
...     require_choice(TestMine, "timer", "kafka", DEFINITION)
... except NothingToTestError as error:
...     print(error)
TestMine has no timer; write in it: make = YourTimer
"""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NoReturn

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from wheelproof_spec.base.component import CallT, ComponentDefinition, SeenT
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.fuzz_report import ContractViolationError
from wheelproof_spec.base.results.violation import Violation


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


class ContractMachine(RuleBasedStateMachine):
    """A machine that compares an implementation with its oracle. It knows no component.

    Without `threads` no step has calls that overlap.
    """

    threads: ClassVar[bool] = True
    failures: ClassVar[list[Failure]] = []
    not_offered: ClassVar[set[str]] = set()
    """The optional methods that the implementation does not have; the machine adds to it."""

    def __init__(self) -> None:
        """Begin a case."""
        super().__init__()
        self._steps: list[str] = []

    def _tell(self, step: str) -> None:
        """Keep a step, which is a call of a rule as code."""
        self._steps.append(f"state.{step}")

    def _fail_if(self, violation: Violation | None, *, stuck: bool = False) -> None:
        """End the case if there is a violation; see `_fail`."""
        if violation is not None:
            self._fail(violation, stuck=stuck)

    def _fail(self, violation: Violation, *, stuck: bool = False) -> NoReturn:
        """End the case; `stuck` says that a thread did not come back, so no other is to be tried.

        Raises ContractViolationError, or StuckError.
        """
        self.failures.append(Failure(violation=violation, steps=tuple(self._steps)))
        if stuck:
            raise StuckError
        raise ContractViolationError(violation)


class ContractTests:
    """The test of an implementation, for pytest: what the tests of all components have.

    Every run draws the same cases, and no time is measured. Another `seed` draws others, and
    `settings = hypothesis.settings(TimerTests.settings, max_examples=1_000)` draws more.
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

    def test_it_keeps_its_contract(self) -> None:
        """Run the machine: first one call at a time, then with threads as well.

        So what one thread shows is found without luck. Raises ContractViolationError with the
        steps of the smallest case that failed, and NothingToTestError if the class does not say
        what to test. Warns with NotLookedAtWarning about optional methods that are not there.
        """
        not_offered: set[str] = set()
        for threads in (False, True):
            machine = self._machine()
            machine.threads = threads
            machine.failures = []
            machine.not_offered = not_offered
            # So it is called in the steps that Hypothesis prints.
            machine.__name__ = machine.__bases__[0].__name__
            # Without a file: Hypothesis would parse this one each time, to tell whether the class
            # changed.
            machine.__module__ = f"the test {type(self).__qualname__}"
            self._run(machine)
        if not_offered:
            names = ", ".join(sorted(not_offered))
            what = f"{type(self).__name__} has not looked at what is not there: {names}"
            warnings.warn(what, NotLookedAtWarning, stacklevel=2)

    @classmethod
    @abstractmethod
    def _machine(cls) -> type[ContractMachine]:
        """Return a new class: the machine of this test."""

    def _run(self, machine: type[ContractMachine]) -> None:
        try:
            seeded = hypothesis.seed(self.seed)(machine)
            run_state_machine_as_test(seeded, settings=self.settings)
        except (Flaky, StuckError) as error:
            if not machine.failures:
                raise
            smallest = min(machine.failures, key=lambda failure: len(failure.steps))
            raise _with_steps(smallest, error) from None


def require_choice(
    chooser: type[object], what: str, profile: str, definition: ComponentDefinition[CallT, SeenT]
) -> None:
    """Raise NothingToTestError if a class has no `make`, or if its profile is not a known one."""
    if not hasattr(chooser, "make"):
        your = f"Your{what.title().replace(' ', '')}"
        raise NothingToTestError(f"{chooser.__name__} has no {what}; write in it: make = {your}")
    if not definition.has_profile(profile):
        known = ", ".join(definition.profiles)
        raise NothingToTestError(f"{chooser.__name__} has the profile {profile!r}; take {known}")


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
