"""Making a threaded case smaller, without threads: the failure is a function of the case."""

import json
from collections.abc import Callable

from wheelproof_spec.base.violation import Violation
from wheelproof_spec.engines.fuzz.threaded_case import ATTEMPTS, ThreadedCase, shrink

VIOLATION = Violation(rule="Test.Rule", expected="this", observed="that", reason="planted")
CASE = ThreadedCase(
    setup=(("tick_ms", 1),),
    preemption_seed=100,
    preempt_one_in=4,
    bursts=(
        (("add a", "cancel b"), ("add b",)),
        (("add c",),),
        (("cancel a", "add d", "cancel a"), ("advance",), ("add a",)),
    ),
)


def _fails_if(
    condition: Callable[[ThreadedCase], bool],
) -> Callable[[ThreadedCase], Violation | None]:
    return lambda case: VIOLATION if condition(case) else None


def _calls(case: ThreadedCase) -> list[str]:
    return [call for burst in case.bursts for program in burst for call in program]


def test_shrink_leaves_only_what_is_needed() -> None:
    needed = ["add a", "add d"]
    smallest, violation = shrink(
        CASE, _fails_if(lambda case: all(call in _calls(case) for call in needed))
    )
    assert violation == VIOLATION
    assert sorted(_calls(smallest)) == needed


def test_shrink_keeps_threads_apart_that_have_to_run_at_the_same_time() -> None:
    smallest, _ = shrink(
        CASE,
        _fails_if(
            lambda case: any(
                any("cancel a" in program for program in burst)
                and any("add a" in program for program in burst)
                for burst in case.bursts
            )
        ),
    )
    assert smallest.bursts == ((("cancel a",), ("add a",)),)


def test_shrink_tries_other_preemptions() -> None:
    """A race that shows in one of many runs is still made smaller."""
    rare = CASE.preemption_seed + ATTEMPTS - 1
    smallest, violation = shrink(
        CASE,
        _fails_if(lambda case: "advance" in _calls(case) and case.preemption_seed % rare == 0),
    )
    assert violation == VIOLATION
    assert _calls(smallest) == ["advance"]
    assert smallest.preemption_seed == rare


def test_shrink_of_a_case_that_does_not_fail_again_returns_it_as_it_was() -> None:
    assert shrink(CASE, lambda _: None) == (CASE, None)


def test_a_case_is_written_as_json_lines() -> None:
    setup, *bursts = map(json.loads, CASE.lines())
    assert setup == {"op": "reset", "tick_ms": 1, "preemption": [100, 4]}
    assert bursts[1] == {"burst": [["add c"]]}
    assert len(bursts) == len(CASE.bursts)
