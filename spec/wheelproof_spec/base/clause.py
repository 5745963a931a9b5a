"""The clauses that a component promises: one table for each component, for all its judges."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Self

from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.violation import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What is said of a clause.

    `rule` is its rule of docs/standard, `promise` is one sentence, `profiles` are those in
    which it holds (none named: all). If only one kind of judge can test it, `driven_alone` says why
    no history shows whether it is kept, or `recorded_alone` says why no driven case shows it.
    """

    rule: str
    promise: str
    driven_alone: str = ""
    recorded_alone: str = ""
    profiles: tuple[str, ...] = ()


class Clause(StrEnum):
    """Base of the tables: a member is the clause's name, which a violation has as its rule.

    A table is written as ``NAME = "Component.Name", Said(rule=..., promise=...)``.
    """

    rule: str
    promise: str
    judges: Wire
    why_alone: str
    profiles: tuple[str, ...]

    def __new__(cls, name: str, said: Said) -> Self:
        """Make a member: its value is the name, its attributes are what is said of it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.rule = said.rule
        member.promise = said.promise
        member.judges = Wire.BOTH
        if said.driven_alone or said.recorded_alone:
            member.judges = Wire.DRIVEN if said.driven_alone else Wire.RECORDED
        member.why_alone = said.driven_alone or said.recorded_alone
        member.profiles = said.profiles
        return member

    def holds_in(self, profile: str) -> bool:
        """Tell whether an implementation that declares `profile` promises this."""
        return not self.profiles or profile in self.profiles

    def broken(self, expected: str, observed: str, reason: str = "") -> Violation:
        """Return the violation of this clause; the default of `reason` is the promise."""
        why = reason or f"{self.promise.removesuffix('.')} (standard {self.rule})"
        return Violation(rule=self, expected=expected, observed=observed, reason=why)


def promise_of(violation: Violation) -> str | None:
    """Return what the broken clause promises, and its rule; None if no component promises it."""
    clause = violation.rule
    return f"{clause.promise} (standard {clause.rule})" if isinstance(clause, Clause) else None


@cache
def clauses_of(table: type[Clause], judges: Wire, profile: str) -> tuple[Clause, ...]:
    """Return the clauses that judges of this kind test for the contract `profile`."""
    return tuple(clause for clause in table if clause.judges & judges and clause.holds_in(profile))
