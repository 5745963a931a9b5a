"""Varies correct histories, one after the other, and compares the verdicts of their judge."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from wheelproof_lab.metamorphic.recording import Recording, without
from wheelproof_lab.metamorphic.relations import (
    Fault,
    Metamorphic,
    Relation,
    Variation,
    Vary,
    rules_of,
)
from wheelproof_lab.metamorphic.variations import general_variations
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.shrinking import ever_smaller, within, without_chunks

Judge = Callable[[Recording], RunVerdict]

RIGHT = "as it was recorded"
"""The variation that changes nothing: a history of the reference passes."""
TOGETHER = "mixed with other runs in a file"
ENOUGH_HISTORIES = 2_000
"""A campaign that judges so many histories breaks each clause: the rarest one once in 200."""
_SHRINK_TRIES = 400
_SEEDS_OF_A_TRY = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two histories whose verdicts do not fit together."""

    component: str
    profile: str
    variation: str
    relation: Relation
    clause: str | None
    before: Recording
    after: Recording
    verdicts: tuple[str, str]


@dataclass(slots=True)
class Counts:
    """The counts of a campaign: histories judged, by variation, and clauses broken and found.

    `answers` counts the faulty answers of driven cases, `named` the clauses that faulty answers
    broke.
    """

    histories: int = 0
    variations: Counter[str] = field(default_factory=Counter[str])
    injected: Counter[str] = field(default_factory=Counter[str])
    found: Counter[str] = field(default_factory=Counter[str])
    answers: int = 0
    named: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[Disagreement] = field(default_factory=list[Disagreement])

    def add(self, other: "Counts") -> None:
        """Add the counts of another part of the campaign."""
        self.histories += other.histories
        self.variations += other.variations
        self.injected += other.injected
        self.found += other.found
        self.answers += other.answers
        self.named += other.named
        self.disagreements += other.disagreements


class Campaign:
    """The campaign that varies histories of one component that are correct for one profile."""

    def __init__(self, component: Metamorphic, profile: str, judge: Judge) -> None:
        """`judge` judges by the profile that the header of a history names."""
        self.counts = Counts()
        self._profile = profile
        self._judge = judge
        self._to_profile = component.profiles[profile]
        self._variations = [
            one for one in general_variations(component) if one.name not in component.excused
        ]
        self._faults = [one for one in component.faults if one.is_for(profile)]

    def run(self, recorded: Recording, seed: str) -> None:
        """Judge a history of the reference, and its variations; each draws from the seed."""
        before = self._as_declared(recorded)
        if before is None:
            return
        first = self._judged(before, RIGHT)
        if first.verdict is not Verdict.PASS:
            # INCONCLUSIVE is allowed: the history tests nothing, for example interruptions alone.
            if first.verdict is not Verdict.INCONCLUSIVE:
                self._note(RIGHT, Relation.SAME, None, before, before, (first, first))
            return
        for variation in self._variations:
            self._vary(before, first, variation, seed)
        other, second = self._varied(before, first, Random(seed))
        for variation in self._variations:
            self._vary(other, second, variation, f"{seed} varied")
        for fault in self._faults:
            # A varied history may claim too little for the fault: then the original is given it.
            faulty = self._inject(other, second, fault, seed)
            faulty = faulty or self._inject(before, first, fault, seed)
            if faulty is not None:
                self._vary_faulty(*faulty, seed)

    def run_together(
        self,
        recorded: Sequence[Recording],
        judge_together: Callable[[Sequence[Recording]], Sequence[RunVerdict]],
        seed: str,
    ) -> None:
        """Judge correct and faulty histories as runs of one file whose lines are mixed."""
        runs: list[Recording] = []
        for number, one in enumerate(recorded):
            declared = self._as_declared(one)
            if declared is None:
                continue
            runs.append(declared)
            dice = Random(f"{seed} {number} together")
            faulty = dice.choice(self._faults).inject(runs[-1], dice)
            runs += [] if faulty is None else [faulty]
        verdicts = judge_together(runs)
        for run, verdict in zip(runs, verdicts, strict=True):
            alone = self._judged(run, TOGETHER)
            if not Relation.SAME.allows(alone, verdict, None):
                self._note(TOGETHER, Relation.SAME, None, run, run, (alone, verdict))

    def _as_declared(self, recorded: Recording) -> Recording | None:
        header = replace(recorded.header, profile=self._profile)
        return self._to_profile(replace(recorded, header=header))

    def _varied(
        self, before: Recording, first: RunVerdict, dice: Random
    ) -> tuple[Recording, RunVerdict]:
        """Return a history after a few variations that keep it correct."""
        right = [one for one in self._variations if one.relation is Relation.ALLOWED]
        for variation in dice.sample(right, dice.randrange(1, len(right) + 1)):
            after = variation.vary(before, dice)
            verdict = None if after is None else self._judged(after, variation.name)
            if after is not None and verdict is not None and verdict.verdict is Verdict.PASS:
                before, first = after, verdict
        return before, first

    def _vary(self, before: Recording, first: RunVerdict, variation: Variation, seed: str) -> None:
        after = variation.vary(before, Random(f"{seed} {variation.name}"))
        if after is None:
            return
        second = self._judged(after, variation.name)
        if not variation.relation.allows(first, second, None):
            self._disagree(variation.name, variation.relation, None, before, variation.vary, seed)

    def _inject(
        self, before: Recording, first: RunVerdict, fault: Fault, seed: str
    ) -> tuple[Recording, RunVerdict] | None:
        clause = str(fault.clause)
        after = fault.inject(before, Random(f"{seed} {clause}"))
        if after is None:
            return None
        second = self._judged(after, clause)
        self.counts.injected[clause] += 1
        if Relation.FAULT.allows(first, second, clause):
            self.counts.found[clause] += 1
        else:
            self._disagree(clause, Relation.FAULT, clause, before, fault.inject, seed)
        return after, second

    def _vary_faulty(self, faulty: Recording, verdict: RunVerdict, seed: str) -> None:
        """Check that a faulty history keeps its verdict under all variations of relation SAME."""
        for variation in self._variations:
            if variation.relation is Relation.SAME:
                self._vary(faulty, verdict, variation, seed)

    def _judged(self, recording: Recording, what: str) -> RunVerdict:
        self.counts.histories += 1
        self.counts.variations[what] += 1
        return self._judge(recording)

    def _disagree(
        self,
        name: str,
        relation: Relation,
        clause: str | None,
        before: Recording,
        vary: Vary,
        seed: str,
    ) -> None:
        """Record two histories that disagree; shrink the first pair of each variation."""

        def pair(one: Recording) -> tuple[Recording, tuple[RunVerdict, RunVerdict]] | None:
            for again in range(_SEEDS_OF_A_TRY):
                dice = Random(f"{seed} {name}" + "+" * again)
                after = vary(one, dice)
                if after is None:
                    continue
                verdicts = self._judge(one), self._judge(after)
                if not relation.allows(*verdicts, clause):
                    return after, verdicts
            return None

        known = any(one.variation == name for one in self.counts.disagreements)
        small = before if known else smaller(before, lambda one: pair(one) is not None)
        found = pair(small)
        assert found is not None
        self._note(name, relation, clause, small, *found)

    def _note(
        self,
        name: str,
        relation: Relation,
        clause: str | None,
        before: Recording,
        after: Recording,
        verdicts: tuple[RunVerdict, RunVerdict],
    ) -> None:
        self.counts.disagreements.append(
            Disagreement(
                component=before.header.component,
                profile=self._profile,
                variation=name,
                relation=relation,
                clause=clause,
                before=before,
                after=after,
                verdicts=(said(verdicts[0]), said(verdicts[1])),
            )
        )


def said(verdict: RunVerdict) -> str:
    """Return a verdict in a few words."""
    return " ".join((verdict.verdict.value, *rules_of(verdict)))


def smaller(recording: Recording, holds: Callable[[Recording], bool]) -> Recording:
    """Return a history for which `holds` is true, made as small as found by leaving calls out."""

    def fewer(one: Recording) -> Iterator[Recording]:
        calls = tuple(one.calls())
        for left in without_chunks(calls):
            yield without(one, [place for places in {*calls} - {*left} for place in places])

    for smaller_one in ever_smaller(
        recording, fewer, lambda tried: tried if holds(tried) else None, within(_SHRINK_TRIES)
    ):
        recording = smaller_one
    return recording


def without_fault(component: Metamorphic, recorded: Iterable[Clause]) -> set[Clause]:
    """Return the clauses judged in histories that no fault breaks and no reason excuses."""
    faulty = {fault.clause for fault in component.faults}
    return {*recorded} - faulty - {*component.without_fault}


def unbroken(component: Metamorphic, profile: str, counts: Counts) -> list[str]:
    """Return the clauses that have a fault, and that a long campaign has broken in no history."""
    if counts.histories < ENOUGH_HISTORIES:
        return []
    faulty = (str(one.clause) for one in component.faults if one.is_for(profile))
    return [clause for clause in dict.fromkeys(faulty) if not counts.injected[clause]]
