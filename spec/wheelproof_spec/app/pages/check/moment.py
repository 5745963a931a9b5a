"""An event of a run, as the page of a check shows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A line of a run: an event of the thread or process `lane`.

    `index` is its number in the run, `part` is `begins` or `ends` for the two lines of a call, and
    `step` for any other line; `names` are the strings among what it says.
    """

    line: int
    index: int
    lane: str
    part: str
    name: str
    content: str
    label: str
    names: frozenset[str]
