"""What the manifest says about a model: where it is and how TLC must end on it."""

from dataclasses import dataclass
from enum import StrEnum, auto
from pathlib import Path

from wheelproof_spec.tlc.manifest.cfg import Cfg


class Tier(StrEnum):
    """How long a model takes: under 10 s, under 60 s, longer."""

    SMOKE = "smoke"
    SMALL = "small"
    BIG = "big"


class Kind(StrEnum):
    """What a model is for; all but MODEL must fail.

    MUTANT breaks the specification on purpose, KNOWN_BUG brings a historic defect back, FINDING
    shows a defect of the algorithm as its rules state it.
    """

    MODEL = "model"
    MUTANT = "mutant"
    KNOWN_BUG = "known_bug"
    FINDING = "finding"


class Expectation(StrEnum):
    """How TLC must end."""

    PASS = auto()
    ASSUMPTION = auto()
    DEADLOCK = auto()
    INVARIANT = auto()
    ACTION_PROPERTY = auto()
    LIVENESS = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One entry of the manifest, with its files resolved.

    `library` has the folders in which TLC finds the modules that `module` extends. Numbers that
    its expectation does not need are None; so are numbers that are not pinned yet. A model that is
    not `listed` is in no manifest: its correct numbers and actions are unknown.
    """

    name: str
    module: str
    specifies: str
    tier: Tier
    kind: Kind
    expect: Expectation
    summary: str
    module_path: Path
    cfg: Cfg
    manifest: Path
    library: tuple[Path, ...]
    check_deadlock: bool
    property: str | None = None
    distinct: int | None = None
    generated: int | None = None
    depth: int | None = None
    trace_length: int | None = None
    witnesses: tuple[str, ...] = ()
    unreached_actions: tuple[str, ...] = ()
    bug: str | None = None
    listed: bool = True

    def expected_text(self) -> str:
        """Return the expectation for a table."""
        return self.expect.value if self.property is None else f"{self.expect}: {self.property}"
