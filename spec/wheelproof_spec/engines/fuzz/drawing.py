"""Who draws the cases of a machine: Hypothesis's engine, or a plain random generator.

Hypothesis's engine learns from the cases before a case, so what it draws depends on the whole
batch. Of a plain generator each seed is one case by itself, wherever it is run: that can be spread
over machines. The machines are the same.
"""

import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, cast

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import (
    RuleBasedStateMachine,
    get_state_machine_test,
    run_state_machine_as_test,
)

from wheelproof_spec.base.results.fuzz_report import ContractViolationError

BYTES_OF_A_CASE = 8_192
"""As much as Hypothesis lets a case draw."""


class Drawing(Protocol):
    """How a batch of cases is drawn, and whether a case that fails is made smaller."""

    @property
    def shrinks(self) -> bool:
        """Whether a failure is the smallest that was found, or the first."""
        ...

    def run(
        self, machine: type[RuleBasedStateMachine], first_seed: int, cases: int, steps: int
    ) -> None:
        """Run `cases` cases of at most `steps` steps.

        Raises what the machine raises, and Flaky where a failure does not repeat itself.
        """
        ...


class HypothesisDrawing:
    """Hypothesis draws and shrinks; the seed stands for the whole batch."""

    shrinks = True

    def run(
        self, machine: type[RuleBasedStateMachine], first_seed: int, cases: int, steps: int
    ) -> None:
        """Run a batch; see `Drawing.run`."""
        # The database is off: a run by seed depends on nothing that an earlier run has left.
        chosen = settings(
            _SETTINGS,
            max_examples=cases,
            stateful_step_count=steps,
            database=None,
            phases=(Phase.generate, Phase.shrink),
        )
        run_state_machine_as_test(seed(first_seed)(machine), settings=chosen)


class PlainDrawing:
    """The bytes of `random.Random(seed)` are the case; seeds follow one another.

    With `shrinks` Hypothesis makes a case that fails smaller. Without, it is left as it is: then
    Hypothesis's engine takes no part.
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
            # From here Hypothesis takes the case that is to be made smaller.
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
    """What Hypothesis makes of a test function, as far as it is documented."""

    hypothesis: _Handle


_SETTINGS = settings(
    deadline=None,
    print_blob=False,
    # One failure a batch: shrinking may end in another rule, but never in a group of errors.
    report_multiple_bugs=False,
    verbosity=Verbosity.quiet,
    suppress_health_check=(
        HealthCheck.data_too_large,
        HealthCheck.filter_too_much,
        HealthCheck.large_base_example,
        HealthCheck.too_slow,
    ),
)
_current: ContextVar[Drawing] = ContextVar("drawing")
_BY_HYPOTHESIS = HypothesisDrawing()


def current_drawing() -> Drawing:
    """Return how cases are drawn here: by Hypothesis, outside every `drawn_by`."""
    return _current.get(_BY_HYPOTHESIS)


@contextmanager
def drawn_by(drawing: Drawing) -> Generator[None]:
    """Let every machine that runs inside the block take its cases from `drawing`."""
    token = _current.set(drawing)
    try:
        yield
    finally:
        _current.reset(token)
