"""The five completion disciplines, and what a history of each may claim (semantics.md 2)."""

from dataclasses import dataclass, replace

from wheelproof.purgatory import (
    BlockingDiscipline,
    CompletionDiscipline,
    ExclusiveDiscipline,
    MonitorDiscipline,
    PendingFlagDiscipline,
    TryLockOnceDiscipline,
)
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.components.purgatory.component import PREDICATES_TOO, PurgatoryConfig


@dataclass(frozen=True, slots=True)
class Claimed:
    """A discipline, and what is promised with it."""

    discipline: type[CompletionDiscipline]
    claims: PurgatoryConfig


_OVERLAPPING = replace(PREDICATES_TOO, attempts=ABSENT)

DISCIPLINES = (
    Claimed(ExclusiveDiscipline, PREDICATES_TOO),
    Claimed(BlockingDiscipline, _OVERLAPPING),
    Claimed(PendingFlagDiscipline, _OVERLAPPING),
    Claimed(TryLockOnceDiscipline, replace(_OVERLAPPING, triggers="may_be_missed")),
    Claimed(MonitorDiscipline, _OVERLAPPING),
)
