"""The models of a run: those of a manifest by name, pattern and tier, or one without a manifest."""

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError, UsageError
from wheelproof_spec.tlc.manifest.cfg import load_cfg
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model, Tier

DEFAULT_TIERS = (Tier.SMOKE, Tier.SMALL)
SUFFIX = ".tla"


def select_models(
    models: Sequence[Model], patterns: Sequence[str], tiers: Sequence[Tier]
) -> list[Model]:
    """Return the models whose name matches one of `patterns` and whose tier is one of `tiers`.

    No pattern means every name; no tier means every tier when a pattern is given, else
    `DEFAULT_TIERS`. Raises UsageError when a pattern, or the selection, matches nothing.
    """
    names = [model.name for model in models]
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            near = get_close_matches(pattern, names, n=3, cutoff=0.5)
            hint = f"; near are {', '.join(near)}" if near else ""
            raise UsageError(f"the manifest has no model {pattern}{hint}")
    wanted = tiers or (tuple(Tier) if patterns else DEFAULT_TIERS)
    selected = [
        model
        for model in models
        if model.tier in wanted
        and (not patterns or any(fnmatchcase(model.name, pattern) for pattern in patterns))
    ]
    if not selected:
        raise UsageError(f"the manifest has no such model in tier {' or '.join(wanted)}")
    return selected


def unlisted_model(module: Path, config: Path | None) -> Model:
    """Return the model of any module with a cfg: `config`, or the one with its name beside it.

    It may take the time and the memory of the largest tier. Raises InputRejectedError.
    """
    if not module.is_file():
        raise InputRejectedError(str(module), None, "there is no such module", "correct the path")
    path = module.with_suffix(".cfg") if config is None else config
    if not path.is_file():
        remedy = "name one with --config" if config is None else "correct the path"
        raise InputRejectedError(str(path), None, f"there is no such cfg for {module}", remedy)
    cfg = load_cfg(path)
    return Model(
        name=module.stem if config is None else f"{module.stem}_{config.stem}",
        module=module.stem,
        specifies=module.stem,
        tier=Tier.BIG,
        kind=Kind.MODEL,
        expect=Expectation.PASS,
        summary=f"{module.name} with {path.name}",
        module_path=module.resolve(),
        cfg=cfg,
        manifest=module.resolve(),
        library=(),
        check_deadlock=cfg.check_deadlock,
        listed=False,
    )
