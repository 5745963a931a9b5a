"""`python -m wheelproof_lab pages disciplines`: renews docs/purgatory-disciplines.md.

The page has a table of what each discipline of the purgatory promises, and one of what each
release of Kafka therefore keeps. Each cell comes from the manifest. A promise is held if a passing
model has the property in its cfg, in surroundings that are at least as hard. It is broken if a
model fails by the property, in surroundings that are no harder. So TLC confirms each cell whenever
the suite runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model

PAGE = "docs/purgatory-disciplines.md"

_EMPTY = "{}"
_FRESH_CHECK = "EveryTriggerIsFollowedByAFreshCheck"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discipline:
    """A column: the versions, and the value of the constant Discipline in each module."""

    name: str
    versions: str
    in_maybe_try_complete: str
    in_lock_order: str
    releases: tuple[str, ...]
    """The releases of Kafka that have a row in the second table."""
    classes: str | None = None
    """The version of Kafka on whose classes the races are repeated by kafka-purgatories-java."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A row: the promise, its property (None: no deadlock), and its surroundings.

    `present` are the constants that are not empty, `program` is what the threads of LockOrder do.
    """

    text: str
    module: str = "MaybeTryComplete"
    property: str | None = None
    present: tuple[str, ...] = ()
    program: str | None = None
    race: str | None = None
    unrepeated: str | None = None
    """The reason why no race repeats TLC's counterexample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A race in which the classes differ from the models, and the reason."""

    discipline: str
    race: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """Whether a discipline keeps a promise, the model that decides it, and its shortest run."""

    held: bool
    model: str
    states: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A row of the second table: what a release keeps, by which models, and what it breaks."""

    name: str
    discipline: Discipline
    kept: int
    passing: tuple[str, ...]
    broken: tuple[tuple[Promise, Cell], ...]


class UndecidedCellError(WheelproofSpecError):
    """An error: the manifest has no model, or contradicting ones, for a cell of the table."""


DISCIPLINES = (
    Discipline(
        name="monitor",
        versions="0.9 - 0.11.0",
        in_maybe_try_complete="monitor",
        in_lock_order="monitor",
        releases=("0.9",),
        classes="0.9.0.1",
    ),
    Discipline(
        name="try_lock_once",
        versions="1.0",
        in_maybe_try_complete="try_lock_once",
        in_lock_order="try_lock",
        releases=("1.0",),
        classes="1.0.2",
    ),
    Discipline(
        name="try_lock_pending",
        versions="1.1 - 2.6",
        in_maybe_try_complete="try_lock_pending",
        in_lock_order="try_lock",
        releases=("1.1", "2.6"),
        classes="2.6.3",
    ),
    # It waits for a lock and tries, as a monitor does; its last try is in one hold of the lock.
    Discipline(
        name="blocking_untested",
        versions="2.7 - 3.9",
        in_maybe_try_complete="monitor",
        in_lock_order="blocking",
        releases=("3.9",),
        classes="3.9.1",
    ),
    Discipline(
        name="blocking",
        versions="4.0",
        in_maybe_try_complete="blocking",
        in_lock_order="blocking",
        releases=("4.0",),
    ),
    Discipline(
        name="exclusive",
        versions="since KAFKA-19312",
        in_maybe_try_complete="exclusive",
        in_lock_order="exclusive",
        releases=("4.4",),
    ),
)
PROMISES = (
    Promise(text="An operation completes at most once", property="CompletesAtMostOnce"),
    Promise(
        text="on_expiration runs at most once, after on_complete, and only if the expiry won",
        property="ExpiresOnlyIfItCompleted",
    ),
    Promise(text="Two try_complete exclude each other", property="TriesExcludeEachOther"),
    Promise(
        text="try_complete and on_complete exclude each other",
        property="TryCompleteAndOnCompleteExcludeEachOther",
        race="try_complete_and_on_complete_overlap",
    ),
    Promise(
        text="No try_complete begins after completion",
        property="NoTryBeginsAfterCompletion",
        race="try_complete_after_completion",
    ),
    Promise(
        text="Every trigger is followed by a fresh check",
        property=_FRESH_CHECK,
        race="trigger_is_lost",
    ),
    Promise(
        text="The same, while somebody else may hold the lock",
        property=_FRESH_CHECK,
        present=("Holders",),
        race="trigger_is_lost_if_others_hold_the_lock",
    ),
    Promise(
        text="The same, when a predicate raises in another thread",
        property=_FRESH_CHECK,
        present=("Raising",),
        race="trigger_is_lost_if_a_predicate_raises",
    ),
    Promise(
        text="A trigger waits for nobody who holds the lock",
        property="CallsEnd",
        present=("Holders", "Stubborn"),
        race="trigger_waits",
    ),
    Promise(
        text="A trigger ends, however often others trigger",
        property="CallsEnd",
        present=("Restless",),
        unrepeated="it has no end that a test could wait for",
    ),
    Promise(
        text="An expiry waits for nobody who holds the lock",
        property="ExpiryEnds",
        present=("Holders", "Stubborn"),
        unrepeated="today's classes alone break it: `adapters/kafka-java/run ConfirmPurgatoryRuns`",
    ),
    Promise(
        text="No deadlock with users whose read-write lock surrounds the watch",
        module="LockOrder",
        program="Users",
        race="deadlock_with_a_lock_around_the_watch",
    ),
    Promise(
        text="No deadlock when callbacks trigger each other's operations, even if nobody tested "
        "before the lock whether an operation is done (they do, and that forbids it everywhere)",
        module="LockOrder",
        program="Callbacks",
        unrepeated="the classes test before the lock whether an operation is done",
    ),
    Promise(
        text="The same, when one of the two operations has expired",
        module="LockOrder",
        program="ExpiryCallback",
        unrepeated="today's classes alone could break it: "
        "`adapters/kafka-java/run ConfirmPurgatoryRuns`",
    ),
)
DIFFERENCES = (
    Difference(
        discipline="monitor",
        race="trigger_is_lost_if_others_hold_the_lock",
        reason="an operation of 0.9.0.1 has no lock that others could hold",
    ),
)

_SURROUNDINGS = frozenset({"Holders", "Stubborn", "Restless", "Raising"})


@dataclass(frozen=True, slots=True)
class _Setting:
    """A model with the constants of its cfg; `replaced` has the assignments with <-."""

    model: Model
    constants: Mapping[str, str]
    replaced: Mapping[str, str]

    @property
    def present(self) -> frozenset[str]:
        return frozenset(
            name for name in _SURROUNDINGS if self.constants.get(name, _EMPTY) != _EMPTY
        )

    def discipline(self) -> str:
        return self.constants.get("Discipline", "").strip('"')


def render(manifest: Path) -> str:
    """Return the page as Markdown; raises InputRejectedError, UndecidedCellError."""
    settings = [_setting(model) for model in load_manifest(manifest)]
    rows = [
        (promise, [_cell(promise, discipline, settings) for discipline in DISCIPLINES])
        for promise in PROMISES
    ]
    return markdown(
        "disciplines",
        disciplines=DISCIPLINES,
        rows=rows,
        releases=[
            _release(name, discipline, [(promise, cells[at]) for promise, cells in rows])
            for at, discipline in enumerate(DISCIPLINES)
            for name in discipline.releases
        ],
        differences=DIFFERENCES,
    )


def _release(name: str, discipline: Discipline, column: Sequence[tuple[Promise, Cell]]) -> Release:
    kept = [cell.model for _, cell in column if cell.held]
    return Release(
        name=name,
        discipline=discipline,
        kept=len(kept),
        passing=tuple(dict.fromkeys(kept)),
        broken=tuple((promise, cell) for promise, cell in column if not cell.held),
    )


def _cell(promise: Promise, discipline: Discipline, settings: Sequence[_Setting]) -> Cell:
    about = [setting for setting in settings if _is_about(setting, promise, discipline)]
    held = [setting.model.name for setting in about if _holds(setting, promise)]
    broken = [
        (setting.model.trace_length, setting.model.name)
        for setting in about
        if _breaks(setting, promise) and setting.model.trace_length is not None
    ]
    if bool(held) == bool(broken):
        found = "models for both" if held else "no model"
        raise UndecidedCellError(
            f"the manifest has {found}: {promise.text!r} under {discipline.name}; "
            "see to it that TLC decides it"
        )
    if held:
        return Cell(held=True, model=held[0])
    length, name = min(broken)
    return Cell(held=False, model=name, states=length)


def _is_about(setting: _Setting, promise: Promise, discipline: Discipline) -> bool:
    if setting.model.specifies != promise.module:
        return False
    if promise.module == "LockOrder":
        replaced = {"Program": promise.program}
        return setting.replaced == replaced and setting.discipline() == discipline.in_lock_order
    # A model that replaces an action shows the effect of a mistake, not of the discipline.
    wanted = discipline.in_maybe_try_complete
    return not setting.replaced and setting.discipline() == wanted


def _holds(setting: _Setting, promise: Promise) -> bool:
    model = setting.model
    if model.kind is not Kind.MODEL or not setting.present >= set(promise.present):
        return False
    if promise.property is None:
        return model.check_deadlock
    return promise.property in (*model.cfg.invariants, *model.cfg.properties)


def _breaks(setting: _Setting, promise: Promise) -> bool:
    model = setting.model
    if model.kind is Kind.MODEL or not setting.present <= set(promise.present):
        return False
    if promise.property is None:
        return model.expect is Expectation.DEADLOCK
    return model.property == promise.property


def _setting(model: Model) -> _Setting:
    return _Setting(model, model.cfg.constants, model.cfg.replaced)


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, partial(render, tla_directory() / "manifest.toml"))
