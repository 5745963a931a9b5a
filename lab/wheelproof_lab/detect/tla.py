"""Mutants of the TLA+ modules, judged by the models of their own module."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from wheelproof_lab.detect.mutation.budget import TIMES_THE_BUDGET
from wheelproof_lab.detect.mutation.cells import End, Found
from wheelproof_lab.detect.mutation.mutants import Mutant
from wheelproof_lab.detect.mutation.tla_mutants import TLA, mutated_tla, tla_mutants
from wheelproof_lab.publish.tlc_readmes.module import read_module
from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.tlc.judging.check import trace_length
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.judging.runner import RunSettings, SilentObserver, run_models
from wheelproof_spec.tlc.manifest.loader import load_manifest
from wheelproof_spec.tlc.manifest.model import Kind, Model, Tier
from wheelproof_spec.tlc.running.launch import find_toolchain

_NO_STATE = "not completely specified"
"""TLC's message for an action that gives a variable no value: the mutant is not a module."""
_LAST = frozenset({End.FOUND, End.BROKEN, End.ABSENT})
"""The ends after which no other model is checked."""
_BY_WEIGHT = (End.REACH, End.PIN, End.HANGS, End.CLEAN)


def all_tla_mutants() -> Iterator[Mutant]:
    """Yield the mutants of every module that has a model that must pass."""
    for module, models in _models(tla_directory()).items():
        file = _file(tla_directory(), module)
        yield from tla_mutants(module, file.read_text(encoding="utf-8"), *_chosen(models, file))


def check_mutant(mutant: str, seconds: int) -> Found:
    """Let TLC check the models of a mutant's module, the small ones first, until a property fails.

    The smoke models of the modules that refine it come after those. FOUND: a property of a model
    fails, or there is a deadlock. BROKEN: TLC evaluates a value that does not exist, in a state
    that it has reached; the module itself does not forbid it. ABSENT: that happens in an initial
    state, or a variable gets no value, so the mutant is not a module. REACH: a witness or an action
    is no longer reached, or an action is taken that the manifest says is never taken. PIN: only a
    pinned number differs. HANGS: a model did not end, so nothing is known. CLEAN: all models pass.
    """
    module = mutant.removeprefix(TLA).partition(".")[0]
    with tempfile.TemporaryDirectory(prefix="wheelproof-mutant-") as name:
        folder = Path(name) / "tla"
        shutil.copytree(tla_directory(), folder)
        all_models, file = _models(folder), _file(folder, module)
        models = all_models[module]
        text = file.read_text(encoding="utf-8")
        file.write_text(mutated_tla(module, text, *_chosen(models, file), mutant), encoding="utf-8")
        runs, stories = 0, dict[End, str]()
        until = time.monotonic() + TIMES_THE_BUDGET * seconds
        for model in (*_in_order(models, mutant), *_refining(all_models, folder, module)):
            # A model that does not end leaves half of the time to the models after it.
            settings = RunSettings(jobs=1, seconds=max(1, (until - time.monotonic()) / 2))
            (outcome,) = run_models(find_toolchain(), [model], settings, SilentObserver())
            runs += outcome.generated or 0
            story = f"{model.name}: {'; '.join(outcome.problems)}"
            end = _end(model, outcome)
            if end in _LAST:
                length = trace_length(outcome.run.report) or 0
                return Found(end=end, runs=runs, length=length, story=story)
            stories.setdefault(end, story)
    worst = next(end for end in _BY_WEIGHT if end in stories)
    return Found(end=worst, runs=runs, story="" if worst is End.CLEAN else stories[worst])


def _end(model: Model, outcome: ModelOutcome) -> End:
    """Return the end of a mutant according to one model."""
    report = outcome.run.report
    if report.violations:
        return End.FOUND
    if report.errors:
        started = report.statistics is not None and report.statistics.distinct
        no_state = any(_NO_STATE in error for error in report.errors)
        return End.BROKEN if started and not no_state else End.ABSENT
    if outcome.verdict is Verdict.PASS:
        return End.CLEAN
    if outcome.verdict is not Verdict.FAIL:
        return End.HANGS
    taken = {action.name for action in report.coverage if action.generated}
    wanted = {action.name for action in report.coverage} - {*model.unreached_actions}
    reached = taken == wanted and report.reached.keys() >= {*model.witnesses}
    return End.PIN if reached else End.REACH


def _models(folder: Path) -> Mapping[str, list[Model]]:
    found: dict[str, list[Model]] = {}
    for model in load_manifest(folder / "manifest.toml"):
        if model.kind is Kind.MODEL and model.tier is not Tier.BIG:
            found.setdefault(model.specifies, []).append(model)
    return {
        module: sorted(models, key=lambda model: model.generated or 0)
        for module, models in found.items()
        if _file(folder, module).exists()
    }


def _in_order(models: list[Model], mutant: str) -> list[Model]:
    """Return the models that can see a mutant, in the order in which they are checked.

    A model that never takes an action comes first if the guard of that action is left out. It
    cannot see a left-out update or another step there, so it is not checked for those.
    """
    place, operator = mutant.partition(".")[2].split("/")[:2]
    if operator in ("update left out", "another step"):
        return [model for model in models if place not in model.unreached_actions]
    return sorted(
        models,
        key=lambda model: operator != "guard left out" or place not in model.unreached_actions,
    )


def _refining(models: Mapping[str, list[Model]], folder: Path, module: str) -> Iterator[Model]:
    """Yield the smoke models of the modules that have an INSTANCE of this module."""
    for other, others in models.items():
        if f"INSTANCE {module} " in _file(folder, other).read_text(encoding="utf-8"):
            yield from (model for model in others if model.tier is Tier.SMOKE)


def _file(folder: Path, module: str) -> Path:
    return next(folder.glob(f"*/{module}.tla"), folder / f"{module}.tla")


def _chosen(models: list[Model], file: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the definitions that the models' behaviours depend on, and those that are steps.

    A change of a property, of a definition that only properties use, or of a step that changes
    nothing does not change the module's behaviour. Nor does a change of an action that no model
    takes: that action is another design, which models of the kind FINDING show.
    """
    module = read_module(file)
    needed: set[str] = set()
    for model in models:
        root = read_module(model.module_path)
        both = {**module.operators, **root.operators}
        moving = {name: body for name, body in both.items() if "UNCHANGED vars" not in body}
        needed |= replace(module, operators=moving).needed_by(
            (*model.cfg.behaviours, *model.cfg.replaced.values())
        )
    needed -= frozenset[str].intersection(*(frozenset(model.unreached_actions) for model in models))
    return frozenset(needed & module.operators.keys()), module.steps()
