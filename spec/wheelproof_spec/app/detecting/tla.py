"""Mutants of the TLA+ modules, judged by the models of their own module."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from wheelproof_spec.base.resources import tla_directory
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.engines.detect.budget import TIMES_THE_BUDGET
from wheelproof_spec.engines.detect.cells import End, Found
from wheelproof_spec.engines.detect.mutants import Mutant
from wheelproof_spec.engines.detect.tla_mutants import TLA, mutated_tla, tla_mutants
from wheelproof_spec.engines.tlc.judging.check import first_violation, trace_length
from wheelproof_spec.engines.tlc.judging.runner import RunSettings, SilentObserver, run_models
from wheelproof_spec.engines.tlc.manifest.loader import load_manifest
from wheelproof_spec.engines.tlc.manifest.model import Kind, Model, Tier
from wheelproof_spec.engines.tlc.running.launch import find_toolchain

_NO_STATE = "not completely specified"
"""What TLC says of an action that gives a variable no value: such a module is none."""


def all_tla_mutants() -> Iterator[Mutant]:
    """Yield the mutants of every module that has a model which has to pass."""
    for module, models in _models(tla_directory()).items():
        text = _file(tla_directory(), module).read_text(encoding="utf-8")
        yield from tla_mutants(module, text, _properties(models))


def check_mutant(mutant: str, seconds: int) -> Found:
    """Let TLC check the models of a mutant's module, the small ones first.

    A property that fails, a deadlock or a value that there is not: found. A pinned number alone
    that differs: a pin. A module that is none any more, or whose states lack a value, is absent. Of
    models that do not come to an end nothing is known.
    """
    module = mutant.removeprefix(TLA).partition(".")[0]
    with tempfile.TemporaryDirectory(prefix="wheelproof-mutant-") as name:
        folder = Path(name) / "tla"
        shutil.copytree(tla_directory(), folder)
        models = _models(folder)[module]
        file = _file(folder, module)
        text = file.read_text(encoding="utf-8")
        file.write_text(mutated_tla(module, text, _properties(models), mutant), encoding="utf-8")
        pin, unfinished, runs = "", "", 0
        settings = RunSettings(jobs=1, seconds=TIMES_THE_BUDGET * seconds)
        for model in models:
            (outcome,) = run_models(find_toolchain(), [model], settings, SilentObserver())
            runs += outcome.generated or 0
            report = outcome.run.report
            violation = first_violation(report)
            story = f"{model.name}: {'; '.join(outcome.problems)}"
            if violation is not None:
                length = trace_length(report) or 0
                return Found(end=End.FOUND, runs=runs, length=length, story=story)
            no_module = any(_NO_STATE in error for error in report.errors)
            if no_module or (report.errors and report.statistics is None):
                return Found(end=End.ABSENT, story=story)
            if report.errors:
                return Found(end=End.FOUND, runs=runs, story=story)
            if outcome.verdict is Verdict.FAIL:
                pin = pin or story
            elif outcome.verdict is not Verdict.PASS:
                unfinished = unfinished or story
        if unfinished and not pin:
            return Found(end=End.HANGS, runs=runs, story=unfinished)
        return Found(end=End.PIN if pin else End.CLEAN, runs=runs, length=len(models), story=pin)


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


def _file(folder: Path, module: str) -> Path:
    return next(folder.glob(f"*/{module}.tla"), folder / f"{module}.tla")


def _properties(models: list[Model]) -> frozenset[str]:
    """Return the names of what the models check: a change of those says nothing of a model."""
    return frozenset(
        name
        for model in models
        for name in (*model.cfg.invariants, *model.cfg.properties, *model.witnesses)
    )
