"""What every deviation is: a clause of a profile that was not declared, or a finding.

A deviation is a clause that was broken, or a part of the domain that was skipped. One that is
not in this table stops the page from being made: it would be news.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.codec.vocabulary import Text
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode


class Kind(StrEnum):
    """What a deviation is put down to."""

    FINDING = "finding"
    PROFILE = "profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Why an implementation deviates in some clauses.

    `profile` None means every profile. `target` is a file, from docs/, that has the heading.
    """

    implementation: str
    component: str
    clauses: tuple[str, ...]
    kind: Kind
    sentence: Text
    target: str
    heading: str
    profile: str | None = None

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
