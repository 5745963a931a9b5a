"""The relations between the verdicts on a history and on a variation, and shared types."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from wheelproof_lab.metamorphic.recording import Recording, Scene
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict

Vary = Callable[[Recording, Random], Recording | None]
"""A function that returns a variation of a history, or None if there is nothing to vary."""


class Relation(Enum):
    """The verdicts that a variation may have, given the verdict on the history itself."""

    SAME = "the verdict stays"
    """The same behaviour in other words: the same verdict, and the same clause."""
    ALLOWED = "what passes does not fail"
    """A behaviour that the contract allows if it allows the first one."""
    WEAKER = "less knowledge makes no stronger verdict"
    """The same behaviour with less known: PASS and INCONCLUSIVE stay or become INCONCLUSIVE."""
    FAULT = "the clause of the fault is named"
    """A correct history in which one clause was broken."""

    def allows(self, before: RunVerdict, after: RunVerdict, clause: str | None) -> bool:
        """Tell whether the two verdicts fit together; `clause` is the one that was broken."""
        match self:
            case Relation.SAME:
                return (before.verdict, rules_of(before)) == (after.verdict, rules_of(after))
            case Relation.ALLOWED:
                return before.verdict is Verdict.FAIL or after.verdict is not Verdict.FAIL
            case Relation.WEAKER:
                return (
                    before.verdict is Verdict.FAIL
                    or after.verdict is before.verdict
                    or after.verdict is Verdict.INCONCLUSIVE
                )
            case Relation.FAULT:
                return before.verdict is Verdict.FAIL or clause in rules_of(after)


def rules_of(verdict: RunVerdict) -> tuple[str, ...]:
    """Return the rules that a run breaks, the first one first."""
    others = (str(broken.violation.rule) for broken in verdict.also_broken)
    return () if verdict.violation is None else (str(verdict.violation.rule), *others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A way to vary a history, and how its verdict may change."""

    name: str
    relation: Relation
    vary: Vary


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A way to break one clause of a correct history, in some or in all profiles."""

    clause: Clause
    inject: Vary
    profiles: tuple[str, ...] = ()

    def is_for(self, profile: str) -> bool:
        """Tell whether the fault breaks the clause in histories of this profile."""
        judged = self.clause.judges & Wire.RECORDED and self.clause.holds_in(profile)
        return bool(judged) and profile in (self.profiles or (profile,))


def acted(
    clause: Clause, act: Callable[[Scene], object], *, whole: bool = False, end: bool = False
) -> Fault:
    """Return a fault that plays a scene after some moment of a correct history.

    If `act` returns False, the scene cannot be played there. With `whole` the scene comes after all
    other lines. With `end` a quiet end comes after the scene.
    """

    def inject(recording: Recording, dice: Random) -> Recording | None:
        scene = Scene(recording, dice, whole=whole)
        return None if act(scene) is False else scene.recording(end=end)

    return Fault(clause=clause, inject=inject)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metamorphic:
    """What a component adds: its faults, its own variations, and what the general ones need.

    `words` has the strings in values that are not names, `meaningful` the optional fields whose
    absence has a meaning, `looks` the calls that change nothing. `profiles` has functions that make
    the reference's histories correct for a profile; they return None for a history that cannot be.
    `without_fault` says why no fault breaks a clause that is judged in histories. `by_hand` names
    the test that breaks a clause of driven calls, if no faulty answer of a named case breaks it.
    `excused` says of a variation why the judge does not pass it yet; a kept disagreement shows it.
    """

    faults: tuple[Fault, ...]
    variations: tuple[Variation, ...] = ()
    words: frozenset[str] = frozenset()
    meaningful: frozenset[str] = frozenset()
    looks: frozenset[str] = frozenset()
    profiles: dict[str, Callable[[Recording], Recording | None]] = field(
        default_factory=dict[str, Callable[[Recording], Recording | None]]
    )
    without_fault: dict[Clause, str] = field(default_factory=dict[Clause, str])
    by_hand: dict[Clause, str] = field(default_factory=dict[Clause, str])
    excused: dict[str, str] = field(default_factory=dict[str, str])
