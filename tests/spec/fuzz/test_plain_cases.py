"""Cases that a plain generator draws: each seed is one by itself, and one command repeats it."""

import pytest

from wheelproof_lab.bugs.catalog import variant_of
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.verdicts import ExitCode
from wheelproof_spec.base.suite import FuzzPlan
from wheelproof_spec.components.registry import machines

_BUG = "KAFKA-2226/no-cancelled-test"


def _report(
    machine: str, threads: str, seed: int, cases: int, bug: str | None = None
) -> FuzzReport:
    plan = FuzzPlan(
        threads=threads,
        cases=cases,
        seed=seed,
        repeat="seed {seed}",
        shrink_seconds=0,
        seed_per_case=True,
    )
    variant = None if bug is None else variant_of(machine, bug)
    [report] = machines()[machine].reports(plan, variant)
    return report


@pytest.mark.parametrize(
    ("machine", "threads"), [*((name, "none") for name in machines()), ("timer", "controlled")]
)
def test_a_case_depends_on_its_seed_alone(machine: str, threads: str) -> None:
    together = _report(machine, threads, 5, 4)
    alone = [_report(machine, threads, 5 + number, 1) for number in range(4)]
    assert together.failure is None
    assert together.steps == sum(one.steps for one in alone) > 0
    kinds = {kind for one in alone for kind in one.calls}
    assert together.calls == {kind: sum(one.calls.get(kind, 0) for one in alone) for kind in kinds}


@pytest.mark.slow
def test_one_command_repeats_a_case_and_makes_it_small(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["fuzz", "timer", "--threads", "none", "--bug", _BUG]
    seeds = range(40)
    found = next(seed for seed in seeds if _report("timer", "none", seed, 1, _BUG).failure)
    assert main([*words, "--case", str(found)]) is ExitCode.FAIL
    printed = capsys.readouterr().out
    assert f"  repeat    wheelproof {' '.join(words)} --case {found}\n" in printed
    assert printed.partition("as small as it was found")[2].count('{"id":') <= 4
    assert main([*words[:2], "--case", str(found)]) is ExitCode.PASS


def test_a_case_is_one_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "timer", "--case", "1", "--cases", "2"]) is ExitCode.USAGE
    assert "--case is one case" in capsys.readouterr().err
