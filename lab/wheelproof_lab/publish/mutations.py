"""`python -m wheelproof_lab pages mutations`: renews docs/proofs/mutations.md.

The page is the table of the models that must fail: for each mistake the property that it breaks.
`wheelproof tlc` confirms each row, since it is an error if such a model passes.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wheelproof_lab.publish.markdown import markdown, renew
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model

PAGE = "docs/proofs/mutations.md"


def render(manifest: Path) -> str:
    """Return the page as Markdown; raises InputRejectedError."""
    models = load_manifest(manifest)
    modules = [
        (module, [model for model in models if model.specifies == module], unbroken(module, models))
        for module in dict.fromkeys(model.specifies for model in models)
    ]
    return markdown("mutations", modules=modules)


def unbroken(module: str, models: Sequence[Model]) -> list[str]:
    """Return the properties of a module's passing models that no model breaks."""
    about = [model for model in models if model.specifies == module]
    broken = {model.property for model in about}
    promised = {
        promise
        for model in about
        if model.kind is Kind.MODEL
        for promise in (*model.cfg.invariants, *model.cfg.properties)
    }
    return sorted(promised - broken)


def renew_page() -> int:
    """Write the page, and return the exit code."""
    return renew(PAGE, partial(render, tla_directory() / "manifest.toml"))
