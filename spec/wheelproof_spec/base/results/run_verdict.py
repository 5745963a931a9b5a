"""What came out of the check of one recorded run."""

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
    """A clause that is broken, and the first place where it is."""

    violation: Violation
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class RunVerdict:
    """The verdict on one run.

    `good_prefix` is how many events from the beginning have an explanation, `violation` what the
    first event breaks that has none, `place` where that is, and `also_broken` are the other clauses
    that are broken. `notes` says what was not judged, and why, `checked` how often each clause was
    tested, and `skipped` how often each one that is a known limit would have been.
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
