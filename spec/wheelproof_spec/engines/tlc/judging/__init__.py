"""Judging runs of TLC against the manifest, and telling their counterexamples."""

from wheelproof_spec.engines.tlc.judging.check import describe, first_violation, is_expected
from wheelproof_spec.engines.tlc.judging.explain import explain
from wheelproof_spec.engines.tlc.judging.outcome import ModelOutcome, WitnessOutcome
from wheelproof_spec.engines.tlc.judging.runner import (
    Observer,
    RunSettings,
    SilentObserver,
    run_manifest,
    run_models,
)

__all__ = [
    "ModelOutcome",
    "Observer",
    "RunSettings",
    "SilentObserver",
    "WitnessOutcome",
    "describe",
    "explain",
    "first_violation",
    "is_expected",
    "run_manifest",
    "run_models",
]
