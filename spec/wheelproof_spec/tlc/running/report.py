"""What one run of TLC reported: counts, violations, counterexample, coverage."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from wheelproof_spec.tlc.states.values import Value


class ViolationKind(StrEnum):
    """The ways in which TLC finds a specification wrong."""

    ASSUMPTION = "assumption"
    DEADLOCK = "deadlock"
    INVARIANT = "invariant"
    ACTION_PROPERTY = "action_property"
    LIVENESS = "liveness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """What was violated; `name` is TLC's name or place of it, None when TLC gives none."""

    kind: ViolationKind
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One state of a counterexample with the action that led to it.

    `action` is None in the initial state; `arguments` are those a newer TLC prints, else "".
    """

    action: str | None
    arguments: str
    state: Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A behaviour that breaks a property.

    `back_to` is the number (from 1) of the state that the last one returns to, when the behaviour
    is a lasso; `stutters` is whether it stays in its last state forever.
    """

    steps: tuple[Step, ...]
    back_to: int | None = None
    back_action: str | None = None
    stutters: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionCoverage:
    """How often an action was taken: `distinct` new states of `generated` successors."""

    name: str
    module: str
    place: str
    distinct: int
    generated: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """TLC's counts of states: `queued` are those it had found and not yet explored."""

    generated: int
    distinct: int
    queued: int


@dataclass(slots=True, kw_only=True)
class TlcReport:
    """Everything that one run reported, filled message by message.

    `progress` are the last counts during the run, `statistics` those at the end; `simulated` is how
    many states a simulation generated. `reached` has each witness that was reached, with the
    number of states on a shortest path to it.
    """

    version: str | None = None
    completed: bool = False
    finished: bool = False
    temporal_begun: int = 0
    temporal_done: int = 0
    depth: int | None = None
    progress: Statistics | None = None
    statistics: Statistics | None = None
    violations: list[Violation] = field(default_factory=list[Violation])
    errors: list[str] = field(default_factory=list[str])
    coverage: list[ActionCoverage] = field(default_factory=list[ActionCoverage])
    counterexample: Counterexample | None = None
    output_tail: list[str] = field(default_factory=list[str])
    reached: dict[str, int] = field(default_factory=dict[str, int])
    simulated: int | None = None


ProgressCallback = Callable[[Statistics, int], None]
"""Called with the counts so far and the depth reached."""
