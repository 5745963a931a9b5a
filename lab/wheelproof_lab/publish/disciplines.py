"""`python -m wheelproof_lab pages disciplines`: renews docs/purgatory-disciplines.md.

The page is a table of what each discipline of the purgatory promises. Each cell comes from the
manifest. A promise is held if a passing model has the property in its cfg, in surroundings that are
at least as hard. It is broken if a model fails by the property, in surroundings that are no harder.
So TLC confirms each cell whenever the suite runs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.codec.tables import read_rows
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model

PAGE = "docs/purgatory-disciplines.md"

_EMPTY = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Discipline:
    """A column: the value of the constant, the versions, and its name in LockOrder."""

    name: str
    versions: str
    in_lock_order: str
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


class UndecidedCellError(WheelproofSpecError):
    """An error: the manifest has no model, or contradicting ones, for a cell of the table."""


DISCIPLINES = read_rows(__file__, "disciplines.toml", "discipline", Discipline)
PROMISES = read_rows(__file__, "disciplines.toml", "promise", Promise)
DIFFERENCES = read_rows(__file__, "disciplines.toml", "difference", Difference)

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
    return markdown("disciplines", disciplines=DISCIPLINES, rows=rows, differences=DIFFERENCES)


def _cell(promise: Promise, discipline: Discipline, settings: Sequence[_Setting]) -> str:
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
        return f"held: `{held[0]}`"
    length, name = min(broken)
    return f"**broken** in {length} states: `{name}`"


def _is_about(setting: _Setting, promise: Promise, discipline: Discipline) -> bool:
    if setting.model.specifies != promise.module:
        return False
    if promise.module == "LockOrder":
        replaced = {"Program": promise.program}
        return setting.replaced == replaced and setting.discipline() == discipline.in_lock_order
    # A model that replaces an action shows the effect of a mistake, not of the discipline.
    return not setting.replaced and setting.discipline() == discipline.name


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
