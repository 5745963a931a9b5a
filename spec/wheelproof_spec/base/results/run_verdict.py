"""The outcome of the check of one recorded run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.base.results.violation import Violation


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in its run, and in its file, an event is."""

    index: int
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A broken clause, and the first place where it is broken."""

    violation: Violation
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """The verdict on one run.

    `good_prefix` is how many events from the beginning have an explanation. `violation` is what the
    first event without an explanation breaks, `place` its place, `also_broken` are the other broken
    clauses. `notes` says what was not judged, and why. `checked` has how often each clause was
    tested, `skipped` how often each known limit would have been tested.
    """

    run: str
    format: str
    component: str
    implementation: str
    profile: str
    verdict: Verdict
    events: int
    good_prefix: int
    violation: Violation | None = None
    place: Place | None = None
    notes: tuple[str, ...] = ()
    checked: Mapping[str, int] = field(default_factory=dict[str, int])
    also_broken: tuple[Broken, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict[str, int])
