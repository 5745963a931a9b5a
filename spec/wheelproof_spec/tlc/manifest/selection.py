"""Selects models of a manifest by name, pattern and tier."""

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.tlc.manifest.model import Model, Tier

DEFAULT_TIERS = (Tier.SMOKE, Tier.SMALL)


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
