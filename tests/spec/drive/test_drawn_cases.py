"""Cases that are sent ahead: they find what is wrong, shrink, and repeat themselves."""

import random
from dataclasses import replace

import pytest

from support.drive.commands import bad_driver
from wheelproof.timer import SystemTimer
from wheelproof_lab.bugs.known_bug import Finder
from wheelproof_lab.bugs.timer import BUGS, TimerBug
from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.contract import KAFKA, NEVER_EARLY, TimerContract
from wheelproof_spec.base.port import judge_call
from wheelproof_spec.base.results.fuzz_report import FuzzReport
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.base.suite import DrawnCase, FuzzPlan
from wheelproof_spec.components.timer.component import DEFINITION, Add, Size, TimerCall, TimerConfig
from wheelproof_spec.components.timer.machine import BoundedReferencePort
from wheelproof_spec.components.timer.model import TimerOracle
from wheelproof_spec.components.timer.work import TimerWork, driven_work
from wheelproof_spec.drive.drawn_cases import MOST_ATTEMPTS, run_drawn_cases, smaller_cases
from wheelproof_spec.drive.driver.messages import parse_request
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.fuzz.one_thread import InProcess

_WIRE = DrivenWire(DEFINITION)


def _fuzz(
    timer_class: type[SystemTimer] = SystemTimer,
    contract: TimerContract = KAFKA,
    cases: int = 300,
) -> FuzzReport:
    return run_drawn_cases(
        "timer",
        driven_work(TimerWork(), contract),
        InProcess(BoundedReferencePort(timer_class)),
        TimerOracle(contract.name, Tally()),
        FuzzPlan(cases=cases, seed=7, repeat="again --seed {seed}"),
    )


def test_drawn_cases_of_the_reference_follow_the_oracle() -> None:
    report = _fuzz(cases=40)
    assert report.failure is None
    assert (report.cases, report.steps) == (40, sum(report.calls.values()))
    assert set(report.calls) == {"reset", "add", "cancel", "advance", "size"}


def test_drawn_cases_shrink_to_the_smallest_of_their_kind() -> None:
    failure = _fuzz(contract=NEVER_EARLY).failure
    assert failure is not None
    assert failure.violation.rule == "Timer.NeverBeforeItIsDue"
    calls = [_WIRE.parse_call(*parse_request(line.encode())[1:]) for line in failure.steps]
    # A deadline inside a tick; whether it is the delay or the start that is odd is left to chance.
    assert [type(call) for call in calls] in ([Reset, Add], [Reset, Add, Advance])
    assert isinstance(calls[0], Reset)
    assert calls[0].config.start_ms <= 1
    assert replace(calls[0].config, start_ms=0) == TimerConfig(tick_ms=2, wheel_size=1)
    assert failure.repeat == "again --seed 7"


@pytest.mark.slow
@pytest.mark.parametrize(
    "bug", [bug for bug in BUGS if Finder.SEQUENTIAL in bug.finders], ids=lambda bug: bug.id
)
def test_drawn_cases_find(bug: TimerBug) -> None:
    failure = _fuzz(bug.timer_class, cases=1_000).failure
    assert failure is not None
    port, judge = BoundedReferencePort(bug.timer_class), TimerOracle(KAFKA.name, Tally())
    calls = [_WIRE.parse_call(*parse_request(line.encode())[1:]) for line in failure.steps]
    assert [judge_call(judge, port, call) for call in calls][-1] == failure.violation
    assert len(calls) <= 8


def test_every_smaller_case_has_calls_and_time_never_goes_back() -> None:
    space = driven_work(TimerWork(), KAFKA)
    case = space.draw(random.Random(3))
    smaller = list(smaller_cases(case))
    assert 50 < len(smaller) < MOST_ATTEMPTS
    for one in smaller:
        calls = list(space.calls(one))
        times = [call.to_ms for call in calls if isinstance(call, Advance)]
        assert times == sorted(times)
        assert isinstance(calls[0], Reset)
        assert isinstance(calls[-1], Size)


def test_a_smaller_case_is_nearer_to_nothing() -> None:
    case = DrawnCase(config=(5,), steps=(("add", (-3, 0)), ("size", ())))
    assert list(smaller_cases(case)) == [
        DrawnCase(config=(5,), steps=(("add", (-3, 0)),)),
        DrawnCase(config=(5,), steps=(("size", ()),)),
        *(
            DrawnCase(config=(5,), steps=(("add", (lower, 0)), ("size", ())))
            for lower in (0, -1, -2)
        ),
        *(DrawnCase(config=(lower,), steps=case.steps) for lower in (0, 1, 2, 3, 4)),
        *(
            DrawnCase(config=(5,), steps=(("add", (lower, 0)), ("size", ())))
            for lower in (0, -1, -2)
        ),
    ]


def test_a_driver_that_fails_ahead_is_blamed_for_the_request_that_it_did_not_answer() -> None:
    with DriverSession(bad_driver("dies")) as session:
        session.introduce()
        calls: list[TimerCall] = [Reset(config=TimerConfig()), Add(task="a", delay_ms=1), Size()]
        with pytest.raises(DriverFailedError, match=r"exit code 3 .*\(request 2, reset\)"):
            list(DriverPort(session, _WIRE.parse_answer).perform_all(calls))
