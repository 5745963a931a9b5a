"""Makes a model from any module and cfg, without a manifest."""

from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.tlc.manifest.cfg import load_cfg
from wheelproof_spec.tlc.manifest.model import Expectation, Kind, Model, Tier

SUFFIX = ".tla"


def unlisted_model(module: Path, config: Path | None) -> Model:
    """Return the model of a module with a cfg: `config`, or the one with its name beside it.

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
