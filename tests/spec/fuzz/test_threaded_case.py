"""Making a threaded case smaller, without threads: the failure is a function of the case."""

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from wheelproof_spec.base.calls import Close
from wheelproof_spec.base.component import Call
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.accumulator.calls import AppendFault
from wheelproof_spec.components.timer.component import TimerConfig
from wheelproof_spec.fuzz.threaded_case import ATTEMPTS, ThreadedCase, shrink

VIOLATION = Violation(rule="Test.Rule", expected="this", observed="that", reason="planted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Call):
    task: str
    fault: AppendFault | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel(Call):
    task: str


def _add(task: str) -> Add:
    return Add(task=task)


Step = Add | Cancel | Close
Case = ThreadedCase[TimerConfig, Step]

CANCEL = Cancel(task="a")
CASE: Case = ThreadedCase(
    setup=TimerConfig(tick_ms=3),
    preemption_seed=100,
    preempt_one_in=4,
    bursts=(
        ((_add("a"), Cancel(task="b")), (_add("b"),)),
        ((Add(task="c", fault=AppendFault.ALLOCATOR),),),
        ((CANCEL, _add("d"), CANCEL), (Close(),), (_add("a"),)),
    ),
)


def _fails_if(
    condition: Callable[[Case], bool],
) -> Callable[[Case], Violation | None]:
    return lambda case: VIOLATION if condition(case) else None


def _for_ever() -> bool:
    return True


def _calls(case: Case) -> list[Step]:
    return [call for burst in case.bursts for program in burst for call in program]


def test_shrink_leaves_only_what_is_needed() -> None:
    needed = [_add("a"), _add("d")]
    smallest, violation = shrink(
        CASE, _fails_if(lambda case: all(call in _calls(case) for call in needed)), _for_ever
    )
    assert violation == VIOLATION
    assert sorted(_calls(smallest), key=str) == needed


def test_shrink_keeps_threads_apart_that_have_to_run_at_the_same_time() -> None:
    smallest, _ = shrink(
        CASE,
        _fails_if(
            lambda case: any(
                any(CANCEL in program for program in burst)
                and any(_add("a") in program for program in burst)
                for burst in case.bursts
            )
        ),
        _for_ever,
    )
    assert smallest.bursts == (((CANCEL,), (_add("a"),)),)


def test_shrink_tries_other_preemptions() -> None:
    """A race that shows in one of many runs is still made smaller."""
    rare = CASE.preemption_seed + ATTEMPTS - 1
    smallest, violation = shrink(
        CASE,
        _fails_if(lambda case: Close() in _calls(case) and case.preemption_seed % rare == 0),
        _for_ever,
    )
    assert violation == VIOLATION
    assert _calls(smallest) == [Close()]
    assert smallest.preemption_seed == rare


def test_shrink_of_a_case_that_does_not_fail_again_returns_it_as_it_was() -> None:
    assert shrink(CASE, lambda _: None, _for_ever) == (CASE, None)


@pytest.mark.parametrize("runs", range(0, 12, 3))
def test_shrink_that_is_told_to_end_returns_the_smallest_case_so_far(runs: int) -> None:
    left, ran = iter(range(runs)), list[Case]()

    def run(case: Case) -> Violation | None:
        ran.append(case)
        return VIOLATION if _add("d") in _calls(case) else None

    smallest, violation = shrink(CASE, run, lambda: next(left, None) is not None)
    assert len(ran) == runs
    failing = [case for case in ran if _add("d") in _calls(case)]
    assert (smallest, violation) == ((failing[-1], VIOLATION) if failing else (CASE, None))


def test_a_case_is_written_as_json_lines() -> None:
    setup, *bursts = map(json.loads, CASE.lines())
    config = {"tick_ms": 3, "wheel_size": 20, "start_ms": 0}
    assert setup == {"op": "reset", **config, "preemption": [100, 4]}
    assert bursts[1] == {"burst": [["add(task='c', fault='allocator')"]]}
    assert bursts[2]["burst"][1:] == [["close()"], ["add(task='a')"]]
    assert len(bursts) == len(CASE.bursts)
