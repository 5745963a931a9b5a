"""`conform --infer`: the strongest profile that an implementation keeps is found."""

from pathlib import Path

import pytest

from support.drive.adapters import HEAPQ, python
from support.drive.commands import REFERENCE
from wheelproof_spec.app.cli import main
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.bounds import Bound
from wheelproof_spec.base.contract import (
    CONTRACTS,
    FiringOrder,
    TimerContract,
    UnknownContractError,
    contract_of,
    strongest_first,
)
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.results.verdicts import ExitCode, Verdict
from wheelproof_spec.components.registry import COMPONENTS, suites
from wheelproof_spec.components.timer.cases import SUITE, TIMER
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.drive.conformance import conform
from wheelproof_spec.drive.named_cases import ProfileSearch, lacking
from wheelproof_spec.drive.plan import ConformancePlan
from wheelproof_spec.drive.text import render
from wheelproof_spec.fuzz.one_thread import InProcess

_CASES = 150


class _WeakTimer:
    """A timer that uses all the freedom of a contract: half of its tasks are as late as may be."""

    def __init__(self, contract: TimerContract) -> None:
        self._contract = contract
        self._config = TimerConfig()
        self._now_ms = 0
        self._due_ms: dict[str, int] = {}

    def perform(self, call: object) -> TimerObservation:
        """Make a call of a timer."""
        match call:
            case Reset(config=TimerConfig() as config):
                self._config, self._now_ms, self._due_ms = config, config.start_ms, {}
                return TimerObservation()
            case Add(task=task, delay_ms=delay_ms):
                deadline_ms = self._now_ms + delay_ms
                self._due_ms[task] = self._contract.due_ms(deadline_ms, self._config.tick_ms)
                return TimerObservation()
            case Cancel(task=task):
                return TimerObservation(cancelled=self._due_ms.pop(task, None) is not None)
            case Advance(to_ms=to_ms):
                self._now_ms = to_ms
                return TimerObservation(fired=self._run())
            case _:
                return TimerObservation(size=len(self._due_ms))

    def _run(self) -> tuple[str, ...]:
        tick_ms = self._config.tick_ms
        late_ms = self._contract.owes_ms(self._now_ms, tick_ms)
        in_order = self._contract.order is not FiringOrder.ANY
        held_ms = [due_ms for task, due_ms in self._due_ms.items() if ord(task[-1]) % 2]
        # What is late keeps its turn: nothing that is due behind it runs.
        first_held_ms = min((due for due in held_ms if due > late_ms), default=self._now_ms)
        due = [
            task
            for task, due_ms in self._due_ms.items()
            if due_ms <= (late_ms if ord(task[-1]) % 2 else self._now_ms)
            and not (in_order and due_ms > first_held_ms)
        ]
        if self._contract.order is FiringOrder.BY_TICK:
            # Backwards within a tick.
            due.sort(key=lambda task: (self._due_ms[task] // tick_ms, -self._due_ms[task]))
        else:
            due.sort(key=self._due_ms.__getitem__, reverse=self._contract.order is FiringOrder.ANY)
        for task in due:
            del self._due_ms[task]
        return tuple(due)


def _found(contract: TimerContract) -> tuple[str | None, list[str]]:
    named = [one for one in SUITE.scenarios() if one.limit is None]
    search = ProfileSearch(SUITE, InProcess(_WeakTimer(contract)), named, _CASES, 3)
    profiles = SUITE.definition.by_strength()
    found = search.find((profile, Tally()) for profile in profiles)
    return found, [broken.profile for broken in search.broken]


@pytest.mark.parametrize(
    "profile",
    [
        *CONTRACTS,
        "exact,late_ticks=2",
        "never-early,late_ticks=1",
        "exact,order=by_tick",
        "hashed-wheel,late_ticks=3,order=any",
        "kafka,late_ticks=8,order=any",
    ],
)
def test_the_profile_that_a_timer_just_keeps_is_found(profile: str) -> None:
    found, broken = _found(contract_of(profile))
    assert found == profile
    # Whatever is stronger has been tried and is broken.
    names = list(strongest_first())
    assert broken == names[: names.index(profile)]


def test_a_timer_that_keeps_no_profile_has_none_and_is_judged_by_its_own(tmp_path: Path) -> None:
    text = HEAPQ.read_text(encoding="utf-8")
    script = tmp_path / "driver.py"
    script.write_text(text.replace("self.heap[0][0] <= self.now_ms", "self.heap[0][0] < 0"))
    plan = ConformancePlan(driver=python(script), cases=20, seed=1, infer=True)
    result = conform(SUITE, plan)
    assert (result.verdict, result.profile) == (Verdict.FAIL, "kafka")
    assert result.inferred is not None
    assert result.inferred.profile is None
    assert len(result.inferred.stronger) == len(list(strongest_first()))
    assert "no profile was found that all cases pass by" in render(result)


def test_a_driver_is_judged_by_the_profile_that_was_found() -> None:
    plan = ConformancePlan(driver=python(HEAPQ), cases=20, seed=1, infer=True)
    result = conform(SUITE, plan)
    assert (result.verdict, result.profile) == (Verdict.PASS, "kafka")
    said = render(result)
    assert "the strongest profile by which all cases pass is kafka" in said
    assert "  hashed-wheel  Timer.NeverBeforeItIsDue: " in said


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_reference_keeps_the_strongest_profile_but_that_of_the_timer(component: str) -> None:
    suite = suites()[component]
    result = conform(suite, ConformancePlan(driver=REFERENCE, cases=20, seed=1, infer=True))
    strongest = "kafka" if component == "timer" else suite.definition.by_strength()[0]
    assert (result.verdict, result.profile) == (Verdict.PASS, strongest)


@pytest.mark.parametrize(
    "profile", ["exact,", "exact,late_ticks=9", "exact,late_ticks=01", "exact,order=none", "exakt"]
)
def test_a_profile_with_a_wrong_parameter_is_refused(
    profile: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnknownContractError):
        contract_of(profile)
    assert main(["conform", "--driver", REFERENCE, "--profile", profile]) == ExitCode.USAGE
    assert repr(profile) in capsys.readouterr().err


def test_a_profile_is_not_both_given_and_found(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--infer", "--profile", "kafka")
    assert main(["conform", "--driver", REFERENCE, *options]) == ExitCode.USAGE
    assert "--infer finds the profile; leave out --profile" in capsys.readouterr().err


def test_the_named_cases_come_in_the_ticks_of_the_timer() -> None:
    bounds = {"tick_ms": Bound(least=1024, most=1024), "wheel_size": Bound(power_of_two=True)}
    tally = Tally(bounds=bounds)
    for plain, scaled in zip(TIMER.scenarios(), TIMER.scenarios_within(bounds), strict=True):
        reset, scaled_reset = plain.calls[0], scaled.calls[0]
        assert isinstance(reset, Reset)
        assert isinstance(scaled_reset, Reset)
        fits = reset.config.tick_ms == 1
        assert (lacking(SUITE, scaled, tally) == ()) is fits
        if fits:
            assert scaled_reset.config.start_ms == reset.config.start_ms * 1024
            delays = [call.delay_ms for call in plain.calls if isinstance(call, Add)]
            times = [call.delay_ms for call in scaled.calls if isinstance(call, Add)]
            assert times == [1024 * delay for delay in delays]


def test_what_a_driver_says_beside_a_refusal_is_shown(tmp_path: Path) -> None:
    text = HEAPQ.read_text(encoding="utf-8")
    script = tmp_path / "driver.py"
    refuses = "if delay_ms > 300: print('the wheel is full', file=sys.stderr); raise ValueError(1)"
    script.write_text(
        text.replace("        self.adds += 1\n", f"        {refuses}\n        self.adds += 1\n")
    )
    result = conform(SUITE, ConformancePlan(driver=python(script), cases=20, seed=1))
    refused = [one for one in result.failures if one.violation.rule == "Timer.AcceptsItsDomain"]
    assert refused
    assert all(one.last_lines[-1] == "the wheel is full" for one in refused)
    assert "it refused; the last lines of its standard error:" in render(result)
