"""Reads one model of the manifest; whatever it does not understand is refused, never skipped."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import NoReturn, TypeGuard, TypeVar

from wheelproof_spec.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.cfg import Cfg, load_cfg
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model, Tier

_MEASURED_OF_PASS = ("distinct", "generated", "depth")
_MEASURED_OF_FAILURE = ("trace_length",)
_KEYS = frozenset(
    {
        "name",
        "module",
        "specifies",
        "directory",
        "tier",
        "kind",
        "expect",
        "property",
        *_MEASURED_OF_PASS,
        *_MEASURED_OF_FAILURE,
        "check_deadlock",
        "witnesses",
        "unreached_actions",
        "bug",
        "summary",
    }
)
_NAMED_PROPERTY = frozenset(
    {Expectation.INVARIANT, Expectation.ACTION_PROPERTY, Expectation.LIVENESS}
)
_ANONYMOUS_TO_TLC = frozenset({Expectation.ACTION_PROPERTY, Expectation.LIVENESS})
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]*[A-Za-z][A-Za-z0-9_]*")

_Choice = TypeVar("_Choice", bound=StrEnum)


def is_list(value: object) -> TypeGuard[list[object]]:
    """Tell whether a value of a TOML document is a list."""
    return isinstance(value, list)


def _is_name(text: str) -> bool:
    return _IDENTIFIER.fullmatch(text) is not None


def _is_table(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


class ManifestEntry:
    """One [[model]] table on its way to a `Model`.

    `lines` has the line of the table in the file at `path`, under "", and that of each of its keys.
    """

    def __init__(
        self, manifest: Path, path: Path, lines: Mapping[str, int], table: object, pinning: bool
    ) -> None:
        self._manifest = manifest
        self._path = path
        self._lines = lines
        self._pinning = pinning
        self._label = "model"
        if not _is_table(table):
            self.reject("a model is no table", "write [[model]]")
        self._table = table
        self._label = f"model {table.get('name', '?')}"

    def reject(self, problem: str, remedy: str, key: str = "") -> NoReturn:
        """Refuse the table, at the line of `key`; raises InputRejectedError."""
        line = self._lines.get(key, self._lines[""])
        raise InputRejectedError(str(self._path), line, f"{self._label}: {problem}", remedy)

    def model(self) -> Model:
        """Return what the table says; raises InputRejectedError."""
        unknown = sorted(self._table.keys() - _KEYS)
        if unknown:
            self.reject(
                f"unknown key {unknown[0]!r}", f"allowed are {', '.join(sorted(_KEYS))}", unknown[0]
            )
        name = self._identifier("name")
        module = self._identifier("module")
        kind = self._choice("kind", Kind)
        expect = self._choice("expect", Expectation)
        if (kind is Kind.MODEL) != (expect is Expectation.PASS):
            self.reject(
                f"kind {kind} cannot expect {expect}", "a model passes, every other kind fails"
            )
        folder = self._folder()
        cfg = load_cfg(self._file(folder / f"{name}.cfg"))
        return Model(
            name=name,
            module=module,
            specifies=self._specifies(folder),
            tier=self._choice("tier", Tier),
            kind=kind,
            expect=expect,
            summary=self._string("summary"),
            module_path=self._file(folder / f"{module}.tla"),
            cfg=cfg,
            manifest=self._manifest.resolve(),
            property=self._property(expect, cfg),
            distinct=self._measured("distinct", expect),
            generated=self._measured("generated", expect),
            depth=self._measured("depth", expect),
            trace_length=self._measured("trace_length", expect),
            check_deadlock=self._boolean("check_deadlock", default=True),
            witnesses=self._names("witnesses"),
            unreached_actions=self._unreached(expect),
            bug=self._bug(kind),
        )

    def _value(self, key: str) -> object:
        if key not in self._table:
            self.reject(f"the key {key!r} is missing", f"add {key}")
        return self._table[key]

    def _string(self, key: str) -> str:
        value = self._value(key)
        if not isinstance(value, str) or not value.strip():
            self.reject(f"{key!r} is no text", f"write {key} as a string that is not empty", key)
        return value

    def _identifier(self, key: str) -> str:
        value = self._string(key)
        if not _is_name(value):
            self.reject(f"{key!r} is {value!r}, no TLA+ name", "use letters, digits and _", key)
        return value

    def _boolean(self, key: str, *, default: bool) -> bool:
        value = self._table.get(key, default)
        if not isinstance(value, bool):
            self.reject(f"{key!r} is no truth value", "write true or false", key)
        return value

    def _names(self, key: str) -> tuple[str, ...]:
        value = self._table.get(key, [])
        if not is_list(value):
            self.reject(f"{key!r} is no list", "write a list of names", key)
        names = tuple(item for item in value if isinstance(item, str) and _is_name(item))
        if len(names) != len(value) or len(set(names)) != len(names):
            self.reject(f"{key!r} is no list of different names", "write each name once", key)
        return names

    def _choice(self, key: str, choices: type[_Choice]) -> _Choice:
        value = self._string(key)
        if value not in {choice.value for choice in choices}:
            self.reject(f"{key!r} is {value!r}", f"use one of {', '.join(choices)}", key)
        return choices(value)

    def _folder(self) -> Path:
        base = self._manifest.parent.resolve()
        directory = self._string("directory") if "directory" in self._table else "."
        folder = (base / directory).resolve()
        if not folder.is_relative_to(base):
            self.reject(
                "'directory' leaves the folder of the manifest", "stay inside it", "directory"
            )
        if not folder.is_dir():
            self.reject(f"there is no folder {directory}", "create it or correct it", "directory")
        return folder

    def _file(self, path: Path) -> Path:
        if not path.is_file():
            shown = path.relative_to(self._manifest.parent.resolve())
            self.reject(f"the file {shown} does not exist", "create it or correct the name")
        return path

    def _specifies(self, folder: Path) -> str:
        name = self._identifier("specifies")
        if not any((place / f"{name}.tla").is_file() for place in (folder, self._manifest.parent)):
            self.reject(
                f"'specifies': there is no module {name}",
                "name a module of this folder",
                "specifies",
            )
        return name

    def _measured(self, key: str, expect: Expectation) -> int | None:
        wanted = key in (_MEASURED_OF_PASS if expect is Expectation.PASS else _MEASURED_OF_FAILURE)
        if expect is Expectation.ASSUMPTION:
            wanted = False
        if key not in self._table:
            if wanted and not self._pinning:
                self.reject(
                    f"the key {key!r} is missing",
                    f"measure it with: wheelproof tlc {self._table.get('name', '')} --pin",
                )
            return None
        if not wanted:
            self.reject(f"{key!r} means nothing when 'expect' is {expect}", "remove it", key)
        value = self._table[key]
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.reject(f"{key!r} is no number of states", "write a whole number", key)
        return value

    def _property(self, expect: Expectation, cfg: Cfg) -> str | None:
        if expect not in _NAMED_PROPERTY:
            if "property" in self._table:
                self.reject(f"'property' means nothing when 'expect' is {expect}", "remove it")
            return None
        name = self._identifier("property")
        if expect is Expectation.INVARIANT and name not in cfg.invariants:
            self.reject(f"{name} is no INVARIANT of {cfg.path.name}", "add it there")
        if expect in _ANONYMOUS_TO_TLC and cfg.properties != (name,):
            self.reject(
                f"{name} is not the only PROPERTY of {cfg.path.name}",
                "TLC does not name the property that fails, so leave that one alone there",
            )
        return name

    def _unreached(self, expect: Expectation) -> tuple[str, ...]:
        names = self._names("unreached_actions")
        if names and expect is not Expectation.PASS:
            self.reject("'unreached_actions' needs a model that passes", "remove it")
        return names

    def _bug(self, kind: Kind) -> str | None:
        if kind is Kind.KNOWN_BUG:
            return self._string("bug")
        if "bug" in self._table:
            self.reject(f"'bug' means nothing for kind {kind}", "remove it")
        return None
