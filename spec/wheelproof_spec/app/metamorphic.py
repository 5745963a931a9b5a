"""Recordings of the reference for the campaign, their judge, and the disagreements on paper."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import TypeGuard

from wheelproof_spec.app.parts import machines
from wheelproof_spec.app.recorded import history_checker, judge_lines
from wheelproof_spec.base.clause import clauses_of
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.components import registry
from wheelproof_spec.engines.fuzz.drawing import PlainDrawing, drawn_by
from wheelproof_spec.engines.fuzz.judged_bursts import KeptHistory, kept_histories
from wheelproof_spec.engines.fuzz.order import FuzzOrder
from wheelproof_spec.engines.metamorphic.campaign import Campaign, Counts
from wheelproof_spec.engines.metamorphic.recording import Recording
from wheelproof_spec.engines.metamorphic.relations import Metamorphic

CASES_OF_A_PART = 5
"""How many cases of the reference a part of a campaign records."""
_MOST_LINES = 60
_CUTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A share of a campaign that one process does, from one seed."""

    component: str
    profile: str
    seed: int


def campaigns() -> Mapping[str, Metamorphic]:
    """Return what each component adds to a campaign."""
    return dict(registry.parts("spoilers", "METAMORPHIC", _is_metamorphic))


def parts_of(component: str, profiles: tuple[str, ...], seed: int) -> Iterator[Part]:
    """Yield the parts of a campaign without end, a profile after the other."""
    for number in count():
        for profile in profiles:
            yield Part(component=component, profile=profile, seed=seed + number * CASES_OF_A_PART)


def run_part(part: Part) -> Counts:
    """Do a part of a campaign and return what it has shown."""
    campaign = Campaign(campaigns()[part.component], part.profile, judged)
    recorded = list(recordings(part.component, part.seed))
    for number, recording in enumerate(recorded):
        campaign.run(recording, f"{part.seed} {number}")
    campaign.run_together(
        recorded, lambda some: judged_together(some, Random(part.seed)), str(part.seed)
    )
    return campaign.counts


def judged_together(some: Sequence[Recording], dice: Random) -> list[RunVerdict]:
    """Return the verdicts on runs of one file, whose lines are mixed."""
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


def recordings(component: str, seed: int) -> Iterator[Recording]:
    """Yield beginnings of histories of the reference, each up to a moment of rest."""
    machine = machines()[component]
    # The schedule of controlled threads repeats itself; that of real ones does not.
    threads = "controlled" if "controlled" in machine.threads else "real"
    order = FuzzOrder(
        threads=threads,
        cases=CASES_OF_A_PART,
        seconds=None,
        seed=seed,
        bug=None,
        repeat="",
        progress=None,
    )
    with kept_histories() as kept, drawn_by(PlainDrawing(shrinks=False)):
        next(iter(machine.reports(order)))
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
    """Return the verdict on a history; what no recorder can have written is an error."""
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


def recorded_clauses(component: str) -> list[str]:
    """Return the clauses of a component that are judged in histories."""
    definition = registry.definition_of(component)
    found = {
        str(clause)
        for profile in definition.profiles
        for clause in clauses_of(definition.clauses, Wire.RECORDED, profile)
    }
    return [str(clause) for clause in definition.clauses if str(clause) in found]


def require_components(names: Sequence[str]) -> tuple[str, ...]:
    """Return the components that are named, or all; raises UsageError for an unknown one."""
    known = tuple(campaigns())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(f"no component {unknown[0]!r}; there are {', '.join(known)}")
    return tuple(names) or known


def _is_metamorphic(value: object) -> TypeGuard[Metamorphic]:
    return isinstance(value, Metamorphic)
