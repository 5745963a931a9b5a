"""The judged implementations, how they are judged, and the explanations of their deviations.

A deviation is a clause that was broken, or a part of the domain that was skipped. A deviation that
is not in the table is new, so the page is not made.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.codec.vocabulary import Text
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode

PYTHON = "python"
"""The word that stands for the interpreter that makes the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenRun:
    """An implementation driven through one component, under one profile.

    `share` divides the number of cases where shrinking or a slow program makes them expensive.
    """

    component: str
    profile: str
    skip: str | None = None
    share: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """Histories of one component, judged under each of these profiles.

    A timer is judged by the profile; the promises of the others are in the header of the history.
    """

    component: str
    profiles: tuple[str, ...]
    promises: str | None = None
    """The implementation whose promises the recorder puts into the header, instead of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """An implementation: the programs that drive it and record it, as words from the checkout.

    `build` fetches and builds it, if `make setup` does not.
    """

    name: str
    language: str
    about: Text
    recorded: tuple[RecordedRun, ...] = ()
    build: tuple[str, ...] = ()
    driver: tuple[str, ...] = ()
    driven: tuple[DrivenRun, ...] = ()
    recorder: tuple[str, ...] | None = None


IMPLEMENTATIONS = read_rows(__file__, "implementations.toml", "implementation", Implementation)


class Kind(StrEnum):
    """The kinds of explanation of a deviation."""

    FINDING = "finding"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """The reason why an implementation deviates in some clauses.

    `profile` None means every profile. `target` is a file, from docs/, that has the heading.
    `cause` names the cause in the implementation, by file and line, if `target` does not.
    """

    implementation: str
    component: str
    clauses: tuple[str, ...]
    kind: Kind
    sentence: Text
    target: str
    heading: str
    profile: str | None = None
    cause: Text | None = None

    @property
    def link(self) -> str:
        """The link to the explanation, from docs/."""
        return f"{self.target}#{anchor(self.heading)}"


def anchor(heading: str) -> str:
    """Return the anchor of a heading in Markdown."""
    letters = (one for one in heading.lower() if one.isalnum() or one in " -_")
    return "".join(letters).replace(" ", "-")


class UnexplainedDeviationError(WheelproofSpecError):
    """An error: an implementation deviates, and the table does not say why."""

    exit_code = ExitCode.FAIL


DEVIATIONS = read_rows(__file__, "implementations.toml", "deviation", Deviation)


def explain(
    implementation: str,
    component: str,
    profile: str,
    clause: str,
    table: Sequence[Deviation] = DEVIATIONS,
) -> Deviation:
    """Return the explanation of a deviation; raise UnexplainedDeviationError if there is none."""
    for one in table:
        if (
            one.implementation == implementation
            and one.component == component
            and one.profile in (None, profile)
            and clause in one.clauses
        ):
            return one
    raise UnexplainedDeviationError(
        f"the {component} of {implementation} deviates from profile {profile} by {clause}, and "
        "lab/wheelproof_lab/publish/verdicts/implementations.toml does not explain it; look "
        "into it, write it up, and add it there"
    )
