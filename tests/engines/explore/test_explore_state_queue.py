"""The lost wake-up of TLC's own state queue, which hung this project's tests."""

from wheelproof_spec.base.verdicts import Verdict
from wheelproof_spec.engines.explore.explorer import explore
from wheelproof_spec.engines.explore.failures.failure import FailureKind
from wheelproof_spec.engines.explore.programs.state_queue import (
    MENDED_STATE_QUEUE,
    STATE_QUEUE_OF_TLC,
)


def test_the_queue_of_tlc_loses_a_wake_up() -> None:
    found = explore(STATE_QUEUE_OF_TLC)
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.LOST_WAKEUP
    assert len(found.counterexample.deviations) == 1


def test_with_a_note_it_does_not() -> None:
    found = explore(MENDED_STATE_QUEUE)
    assert found.verdict() is Verdict.PASS
    assert found.classes == 7
