"""What a component promises, clause by clause: one table a component, for all of its judges."""

from enum import StrEnum
from typing import Self

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.violation import Violation

DRIVEN_ALONE = Wire.DRIVEN
"""A clause that needs the order of calls, which driven cases alone have."""
RECORDED_ALONE = Wire.RECORDED
"""A clause that needs names, times or overlapping calls, which histories alone have."""
EVERYWHERE = Wire.BOTH


class Clause(StrEnum):
    """Base of the tables: a member is the clause's name, which a violation has as its rule.

    It is written as the name, the rule of docs/semantics.md, the promise in a sentence, the judges
    that can test it, and the profiles in which it holds: all, if none is named.
    """

    rule: str
    promise: str
    judges: Wire
    profiles: tuple[str, ...]

    def __new__(
        cls, name: str, rule: str, promise: str, judges: Wire = EVERYWHERE, *profiles: str
    ) -> Self:
        """Make a member."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.rule = rule
        member.promise = promise
        member.judges = judges
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
