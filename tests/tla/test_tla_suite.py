"""The TLA+ suite: every model of the smoke and small tiers ends as the manifest says."""

from collections.abc import Mapping

import pytest

from wheelproof_spec.known_bugs import KNOWN_BUGS, Finder
from wheelproof_spec.resources import tla_directory
from wheelproof_spec.tlc.judging import ModelOutcome, RunSettings, SilentObserver, run_models
from wheelproof_spec.tlc.manifest import Kind, Model, Tier, load_manifest, select_models
from wheelproof_spec.tlc.running import find_toolchain
from wheelproof_spec.verdicts import Verdict

TIERS = (Tier.SMOKE, Tier.SMALL)
MODULES = (
    "Timer",
    "TimingWheel",
    "EntryMigration",
    "SystemTimer",
    "DelayedOperation",
    "MaybeTryComplete",
    "LockOrder",
    "Purgatory",
    "ProduceFetch",
)


def _models() -> tuple[Model, ...]:
    return tuple(select_models(load_manifest(tla_directory() / "manifest.toml"), (), TIERS))


@pytest.fixture(scope="module")
def outcomes() -> Mapping[str, ModelOutcome]:
    runs = run_models(find_toolchain(), _models(), RunSettings(), SilentObserver())
    return {outcome.model.name: outcome for outcome in runs}


@pytest.mark.slow
@pytest.mark.parametrize("name", [model.name for model in _models()])
def test_tla_model_ends_as_the_manifest_says(
    outcomes: Mapping[str, ModelOutcome], name: str
) -> None:
    assert outcomes[name].verdict is Verdict.PASS, outcomes[name].story()


@pytest.mark.parametrize("module", MODULES)
def test_tla_module_has_a_smoke_model_and_one_that_fails(module: str) -> None:
    models = [model for model in _models() if model.specifies == module]
    assert any(model.kind is Kind.MODEL and model.tier is Tier.SMOKE for model in models)
    assert any(model.kind is not Kind.MODEL for model in models)


def test_tla_known_bugs_name_models_of_the_manifest() -> None:
    names = {model.name for model in _models() if model.kind is not Kind.MODEL}
    for bug in KNOWN_BUGS:
        assert set(bug.models) <= names, bug.id
        assert bool(bug.models) == (Finder.TLC in bug.finders), bug.id
