"""What may take the place of the reference when the purgatory is fuzzed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wheelproof.purgatory import (
    CompletionDiscipline,
    DelayedOperation,
    DelayedOperationPurgatory,
    ExclusiveDiscipline,
)

AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
Holds = Callable[[Sequence[bool]], bool]
"""Makes a predicate from the cases in which an operation can end."""


def any_case(cases: Sequence[bool]) -> bool:
    """Tell whether any of the cases holds in which an operation can end: the correct predicate."""
    return any(cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgatoryVariant:
    """What is fuzzed: by default the reference's class, discipline and predicate."""

    purgatory_class: type[AnyPurgatory] = DelayedOperationPurgatory
    discipline: Callable[[], CompletionDiscipline] = ExclusiveDiscipline
    holds: Holds = any_case
