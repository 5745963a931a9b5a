"""A named case that fails is made small in few tries: each is a conversation with a driver."""

from collections.abc import Sequence

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.results.violation import Violation
from wheelproof_spec.components.timer.component import Add, TimerConfig
from wheelproof_spec.drive.named_cases import FailedCase, SmallestCase

_VIOLATION = Violation(rule="Timer.NothingDueIsLeftBehind", expected="", observed="", reason="")


class _Driver:
    """A timer that loses the task `lost`; it counts the calls that are sent to it."""

    def __init__(self) -> None:
        self.asked = 0

    def drive(self, calls: Sequence[Request]) -> FailedCase | None:
        added = False
        for place, call in enumerate(calls, start=1):
            self.asked += 1
            added |= isinstance(call, Add) and call.task == "lost"
            if added and isinstance(call, Advance):
                made = tuple(calls[:place])
                return FailedCase(made, made, _VIOLATION)
        return None


def test_a_long_case_of_which_two_calls_matter_is_halved() -> None:
    reset = Reset(config=TimerConfig(tick_ms=1, wheel_size=3))
    names = ["t0", "lost", *(f"t{number}" for number in range(2, 184))]
    adds = (Add(task=name, delay_ms=1) for name in names)
    calls: tuple[Request, ...] = (reset, *adds, Advance(to_ms=1))
    driver = _Driver()
    smallest = SmallestCase(FailedCase(calls, calls, _VIOLATION))
    smallest.search(driver.drive)
    assert smallest.case.calls == (reset, calls[2], calls[-1])
    assert driver.asked < 2 * len(calls), "as many calls as two runs of the case"


def test_the_last_call_alone_is_tried_too() -> None:
    reset = Reset(config=TimerConfig(tick_ms=1, wheel_size=3))
    failed = FailedCase((reset, Advance(to_ms=0), Advance(to_ms=1)), (), _VIOLATION)
    smallest = SmallestCase(failed)
    smallest.search(lambda calls: FailedCase(tuple(calls), tuple(calls), _VIOLATION))
    assert smallest.case.calls == (reset, Advance(to_ms=1))
