"""Estimating how many classes there are."""

from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof_explore import session
from wheelproof_explore.estimate import Estimate, Estimator, Progress
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program
from wheelproof_explore.runs.execution import World
from wheelproof_explore.strategies.driver import analysed_runs
from wheelproof_explore.strategies.optimal import OptimalStrategy
from wheelproof_explore.substrates.substrate import SubstrateKind, open_substrate
from wheelproof_lab.worlds.classics import (
    cas_then_write,
    coherence,
    increments,
    locked_increments,
    philosophers,
)


def _estimate(program: Program, probes: int) -> Estimate:
    estimator = Estimator(World(program, open_substrate(SubstrateKind.GREENLET)), seed=1)
    for _ in range(probes):
        estimator.probe()
    return estimator.estimate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "classes"),
    [
        (make(partial(increments, 3)), 36),
        (make(partial(increments, 4)), 576),
        (make(partial(cas_then_write, 4)), 1200),
        (make(partial(coherence, 3)), 130),
        (make(partial(locked_increments, 4)), 24),
        (make(partial(philosophers, 3, ordered=True)), 6),
    ],
)
def test_the_mean_of_the_probes_is_near_the_number_of_classes(
    program: Program, classes: int
) -> None:
    found = _estimate(program, 2_000)
    assert abs(found.classes - classes) <= 4 * found.error
    assert found.error < classes / 2


def test_a_program_with_one_class_needs_one_probe() -> None:
    found = _estimate(make(partial(increments, 1)), 5)
    assert (found.classes, found.error) == (1.0, 0.0)
    assert found.text() == "about 1 classes (1 to 1)"


def test_the_fraction_done_grows_to_the_whole() -> None:
    strategy = OptimalStrategy()
    world = World(make(partial(increments, 3)), open_substrate(SubstrateKind.GREENLET))
    seen = [strategy.fraction_done() for _ in analysed_runs(world, strategy)]
    assert len(seen) == 36
    assert 0 < seen[0] < seen[-1] == 1.0


def test_a_long_run_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "FIRST_REPORT_S", 0.0)
    monkeypatch.setattr(session, "REPORT_EVERY_S", 0.0)
    reports: list[Progress] = []
    found = explore(make(partial(increments, 3)), Options(), reports.append)
    assert [report.runs for report in reports] == list(range(1, found.runs + 1))
    fractions = [report.fraction for report in reports]
    assert all(fraction is not None and 0 < fraction <= 1 for fraction in fractions)
    first = reports[0].estimate
    assert first is not None
    assert all(report.estimate is first for report in reports)
    assert "about" in reports[-1].text()


def test_progress_without_an_estimate_is_the_number_of_runs() -> None:
    assert Progress(runs=1_200, seconds=2.0).text() == "1,200 runs in 2 s"
    text = Progress(runs=10, seconds=3.0, fraction=0.25).text()
    assert text == "10 runs in 3 s; 25% of what is known, at least 9 s to go"
    nothing = Estimate(probes=3, classes=0.0, error=0.0)
    assert nothing.text() == "too many classes for an estimate"
