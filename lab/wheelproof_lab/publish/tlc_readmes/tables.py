"""Makes the two tables of a README: what each model shows, and which line is which action."""

import os.path
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_lab.checkout import required_checkout
from wheelproof_lab.publish.tlc_readmes.citations import Citation, citations
from wheelproof_lab.publish.tlc_readmes.module import Module, read_module
from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model

_PART = re.compile(r"(<!-- (models|actions): made by [^>]* -->\n).*?(<!-- end -->)", re.DOTALL)
_LINE = re.compile(r"#L\d+")
_STUTTERING = "Terminated"
"""The step that keeps a final state from being a deadlock; no code implements it."""
_REASONS = "uncited.toml"
_UNCITED = read_table(__file__, _REASONS)
"""For each module the actions that no docstring names, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """All models, and the citations of modules in the docstrings of the reference."""

    root: Path
    models: Sequence[Model]
    cited: Sequence[Citation]

    def readmes(self) -> list[Path]:
        """Return the README of each component."""
        return sorted((self.root / "tla").glob("*/README.md"))

    def renewed(self, readme: Path) -> str:
        """Return the text of a README with its tables updated."""
        folder = readme.parent
        parts = {"models": self._models(folder), "actions": self._actions(folder)}
        return _PART.sub(
            lambda match: f"{match[1]}{parts[match[2]]}{match[3]}",
            readme.read_text(encoding="utf-8"),
        )

    def unknown(self) -> list[str]:
        """Return a sentence for each citation of something that no module has.

        Also for each action that no docstring names and that has no reason, and for each action
        that has a reason although a docstring names it.
        """
        folders = [readme.parent for readme in self.readmes()]
        modules = {module.name: module for folder in folders for module in self.modules(folder)}
        actions = {name: module.actions() for name, module in modules.items()}
        found = [
            f"{citation.path}:{citation.line}: {citation.definition} names "
            f"{citation.action or citation.part} of {citation.module}, which has no such thing"
            for citation in self.cited
            if (module := modules.get(citation.module)) is None
            or not _named(citation, module, actions[module.name])
        ]
        for name, module in modules.items():
            rest, given = set(self._uncited(module)), set(_UNCITED.get(name, ()))
            wrong = {"no docstring names": rest - given, "a reason for": given - rest}
            found += (
                f"{_REASONS}: {what} {action} of {name}"
                for what, names in wrong.items()
                for action in sorted(names)
            )
        return found

    def _uncited(self, module: Module) -> list[str]:
        """Return the actions of a module that no docstring names."""
        actions = module.actions()
        mine = (citation for citation in self.cited if citation.module == module.name)
        named = {name for citation in mine for name in _named(citation, module, actions)}
        return [name for name in actions if name not in named and name != _STUTTERING]

    def modules(self, folder: Path) -> list[Module]:
        """Return the modules of a component, in the order of the manifest."""
        names = dict.fromkeys(model.specifies for model in self._models_of(folder))
        return [read_module(folder / f"{name}.tla") for name in names]

    def _models_of(self, folder: Path) -> list[Model]:
        return [
            model
            for model in self.models
            if model.kind is Kind.MODEL and model.module_path.is_relative_to(folder)
        ]

    def _models(self, folder: Path) -> str:
        rows = ["| model | tier | states | what it shows |", "|---|---|---:|---|"]
        for model in self._models_of(folder):
            # A model that starts from another one is described by the manifest alone.
            file = Path(model.cfg.name)
            link = os.path.relpath(file, folder) if file.is_absolute() else "manifest.toml"
            count = "" if model.distinct is None else f"{model.distinct:,}"
            rows.append(f"| [`{model.name}`]({link}) | {model.tier} | {count} | {model.summary} |")
        bugs = self.root / "tla" / "bugs" / folder.name
        kinds = Counter(
            model.kind for model in self.models if model.module_path.is_relative_to(bugs)
        )
        present = [kind for kind in Kind if kinds[kind]]
        counts = ", ".join(f"{kinds[kind]} {kind.replace('_', ' ')}s" for kind in present)
        rows += ["", f"What must fail is in [bugs/{bugs.name}](../bugs/{bugs.name}): {counts}."]
        return "\n".join(rows) + "\n"

    def _actions(self, folder: Path) -> str:
        return "\n".join(
            line for module in self.modules(folder) for line in self._actions_of(module, folder)
        )

    def _actions_of(self, module: Module, folder: Path) -> Iterator[str]:
        """Yield the section of a module: a table, and the actions that no docstring names."""
        actions = module.actions()
        links: dict[str, list[str]] = {}
        for citation in self.cited:
            if citation.module == module.name:
                for name in _named(citation, module, actions):
                    links.setdefault(name, []).append(_link(citation, folder))
        yield f"### {module.name}\n"
        if links:
            yield "| action | line of code |\n|---|---|"
            order = [*module.operators, *sorted(links.keys() - module.operators.keys())]
            rows: dict[str, list[str]] = {}
            for name in (name for name in order if name in links):
                rows.setdefault(", ".join(dict.fromkeys(links[name])), []).append(name)
            yield from (f"| {', '.join(names)} | {code} |" for code, names in rows.items())
            yield ""
        reasons = _UNCITED.get(module.name, {})
        rest = [f"{name} ({reasons.get(name, '?')})" for name in self._uncited(module)]
        if rest:
            yield f"Named by no docstring: {', '.join(rest)}.\n"


def load_suite(root: Path) -> Suite:
    """Read the manifest and the docstrings of the checkout at `root`."""
    return Suite(
        root=root,
        models=load_manifest(root / "tla" / "manifest.toml"),
        cited=list(citations(root / "reference")),
    )


def renew_page() -> int:
    """Update the tables of all READMEs, and return the exit code; print what is not explained."""
    suite = load_suite(required_checkout())
    for path in suite.readmes():
        write_text(path, suite.renewed(path))
    for sentence in suite.unknown():
        print(sentence, file=sys.stderr)
    return 0


def without_lines(text: str) -> str:
    """Return a README without its line numbers, which change with every edit of the code."""
    return _LINE.sub("", text)


def _named(citation: Citation, module: Module, actions: Sequence[str]) -> list[str]:
    """Return the rows of a citation; none if the module does not have what it names."""
    if citation.action is None:
        is_operator = citation.part in module.operators and citation.part not in actions
        kind = "operator" if is_operator else "variable"
        known = is_operator or citation.part in module.variables
        return [f"{kind} `{citation.part}`"] if known else []
    if citation.action.endswith("*"):
        return [name for name in actions if name.startswith(citation.action[:-1])]
    return [citation.action] if citation.action in actions else []


def _link(citation: Citation, folder: Path) -> str:
    place = Path(os.path.relpath(citation.path, folder)).as_posix()
    return f"[`{citation.definition}`]({place}#L{citation.line})"
