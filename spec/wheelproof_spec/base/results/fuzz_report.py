"""The report of a fuzzing run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wheelproof_spec.base.results.violation import Violation


class ContractViolationError(AssertionError):
    """A machine found that the implementation breaks its contract."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(
            f"{violation.rule}: {violation.reason} "
            f"(expected: {violation.expected}; observed: {violation.observed})"
        )
        self.violation = violation


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFailure:
    """A case that breaks the contract: its calls, and the command that repeats it.

    `shrunk` is false as long as the case has not been shrunk.
    """

    violation: Violation
    steps: tuple[str, ...]
    repeat: str
    shrunk: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzReport:
    """How much was run, and the failure, if any; `seed` repeats the whole run.

    `calls` says how often each kind of call was made, `interrupted` whether the user ended it.
    """

    machine: str
    seed: int
    cases: int
    steps: int
    seconds: float
    failure: FuzzFailure | None
    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    interrupted: bool = False
