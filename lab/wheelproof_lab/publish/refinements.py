"""`python -m wheelproof_lab pages refinements`: renews docs/proofs/refinements.md.

The page has the modules that refine another one or are made of it. An arrow is read from the text:
a module has `Name == INSTANCE Other`, and a property of it says `Name!Spec`, or another formula of
`Other`. The models that check the property, and the mistakes that break it, are the manifest's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model

PAGE = "docs/proofs/refinements.md"

_COMMENT = re.compile(r"\(\*.*?\*\)|\\\*[^\n]*", re.DOTALL)
_INSTANCE = re.compile(r"^(\w+)(?:\(\w+\))? == INSTANCE (?:MC)?(\w+)", re.MULTILINE)
_DEFINITION = re.compile(r"^(\w+) ==(.*?)(?=^\w|^====|^----|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """What ties a module to a more abstract one: a property, who checks it, and what breaks it."""

    lower: str
    upper: str
    property: str
    models: tuple[str, ...]
    mistakes: tuple[str, ...]


def arrows(folder: Path, models: Sequence[Model]) -> list[Arrow]:
    """Return the arrows of the modules below a folder, in the order of the manifest."""
    order = list(dict.fromkeys(model.specifies for model in models))
    found = [
        arrow
        for path in sorted(folder.glob("*/*.tla"))
        if path.stem in order
        for arrow in _arrows_of(path.stem, _text(path), models)
    ]
    return sorted(found, key=lambda arrow: order.index(arrow.lower))


def _text(path: Path) -> str:
    """Return a module and its models' module without their comments: each may have an instance."""
    paths = (path, path.parent / "models" / f"MC{path.name}")
    return "\n".join(_COMMENT.sub("", one.read_text(encoding="utf-8")) for one in paths)


def _arrows_of(module: str, text: str, models: Sequence[Model]) -> Iterator[Arrow]:
    about = [model for model in models if model.specifies == module]
    for name, upper in _INSTANCE.findall(text):
        for operator, body in _DEFINITION.findall(text):
            if not re.search(rf"\b{name}(?:\(\w+\))?!", body):
                continue
            checking = [
                model.name
                for model in about
                if model.kind is Kind.MODEL
                and operator in (*model.cfg.invariants, *model.cfg.properties)
            ]
            breaking = [model.name for model in about if model.property == operator]
            if checking or breaking:
                yield Arrow(
                    lower=module,
                    upper=upper,
                    property=operator,
                    models=tuple(checking),
                    mistakes=tuple(breaking),
                )


def instances(folder: Path) -> set[tuple[str, str]]:
    """Return each module below a folder that has an instance of another one, with that one."""
    return {
        (path.stem, upper)
        for path in folder.glob("*/*.tla")
        for _, upper in _INSTANCE.findall(_text(path))
    }


def render(manifest: Path) -> str:
    """Return the page as Markdown; raises InputRejectedError."""
    found = arrows(manifest.parent, load_manifest(manifest))
    pairs = dict.fromkeys((arrow.lower, arrow.upper) for arrow in found)
    return markdown("refinements", arrows=found, pairs=[*pairs])


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, partial(render, tla_directory() / "manifest.toml"))
