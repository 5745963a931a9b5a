"""Writes the suite in the form of the repository tlaplus/Examples: a folder per specification.

A folder there has all its modules and cfgs side by side, and a manifest.json that says for each
cfg how TLC ends. The cfgs of models that must fail are derived from their base, as for a run.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path

from wheelproof_spec.base.results.reports import make_folder, write_json, write_text
from wheelproof_spec.tlc.manifest.model import Expectation, Model, Tier

_ROOT = "specifications"
_MANIFEST = "manifest.json"
_RESULTS = {
    Expectation.PASS: "success",
    Expectation.ASSUMPTION: "assumption failure",
    Expectation.DEADLOCK: "deadlock failure",
    Expectation.INVARIANT: "safety failure",
    Expectation.ACTION_PROPERTY: "safety failure",
    Expectation.LIVENESS: "liveness failure",
}
_RUNTIMES = {Tier.SMOKE: "00:00:10", Tier.SMALL: "00:01:00", Tier.BIG: "unknown"}
"""The run times that the tiers promise; that repository does not measure them either."""


def write_examples(folder: Path, models: Sequence[Model]) -> list[Path]:
    """Write a folder for each specification of `models`; returns the manifests."""
    grouped: dict[str, list[Model]] = {}
    for model in models:
        grouped.setdefault(_specification(model.module_path.parent), []).append(model)
    return [_write(folder / _ROOT / name, name, mine) for name, mine in grouped.items()]


def _specification(folder: Path) -> str:
    """Return the name of the specification whose modules, models or bugs are in a folder."""
    return [part for part in folder.parts if part not in ("bugs", "models")][-1]


def _write(folder: Path, name: str, models: Sequence[Model]) -> Path:
    make_folder(folder)
    modules = _modules(models)
    for path in modules:
        shutil.copy(path, folder)
    entries: list[dict[str, object]] = [
        {
            "path": f"{_ROOT}/{name}/{path.name}",
            "features": [],
            "models": [_model(folder, name, one) for one in models if one.module == path.stem],
        }
        for path in modules
    ]
    manifest = folder / _MANIFEST
    write_json(manifest, {"sources": [], "authors": [], "tags": [], "modules": entries})
    return manifest


def _modules(models: Sequence[Model]) -> list[Path]:
    """Return every module of the specification to which the models belong."""
    here = models[0].module_path.parent
    folders = {
        folder
        for folder in (here, *models[0].library)
        if _specification(folder) == _specification(here)
    }
    return sorted(path for folder in folders for path in folder.glob("*.tla"))


def _model(folder: Path, name: str, model: Model) -> dict[str, object]:
    deadlock = "" if model.check_deadlock else "CHECK_DEADLOCK FALSE\n"
    write_text(folder / f"{model.name}.cfg", model.cfg.text + deadlock)
    counts = {
        "distinctStates": model.distinct,
        "totalStates": model.generated,
        "stateDepth": model.depth,
    }
    return {
        "path": f"{_ROOT}/{name}/{model.name}.cfg",
        "runtime": _RUNTIMES[model.tier],
        "mode": "exhaustive search",
        "result": _RESULTS[model.expect],
        **{key: count for key, count in counts.items() if count is not None},
    }
