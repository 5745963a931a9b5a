"""The manifest of models: what is checked, with which configuration, and how TLC has to end."""

from wheelproof_spec.engines.tlc.manifest.cfg import Cfg, parse_cfg
from wheelproof_spec.engines.tlc.manifest.loader import library, load_manifest
from wheelproof_spec.engines.tlc.manifest.model import Expectation, Kind, Model, Tier
from wheelproof_spec.engines.tlc.manifest.selection import select_models

__all__ = [
    "Cfg",
    "Expectation",
    "Kind",
    "Model",
    "Tier",
    "library",
    "load_manifest",
    "parse_cfg",
    "select_models",
]
