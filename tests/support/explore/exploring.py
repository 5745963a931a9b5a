"""What the tests of the model checker share."""

import importlib
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import DEFAULT_SETTINGS, Program, Scenario, Settings
from wheelproof_explore.result import Exploration
from wheelproof_explore.runs.canonical import ClassNames
from wheelproof_explore.runs.execution import World
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.strategy import Strategy
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_lab.worlds.making import program


@contextmanager
def beside_installed(
    folder: Path, installed: dict[str, str], own: str, text: str
) -> Generator[ModuleType]:
    """Import a module of the user's own, by name and text, beside modules that are installed."""
    site = folder / "site-packages"
    site.mkdir()
    for name, source in installed.items():
        (site / f"{name}.py").write_text(source)
    (folder / f"{own}.py").write_text(text)
    with patch.object(sys, "path", [str(folder), str(site), *sys.path]):
        yield importlib.import_module(own)
    for name in (own, *installed):
        del sys.modules[name]


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes that an engine ran: how each one ended, and how many runs there were."""

    endings: dict[bytes, str]
    runs: int


def make(build: Callable[[], Scenario], settings: Settings = DEFAULT_SETTINGS) -> Program:
    return program("under-test", build, settings)


def explored(build: Callable[[], Scenario], settings: Settings = DEFAULT_SETTINGS) -> Exploration:
    """Explore to the end, failures or not."""
    return explore(make(build, settings), Options(keep_going=True))


def with_engine(program: Program, engine: Engine) -> Exploration:
    return explore(program, Options(engine=engine, keep_going=True))


def classes(program: Program, strategy: Strategy, max_runs: int) -> Classes | None:
    """Run every class; None if that takes more than `max_runs` runs."""
    substrate = open_substrate(SubstrateKind.GREENLET)
    world = World(program, substrate)
    names = ClassNames(world)
    endings: dict[bytes, str] = {}
    runs = 0
    for analysis in analysed_runs(world, strategy):
        runs += 1
        if runs > max_runs:
            return None
        failure = analysis.execution.judge()
        endings[names.name(analysis.execution)] = "ok" if failure is None else failure.kind.value
    substrate.close()
    return Classes(endings, runs)
