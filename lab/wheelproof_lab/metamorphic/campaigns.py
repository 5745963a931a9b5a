"""Recordings of the reference for a campaign, their judge, and the parts of a campaign."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from wheelproof_lab.metamorphic.answers import DrivenCase
from wheelproof_lab.metamorphic.campaign import Campaign, Counts
from wheelproof_lab.metamorphic.faults import (
    accumulator,
    buffer_pool,
    purgatory,
    replication,
    timer,
)
from wheelproof_lab.metamorphic.recording import Recording
from wheelproof_lab.metamorphic.relations import Metamorphic
from wheelproof_spec.app.recorded import history_checker, judge_lines
from wheelproof_spec.base.arguments import unknown
from wheelproof_spec.base.clause import Clause
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.lines import KeptHistory
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components import registry
from wheelproof_spec.components.registry import machines, served_components

CAMPAIGNS: Mapping[str, Metamorphic] = {
    "timer": timer.METAMORPHIC,
    "purgatory": purgatory.METAMORPHIC,
    "replication": replication.METAMORPHIC,
    "buffer_pool": buffer_pool.METAMORPHIC,
    "accumulator": accumulator.METAMORPHIC,
}
"""The faults and profiles that each component adds to a campaign."""
CASES_OF_A_PART = 5
"""The number of cases of the reference that a part of a campaign records."""
_MOST_LINES = 60
_CUTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A share of a campaign that one process runs, from one seed."""

    component: str
    profile: str
    seed: int
    cases: int = CASES_OF_A_PART


def parts_of(component: str, profiles: tuple[str, ...], seed: int) -> Iterator[Part]:
    """Yield the parts of a campaign without end, one profile after the other."""
    for number in count():
        for profile in profiles:
            yield Part(component=component, profile=profile, seed=seed + number * CASES_OF_A_PART)


def run_part(part: Part) -> Counts:
    """Run a part of a campaign and return its counts."""
    campaign = Campaign(CAMPAIGNS[part.component], part.profile, judged)
    recorded = list(recordings(part))
    for number, recording in enumerate(recorded):
        campaign.run(recording, f"{part.seed} {number}")
    campaign.run_together(
        recorded, lambda some: judged_together(some, Random(part.seed)), str(part.seed)
    )
    return campaign.counts


def run_recorded(recording: Recording, profile: str, seed: int) -> Counts:
    """Vary a recorded history as it is; `profile` is the one that it declares.

    No clause is broken in it: that needs the promises in the headers of the reference's histories.
    """
    component = CAMPAIGNS[recording.header.component]
    varied = replace(component, faults=(), profiles={profile: _as_it_is})
    campaign = Campaign(varied, profile, judged)
    campaign.run(recording, f"{seed} {recording.header.history}")
    return campaign.counts


def _as_it_is(recording: Recording) -> Recording:
    return recording


def run_driven(part: Part, most: int) -> Counts:
    """Inject faults into at most `most` answers of each named case; count the clauses named."""
    counts = Counts()
    suite, dice = registry.suites()[part.component], Random(part.seed)
    served = next(one for one in served_components() if one.name == part.component)
    wire = DrivenWire(suite.definition)
    cases = [DrivenCase(wire, case.calls, served.answer) for case in suite.scenarios()]
    # The reference follows one profile, and passes most cases in all profiles.
    right = [case for case in cases if not case.judged(suite.judge(part.profile, Tally()))]
    for case in right:
        faults = list(case.faults(dice))
        for fault in dice.sample(faults, min(most, len(faults))):
            violation = case.violation(suite.judge(part.profile, Tally()), fault)
            counts.answers += 1
            if violation is not None:
                counts.named[str(violation.rule)] += 1
    return counts


def judged_together(some: Sequence[Recording], dice: Random) -> list[RunVerdict]:
    """Return the verdicts on runs of one file with mixed lines."""
    named = [_named(recording, f"run-{number}") for number, recording in enumerate(some)]
    turns = [number for number, one in enumerate(named) for _ in one.lines()]
    dice.shuffle(turns)
    rest = [iter(recording.lines()) for recording in named]
    file = judge_lines("mixed", (next(rest[number]) for number in turns))
    by_run = {verdict.run: verdict for verdict in file.verdicts}
    return [by_run[one.header.history] for one in named if one.header.history in by_run]


def _named(recording: Recording, name: str) -> Recording:
    header = replace(recording.header, history=name)
    end = None if recording.end is None else replace(recording.end, history=name)
    ops = tuple(replace(op, history=name) for op in recording.ops)
    return replace(recording, header=header, ops=ops, end=end)


def recordings(part: Part) -> Iterator[Recording]:
    """Yield prefixes of histories of the reference, each up to a quiescent moment."""
    component, seed = part.component, part.seed
    machine = machines()[component]
    # Controlled threads repeat their schedule; real threads do not.
    threads = "controlled" if "controlled" in machine.threads else "real"
    kept: list[KeptHistory] = []
    plan = FuzzPlan(
        threads=threads,
        cases=part.cases,
        seed=seed,
        shrink_seconds=0,
        seed_per_case=True,
        keep=kept.append,
    )
    next(iter(machine.reports(plan)))
    definition = registry.definition_of(component)
    happens = frozenset(operation.name for operation in definition.operations if operation.happens)
    for number, history in enumerate(kept):
        for length in _cuts(history, Random(f"{seed} {number}")):
            cut = Recording(
                header=history.header, ops=tuple(history.ops[:length]), end=None, happens=happens
            )
            yield cut.ended()


def _cuts(history: KeptHistory, dice: Random) -> list[int]:
    rests = sorted({rest for rest in history.rests if rest})
    short = [rest for rest in rests if rest <= _MOST_LINES] or rests[:1]
    return dice.sample(short, min(_CUTS, len(short)))


def judged(recording: Recording) -> RunVerdict:
    """Return the verdict on a history; a history that no recorder can write is an error."""
    header = recording.header
    try:
        checker = history_checker(header)
        for op in recording.ops:
            checker.feed(op)
        if recording.end is not None:
            checker.feed(recording.end)
        return checker.finish(cut_off=recording.end is None)
    except MalformedError as error:
        return RunVerdict(
            run=header.history,
            format="history",
            component=header.component,
            implementation=header.impl.name,
            profile=str(header.profile),
            verdict=Verdict.ERROR,
            events=0,
            good_prefix=0,
            violation=Violation(
                rule="Malformed", expected="a history", observed=str(error), reason=str(error)
            ),
        )


def clauses_on(component: str, wire: Wire) -> list[Clause]:
    """Return the clauses of a component that judges of this kind test, in any profile."""
    definition = registry.definition_of(component)
    return [clause for clause in definition.clauses if clause.judges & wire]


def require_components(names: Sequence[str]) -> tuple[str, ...]:
    """Return the named components, or all; raise UsageError for an unknown name."""
    known = tuple(CAMPAIGNS)
    for name in names:
        if name not in known:
            raise UsageError(unknown("COMPONENT", name, known))
    return tuple(names) or known
