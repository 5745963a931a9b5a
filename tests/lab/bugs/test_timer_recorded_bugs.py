"""The chosen runs of the timer's known bugs, recorded: the variant fails, the reference passes."""

import io

import pytest

from support.reference.timer_bug_runs import CASES, Case
from wheelproof.timer import SystemTimer
from wheelproof_lab.bugs.known_bug import Sight, find_bug
from wheelproof_lab.bugs.timer import (
    BUGS,
)
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.app.recorder import (
    recording,
)
from wheelproof_spec.base.results.run_verdict import RunVerdict
from wheelproof_spec.base.results.verdicts import Verdict
from wheelproof_spec.history.reader import lines_of

_RECORDED = {bug.id for bug in BUGS if Sight.RECORDED in bug.seen}
# The recorder writes a run as its task is claimed: a submission that is refused counts as one.
_CASES = [case for case in CASES if case.bug_id != "refused-task-lost"]


def _verdict(case: Case, timer_class: type[SystemTimer]) -> RunVerdict:
    stream = io.BytesIO()
    with recording(stream, real_clock=False):
        case.scenario(timer_class)
    stream.seek(0)
    result = judge_lines("recorded", lines_of(stream))
    assert result.rejections == []
    (verdict,) = result.verdicts
    return verdict


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case.scenario.__name__)
def test_the_reference_passes(case: Case) -> None:
    assert _verdict(case, SystemTimer).verdict is Verdict.PASS


@pytest.mark.parametrize("bug", sorted(_RECORDED))
def test_a_known_bug_is_seen(bug: str) -> None:
    timer_class = find_bug(BUGS, bug).timer_class
    verdicts = [_verdict(case, timer_class) for case in CASES if case.bug_id == bug]
    assert Verdict.FAIL in [one.verdict for one in verdicts]
