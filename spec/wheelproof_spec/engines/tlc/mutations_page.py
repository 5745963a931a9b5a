"""`python -m wheelproof_spec.engines.tlc.mutations_page`: renews docs/proofs/mutations.md.

The page is the table of what must fail: for each mistake the property that it breaks. `wheelproof
tlc` confirms each row, since a model that must fail and passes is an error.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from wheelproof_spec.base.resources import required_checkout, tla_directory
from wheelproof_spec.base.results.reports import write_text
from wheelproof_spec.engines.tlc.manifest.loader import load_manifest
from wheelproof_spec.engines.tlc.manifest.model import Kind, Model

PAGE = "docs/proofs/mutations.md"

_HEAD = """# Which mistake breaks which property

Made from the manifest of models by `python -m wheelproof_spec.engines.tlc.mutations_page`.

A specification says as much as its properties forbid. So each mistake below has been put into its
module, and TLC has found the property that it breaks: a mutant is a mistake that was made up, a
known bug has been in Kafka or another implementation, a finding is a defect of the algorithm as its
rules state it. States: how long the counterexample is. `wheelproof tlc NAME --explain` tells it,
`wheelproof tlc` confirms every row.
"""


def render(manifest: Path) -> str:
    """Return the page as Markdown; raises InputRejectedError."""
    models = load_manifest(manifest)
    modules = dict.fromkeys(model.specifies for model in models)
    return _HEAD + "".join(line for module in modules for line in _section(module, models))


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


def _section(module: str, models: Sequence[Model]) -> Iterator[str]:
    yield f"\n## {module}\n\n| mistake | breaks | states | model |\n|---|---|---:|---|\n"
    for model in models:
        if model.specifies == module and model.kind is not Kind.MODEL:
            breaks = model.expect.value if model.property is None else f"`{model.property}`"
            kind = "" if model.kind is Kind.MUTANT else f" ({model.kind.replace('_', ' ')})"
            length = "" if model.trace_length is None else model.trace_length
            yield f"| {model.summary}{kind} | {breaks} | {length} | `{model.name}` |\n"
    rest = unbroken(module, models)
    if rest:
        yield f"\nBroken by no mistake: {', '.join(f'`{promise}`' for promise in rest)}.\n"


def main() -> int:
    """Write the page."""
    write_text(required_checkout() / PAGE, render(tla_directory() / "manifest.toml"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
