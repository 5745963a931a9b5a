"""Runs the models of a manifest, several at a time, and judges each of them."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path

from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.results.reports import make_folder
from wheelproof_spec.tlc.judging.check import judge
from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.manifest.model import Expectation, Model, Tier
from wheelproof_spec.tlc.running.launch import (
    LIMITS,
    Limits,
    RunOptions,
    Simulation,
    TlcRun,
    Toolchain,
    run_tlc,
)
from wheelproof_spec.tlc.running.memory import available_memory, job_count, usable_cores
from wheelproof_spec.tlc.running.process import Ending, ProcessPool
from wheelproof_spec.tlc.running.report import Statistics
from wheelproof_spec.tlc.states.graph import read_graph


class SilentObserver:
    """An observer of a run that does nothing; it is called from several threads."""

    def started(self, model: Model) -> None:
        """Record that TLC started on `model`."""

    def progressed(self, model: Model, statistics: Statistics, depth: int) -> None:
        """Record the counts that TLC prints, after some seconds and then each minute."""

    def finished(self, outcome: ModelOutcome) -> None:
        """Record that `outcome` is final."""


Observer = SilentObserver
"""The base class of the observers that print something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How to run: at most `jobs` models at a time (None: what cores and memory allow).

    `seconds` replaces the time limits of the tiers, `graphs` is the folder for state graphs,
    `coverage` counts actions even if no verdict needs it, `simulation` replaces the complete
    search.
    """

    jobs: int | None = None
    seconds: float | None = None
    graphs: Path | None = None
    coverage: bool = False
    simulation: Simulation | None = None


def run_models(
    toolchain: Toolchain, models: Sequence[Model], settings: RunSettings, observer: Observer
) -> list[ModelOutcome]:
    """Run `models`, the ones with the most states first, and return their outcomes in order.

    Raises InputRejectedError if a cfg has a keyword that this TLC does not know.
    """
    for model in models:
        model.cfg.require(toolchain.jar.keywords, toolchain.jar.path.name)
    if settings.graphs is not None:
        make_folder(settings.graphs)
    pool = ProcessPool()
    runner = _ModelRunner(toolchain, pool, settings, observer)
    with ThreadPoolExecutor(max_workers=_jobs(models, settings)) as executor:
        futures: dict[str, Future[ModelOutcome]] = {}
        try:
            for model in sorted(models, key=_cost, reverse=True):
                futures[model.name] = executor.submit(runner.run, model)
            wait(futures.values())
        except KeyboardInterrupt:
            pool.interrupt()
        except BaseException:
            pool.interrupt()
            raise
        missing = [model for model in models if model.name not in futures]
        for model in missing:
            futures[model.name] = executor.submit(runner.run, model)
        return [futures[model.name].result() for model in models]


def _cost(model: Model) -> tuple[int, int]:
    return (list(Tier).index(model.tier), model.generated or 0)


def _jobs(models: Sequence[Model], settings: RunSettings) -> int:
    if settings.jobs is not None:
        return settings.jobs
    heap = max((LIMITS[model.tier].heap_bytes for model in models), default=0)
    return job_count(heap, usable_cores(), available_memory())


class _ModelRunner:
    def __init__(
        self, toolchain: Toolchain, pool: ProcessPool, settings: RunSettings, observer: Observer
    ) -> None:
        self._toolchain = toolchain
        self._pool = pool
        self._settings = settings
        self._observer = observer

    def run(self, model: Model) -> ModelOutcome:
        if not self._pool.interrupted:
            self._observer.started(model)
        begin = time.monotonic()
        run = self._main_run(model)
        outcome = ModelOutcome(
            model=model,
            judgement=judge(model, run),
            run=run,
            seconds=time.monotonic() - begin,
            graph_summary=self._graph_summary(model, run),
        )
        self._observer.finished(outcome)
        return outcome

    def _main_run(self, model: Model) -> TlcRun:
        graphs, simulation = self._settings.graphs, self._settings.simulation
        judged = model.expect is Expectation.PASS and model.listed and simulation is None
        options = RunOptions(
            limits=self._limits(model),
            coverage=self._settings.coverage or judged,
            dump=None if graphs is None else (graphs / f"{model.name}.dot").resolve(),
            simulation=simulation,
        )
        return run_tlc(
            self._toolchain,
            self._pool,
            model,
            options,
            lambda statistics, depth: self._observer.progressed(model, statistics, depth),
        )

    def _limits(self, model: Model) -> Limits:
        limits = LIMITS[model.tier]
        seconds = self._settings.seconds
        return limits if seconds is None else replace(limits, seconds=seconds)

    def _graph_summary(self, model: Model, run: TlcRun) -> str:
        if self._settings.graphs is None or run.ending is not Ending.EXITED:
            return ""
        path = self._settings.graphs / f"{model.name}.dot"
        try:
            return read_graph(path).summary()
        except InputRejectedError as error:
            return f"no state graph: {error.problem}"
