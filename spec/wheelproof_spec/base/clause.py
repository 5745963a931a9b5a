"""What a component promises, clause by clause: one table a component, for all of its judges."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.violation import Violation

EVERYWHERE = Wire.BOTH


@dataclass(frozen=True, slots=True)
class Alone:
    """The one kind of judge that can test a clause, and why the other one cannot."""

    judges: Wire
    why: str


def driven_alone(why: str) -> Alone:
    """Return that no history shows whether a clause is kept, and why."""
    return Alone(Wire.DRIVEN, why)


def recorded_alone(why: str) -> Alone:
    """Return that no driven case shows whether a clause is kept, and why."""
    return Alone(Wire.RECORDED, why)


class Clause(StrEnum):
    """Base of the tables: a member is the clause's name, which a violation has as its rule.

    It is written as the name, the rule of docs/semantics.md, the promise in a sentence, the judges
    that can test it, and the profiles in which it holds: all, if none is named. `why_alone` says
    why one kind of judge cannot test it; it is empty if both can.
    """

    rule: str
    promise: str
    judges: Wire
    why_alone: str
    profiles: tuple[str, ...]

    def __new__(
        cls, name: str, rule: str, promise: str, judges: Wire | Alone = EVERYWHERE, *profiles: str
    ) -> Self:
        """Make a member."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.rule = rule
        member.promise = promise
        member.judges = judges.judges if isinstance(judges, Alone) else judges
        member.why_alone = judges.why if isinstance(judges, Alone) else ""
        member.profiles = profiles
        return member

    def holds_in(self, profile: str) -> bool:
        """Tell whether an implementation that declares `profile` promises this."""
        return not self.profiles or profile in self.profiles

    def broken(self, expected: str, observed: str, reason: str = "") -> Violation:
        """Return that this does not hold; `reason` is the promise, if nothing says it better."""
        why = reason or f"{self.promise.removesuffix('.')} (semantics.md {self.rule})"
        return Violation(rule=self, expected=expected, observed=observed, reason=why)


def clauses_of(table: type[Clause], judges: Wire, profile: str) -> tuple[Clause, ...]:
    """Return the clauses that judges of this kind test of who declares `profile`."""
    return tuple(clause for clause in table if clause.judges & judges and clause.holds_in(profile))
