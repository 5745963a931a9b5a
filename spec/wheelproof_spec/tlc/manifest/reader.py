"""Makes models from the tables of a manifest: paths follow from names, or a base has the cfg."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wheelproof_spec.tlc.manifest.cfg import Cfg, Variation, load_cfg
from wheelproof_spec.tlc.manifest.entry import Entry, is_name
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model, Tier

BASE = "base"
"""The section of tables that are not models, but bases from which several models start."""

_COMMON = frozenset({"tier", "check_deadlock", "summary"})
_COUNTS_OF_PASS = ("distinct", "generated", "depth")
_VARIATION = frozenset({"base", "constants", "replace", "specification"})
_CHECKS = frozenset({"invariants", "properties", "without"})
_KEYS: Mapping[str, frozenset[str]] = {
    BASE: _VARIATION | {"check_deadlock"},
    Kind.MODEL: _COMMON
    | _VARIATION
    | _CHECKS
    | {*_COUNTS_OF_PASS, "witnesses", "unreached_actions"},
    Kind.MUTANT: _COMMON | _VARIATION | {"module", "expect", "trace_length"},
    Kind.FINDING: _COMMON | _VARIATION | {"module", "expect", "trace_length"},
    Kind.KNOWN_BUG: _COMMON | _VARIATION | {"module", "expect", "trace_length", "bug"},
}
_INVARIANT, _PROPERTY = "INVARIANT", "PROPERTY"
_KEYWORDS = {
    Expectation.INVARIANT: _INVARIANT,
    Expectation.ACTION_PROPERTY: _PROPERTY,
    Expectation.LIVENESS: _PROPERTY,
}
"""The keyword for the property that must fail; it is checked alone, as TLC may not name it."""


_Checked = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """A base from which other tables may start."""

    module: str
    specifies: str
    cfg: Cfg
    check_deadlock: bool


class ModelReader:
    """Reads tables in their order; each may start from an earlier one."""

    def __init__(self, manifest: Path, *, library: tuple[Path, ...], pinning: bool) -> None:
        self.models: list[Model] = []
        self._folder = manifest.parent
        self._manifest = manifest.resolve()
        self._library = library
        self._pinning = pinning
        self._bases: dict[str, _Base] = {}
        self._names: set[str] = set()

    def read(self, entry: Entry) -> None:
        """Add the base or the model of a table; raises InputRejectedError."""
        if entry.name in self._names:
            entry.reject("the name occurs twice", "rename one of the two", "name")
        self._names.add(entry.name)
        entry.allow(_KEYS[entry.section])
        if entry.section == BASE:
            self._bases[entry.name] = self._varied(entry, ())
        elif entry.section == Kind.MODEL:
            self.models.append(self._model(entry))
        else:
            self.models.append(self._failing_model(entry))

    def _model(self, entry: Entry) -> Model:
        """Return a model that passes, and keep it as a base."""
        module, _, rest = entry.name.partition("_")
        if not rest:
            entry.reject("the name is that of a module", f"call it {module}_ and what is special")
        folder = entry.path.parent.resolve()
        specifies = module.removeprefix("MC")
        if "base" in entry:
            base = self._varied(entry, None)
            if base.module != module:
                entry.reject(f"its base is one of {base.module}", "name another base", "base")
        else:
            for key in sorted(_VARIATION | _CHECKS):
                if key in entry:
                    entry.reject(f"{key!r} differs from no base", "name a base", key)
            cfg = load_cfg(_file(entry, folder / "models" / module / f"{rest}.cfg"))
            base = _Base(
                module=module,
                specifies=specifies,
                cfg=cfg,
                check_deadlock=entry.boolean("check_deadlock", default=cfg.check_deadlock),
            )
        _file(entry, folder / f"{specifies}.tla")
        self._bases[entry.name] = base
        distinct, generated, depth = (
            entry.count(key, required=not self._pinning) for key in _COUNTS_OF_PASS
        )
        return Model(
            name=entry.name,
            module=module,
            specifies=specifies,
            tier=_tier(entry),
            kind=Kind.MODEL,
            expect=Expectation.PASS,
            summary=entry.text("summary"),
            module_path=_file(entry, folder / "models" / f"{module}.tla"),
            cfg=base.cfg,
            manifest=self._manifest,
            library=self._library,
            distinct=distinct,
            generated=generated,
            depth=depth,
            check_deadlock=base.check_deadlock,
            witnesses=entry.names("witnesses"),
            unreached_actions=entry.names("unreached_actions"),
        )

    def _failing_model(self, entry: Entry) -> Model:
        """Return a model that starts from a base and must fail."""
        expect, name = _expectation(entry)
        varied = self._varied(entry, () if name is None else ((_KEYWORDS[expect], name),))
        module = entry.identifier("module") if "module" in entry else f"{varied.module}_bugs"
        return Model(
            name=entry.name,
            module=module,
            specifies=varied.specifies,
            tier=_tier(entry),
            kind=Kind(entry.section),
            expect=expect,
            summary=entry.text("summary"),
            module_path=_file(entry, entry.path.parent.resolve() / f"{module}.tla"),
            cfg=varied.cfg,
            manifest=self._manifest,
            library=self._library,
            property=name,
            trace_length=self._trace_length(entry, expect),
            check_deadlock=varied.check_deadlock,
            bug=entry.text("bug") if entry.section == Kind.KNOWN_BUG else None,
        )

    def _varied(self, entry: Entry, checked: _Checked | None) -> _Base:
        """Return the base of a table with the differences that the table names.

        If `checked` is None, the table says how what is checked differs from the base, too.
        """
        name = entry.text("base")
        if name not in self._bases:
            entry.reject(f"there is no base {name} above", "name a model or a base", "base")
        base = self._bases[name]
        variation = Variation(
            constants=entry.assignments("constants"),
            replaced=entry.assignments("replace"),
            specification=entry.identifier("specification") if "specification" in entry else None,
            checked=_checked(entry, base.cfg) if checked is None else checked,
        )
        for key in variation.constants:
            if key not in base.cfg.constants and key not in base.cfg.replaced:
                entry.reject(f"{name} has no constant {key}", "correct the name", "constants")
        place = entry.path.relative_to(self._folder)
        comment = f"{entry.name}: {name}, but for what {place} says of it."
        return _Base(
            module=base.module,
            specifies=base.specifies,
            cfg=base.cfg.varied(f"{entry.name}.cfg", comment, variation),
            check_deadlock=entry.boolean("check_deadlock", default=base.check_deadlock),
        )

    def _trace_length(self, entry: Entry, expect: Expectation) -> int | None:
        if expect is not Expectation.ASSUMPTION:
            return entry.count("trace_length", required=not self._pinning)
        if "trace_length" in entry:
            entry.reject("'trace_length' means nothing for an assumption", "remove it")
        return None


def _checked(entry: Entry, base: Cfg) -> _Checked:
    """Return what a model checks that starts from a base: that, without some and with others."""
    known = {name for _, name in base.checked}
    for name in entry.names("without"):
        if name not in known:
            entry.reject(f"its base does not check {name}", "correct the name", "without")
    added = (
        (keyword, key, name)
        for keyword, key in ((_INVARIANT, "invariants"), (_PROPERTY, "properties"))
        for name in entry.names(key)
    )
    kept = [one for one in base.checked if one[1] not in entry.names("without")]
    for keyword, key, name in added:
        if name in known:
            entry.reject(f"its base checks {name} already", "leave it out", key)
        kept.append((keyword, name))
    return tuple(kept)


def _tier(entry: Entry) -> Tier:
    return entry.choice("tier", Tier) if "tier" in entry else Tier.SMOKE


def _expectation(entry: Entry) -> tuple[Expectation, str | None]:
    """Read ``deadlock``, ``assumption`` or, for example, ``invariant: TypeOK``."""
    text = entry.text("expect")
    word, colon, name = text.partition(": ")
    expectations = [expect for expect in Expectation if expect is not Expectation.PASS]
    for expect in expectations:
        if word == expect and bool(colon) == (expect in _KEYWORDS) and bool(name) == bool(colon):
            if name and not is_name(name):
                entry.reject(f"{name!r} is no TLA+ name", "use letters, digits and _", "expect")
            return expect, name or None
    forms = (f"{expect}: NAME" if expect in _KEYWORDS else str(expect) for expect in expectations)
    return entry.reject(f"'expect' is {text!r}", f"use one of {', '.join(forms)}", "expect")


def _file(entry: Entry, path: Path) -> Path:
    if not path.is_file():
        shown = path.relative_to(entry.path.parent.resolve())
        entry.reject(f"the file {shown} does not exist", "create it or correct the name")
    return path
