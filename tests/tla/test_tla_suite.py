"""The TLA+ suite: every model of the smoke and small tiers ends as the manifest says.

The smoke tier without its mutants is a part of the main job, whose test runs all of that. Of the
mutants and of the large models a few are drawn, others in each hunt: to start TLC for each of them
takes longer than all other tests of the specifications together.
"""

import random
import re
from collections.abc import Mapping, Sequence

import pytest

from support import seeds
from wheelproof_lab.bugs.catalog import bugs
from wheelproof_lab.bugs.known_bug import (
    Finder,
)
from wheelproof_lab.prove.all_proofs import listed
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.judging.runner import RunSettings, SilentObserver, run_models
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model, Tier
from wheelproof_spec.tlc.manifest.selection import select_models
from wheelproof_spec.tlc.running.launch import find_toolchain

TIERS = (Tier.SMOKE, Tier.SMALL)
MODULES = tuple(path.stem for path in sorted(tla_directory().glob("*/*.tla")))


_MODELS = select_models(load_manifest(tla_directory() / "manifest.toml"), (), TIERS)
_SHORT = [one for one in _MODELS if one.tier is Tier.SMOKE and one.kind is Kind.MODEL]
_MUTANTS = [one for one in _MODELS if one.kind is Kind.MUTANT]
_SMALL = [one for one in _MODELS if one.tier is Tier.SMALL and one.kind is not Kind.MUTANT]
_LARGE = [one for one in _SMALL if one.kind is Kind.MODEL and (one.distinct or 0) >= 9_000]
_DRAWN = [
    one
    for models, few in ((_MUTANTS, 20), (_LARGE, 4))
    for one in random.Random(seeds.seed(3)).sample(models, few)
]


def _outcomes(models: Sequence[Model]) -> Mapping[str, ModelOutcome]:
    runs = run_models(find_toolchain(), models, RunSettings(), SilentObserver())
    return {outcome.model.name: outcome for outcome in runs}


@pytest.fixture(scope="module")
def outcomes() -> Mapping[str, ModelOutcome]:
    return _outcomes(_SHORT)


@pytest.mark.slow
@pytest.mark.parametrize("name", [model.name for model in _SHORT])
def test_tla_model_ends_as_the_manifest_says(
    outcomes: Mapping[str, ModelOutcome], name: str
) -> None:
    assert outcomes[name].verdict is Verdict.PASS, outcomes[name].story()


@pytest.mark.long
@pytest.mark.parametrize(
    "model", [pytest.param(one, id=one.name) for one in _SMALL if one not in _LARGE]
)
def test_tla_small_model_or_mistake_ends_as_the_manifest_says(model: Model) -> None:
    # Each by itself: one run of all would meet the limit of a single test on a busy machine.
    outcome = _outcomes((model,))[model.name]
    assert outcome.verdict is Verdict.PASS, outcome.story()


@pytest.mark.campaign
@pytest.mark.long
@pytest.mark.parametrize("model", [pytest.param(model, id=model.name) for model in _DRAWN])
def test_tla_large_model_or_mutant_ends_as_the_manifest_says(model: Model) -> None:
    outcome = _outcomes((model,))[model.name]
    assert outcome.verdict is Verdict.PASS, outcome.story()


@pytest.mark.parametrize("module", MODULES)
def test_tla_module_has_a_smoke_model_and_one_that_fails(module: str) -> None:
    models = [model for model in _MODELS if model.specifies == module]
    assert any(model.kind is Kind.MODEL and model.tier is Tier.SMOKE for model in models)
    assert any(model.kind is not Kind.MODEL for model in models)


def test_tla_known_bugs_name_models_of_the_manifest() -> None:
    names = {model.name for model in _MODELS if model.kind is not Kind.MODEL}
    for bug in bugs():
        assert set(bug.models) <= names, bug.id
        assert bool(bug.models) == (Finder.TLC in bug.finders), bug.id


def test_tla_has_a_model_for_each_cfg_and_a_use_for_each_module() -> None:
    models = load_manifest(tla_directory() / "manifest.toml")
    # A model that starts from another one has no file of its own.
    cfgs = {model.cfg.name for model in models} - {f"{model.name}.cfg" for model in models}
    assert cfgs == {str(path) for path in tla_directory().resolve().rglob("*.cfg")}
    modules = {path.stem: path for path in tla_directory().resolve().rglob("*.tla")}
    assert len(modules) == len(list(tla_directory().rglob("*.tla"))), "two have one name"
    used = {model.specifies for model in models} | {model.module for model in models}
    used |= {proof.clauses_in.rpartition("/")[2] for proof in listed()}
    assert used | {f"MC{model.specifies}" for model in models} == set(modules)
    assert {model.module_path for model in models} <= set(modules.values())


def test_tla_bases_are_used_by_more_than_one_model() -> None:
    for part in sorted((tla_directory() / "bugs").rglob("manifest.toml")):
        text = part.read_text(encoding="utf-8")
        for name in re.findall(r"^\[base\.(\w+)\]", text, re.MULTILINE):
            assert text.count(f'base = "{name}"') > 1, name
