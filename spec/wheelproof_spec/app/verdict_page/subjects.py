"""Which implementations are judged, by what, and how they are driven and recorded."""

from dataclasses import dataclass

from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.codec.vocabulary import Text

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
    """What is judged: the programs that drive it and record it, as words from the checkout."""

    name: str
    about: Text
    driver: tuple[str, ...]
    driven: tuple[DrivenRun, ...]
    recorded: tuple[RecordedRun, ...]
    recorder: tuple[str, ...] | None = None


IMPLEMENTATIONS = read_rows(__file__, "implementations.toml", "implementation", Implementation)
