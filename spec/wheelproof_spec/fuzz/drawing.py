"""How the cases of a state machine are drawn: by Hypothesis's engine, or a plain generator.

Hypothesis's engine learns from the cases before a case, so each case depends on the whole batch.
With a plain random generator each seed gives one case, wherever it is run: the seeds can be spread
over computers. The state machines are the same.
"""

import random
from collections.abc import Callable
from typing import Protocol, cast

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import (
    RuleBasedStateMachine,
    get_state_machine_test,
    run_state_machine_as_test,
)

from wheelproof_spec.base.results.fuzz_report import ContractViolationError
from wheelproof_spec.base.suite import FuzzPlan

BYTES_OF_A_CASE = 8_192
"""The most bytes that Hypothesis lets a case draw."""


class Drawing(Protocol):
    """How a batch of cases is drawn, and whether a failing case is shrunk."""

    @property
    def shrinks(self) -> bool:
        """Whether a failing case is shrunk; otherwise the first failure is reported."""
        ...

    def run(
        self, machine: type[RuleBasedStateMachine], first_seed: int, cases: int, steps: int
    ) -> None:
        """Run `cases` cases of at most `steps` steps.

        Raises what the machine raises, and Flaky if a failure does not repeat.
        """
        ...


class HypothesisDrawing:
    """Hypothesis draws and shrinks; the seed stands for the whole batch."""

    shrinks = True

    def run(
        self, machine: type[RuleBasedStateMachine], first_seed: int, cases: int, steps: int
    ) -> None:
        """Run a batch; see `Drawing.run`."""
        # The database is off: a run by seed must not depend on an earlier run.
        chosen = settings(
            _SETTINGS,
            max_examples=cases,
            stateful_step_count=steps,
            database=None,
            phases=(Phase.generate, Phase.shrink),
        )
        run_state_machine_as_test(seed(first_seed)(machine), settings=chosen)


class PlainDrawing:
    """The bytes of `random.Random(seed)` are the case; the seeds are consecutive.

    With `shrinks` Hypothesis shrinks a failing case. Otherwise the case is left as it is, and
    Hypothesis's engine is not used.
    """

    def __init__(self, *, shrinks: bool) -> None:
        self.shrinks = shrinks

    def run(
        self, machine: type[RuleBasedStateMachine], first_seed: int, cases: int, steps: int
    ) -> None:
        """Run a batch; see `Drawing.run`."""
        chosen = settings(
            _SETTINGS,
            stateful_step_count=steps,
            # Hypothesis reads the case that it shrinks from here.
            database=InMemoryExampleDatabase() if self.shrinks else None,
            phases=(Phase.reuse, Phase.shrink),
        )
        test = get_state_machine_test(machine, settings=chosen)
        run_bytes = cast("_Test", test).hypothesis.fuzz_one_input
        for number in range(first_seed, first_seed + cases):
            try:
                run_bytes(random.Random(number).randbytes(BYTES_OF_A_CASE))
            except ContractViolationError:
                if self.shrinks:
                    test()
                raise


class _Handle(Protocol):
    @property
    def fuzz_one_input(self) -> Callable[[bytes], bytes | None]: ...


class _Test(Protocol):
    """A test function as Hypothesis wraps it, as far as that is documented."""

    hypothesis: _Handle


_SETTINGS = settings(
    deadline=None,
    print_blob=False,
    # One failure a batch: shrinking may end at another rule, but never in an exception group.
    report_multiple_bugs=False,
    verbosity=Verbosity.quiet,
    suppress_health_check=(
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
        HealthCheck.too_slow,
    ),
)


def drawing_of(plan: FuzzPlan) -> Drawing:
    """Return the drawing that a plan asks for."""
    if plan.seed_per_case:
        return PlainDrawing(shrinks=plan.shrink_seconds > 0)
    return HypothesisDrawing()
