"""Which implementations are judged, how, and what each deviation of theirs is put down to.

A deviation is a clause that was broken, or a part of the domain that was skipped. One that is
not in the table stops the page from being made: it would be news.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.codec.vocabulary import Text
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode

PYTHON = "python"
"""Stands for the interpreter that makes the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenRun:
    """An implementation driven through one component, under one profile.

    `share` divides the number of cases for whom shrinking, or a slow program, makes them dear.
    """

    component: str
    profile: str
    skip: str | None = None
    share: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """Histories of one component, judged under each of these profiles.

    A timer is judged by the profile; what the others promise is in the header of the history.
    """

    component: str
    profiles: tuple[str, ...]
    promises: str | None = None
    """Whose promises the recorder is to put into the header, instead of the implementation's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """What is judged: the programs that drive it and record it, as words from the checkout.

    `build` fetches and builds it, where `make setup` does not.
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
    """What a deviation is put down to."""

    FINDING = "finding"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Why an implementation deviates in some clauses.

    `profile` None means every profile. `target` is a file, from docs/, that has the heading.
    `cause` says what in the implementation does so, by file and line, where that one does not.
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
        """Where it is written up, from docs/; the anchor is what Markdown makes of the heading."""
        letters = (one for one in self.heading.lower() if one.isalnum() or one in " -_")
        return f"{self.target}#{''.join(letters).replace(' ', '-')}"


class UnexplainedDeviationError(WheelproofSpecError):
    """Somebody deviates, and the table does not say why."""

    exit_code = ExitCode.FAIL


DEVIATIONS = read_rows(__file__, "implementations.toml", "deviation", Deviation)


def explain(
    implementation: str,
    component: str,
    profile: str,
    clause: str,
    table: Sequence[Deviation] = DEVIATIONS,
) -> Deviation:
    """Return what a deviation is put down to; raises UnexplainedDeviationError if it is news."""
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
        "app/verdict_page/implementations.toml puts it down to nothing; look into it, "
        "write it up, and add it there"
    )
