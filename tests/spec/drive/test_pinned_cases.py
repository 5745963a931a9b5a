"""The drawn cases of a seed are byte for byte what they were before the capability `concurrent`.

A driver that does not declare it meets the cases that it has always met: who has noted a seed finds
the same case again. The pins were computed at the commit before the capability, and by these very
lines; each is the beginning of the SHA-256 of the requests. A pin may change only with the alphabet
of its component, `components/NAME/work.py`; then CHANGELOG.md says so.
"""

import hashlib
import random
from collections.abc import Iterator

import pytest

from wheelproof_spec.base.port import judge_outcome, outcome_of
from wheelproof_spec.base.results.tally import Tally
from wheelproof_spec.components.registry import COMPONENTS, machines, suites
from wheelproof_spec.drive.driver.messages import request_line

_SEEDS = range(1, 9)
PINS = {
    "timer": "c38d64b7e0f442c3",
    "purgatory": "4f4368bea3284bb4",
    "replication": "dfd001c94c73ca16",
    "buffer_pool": "60c042ba5ac03d52",
    "accumulator": "aff9b6d0fc6e44e4",
}


def _lines(component: str, seed: int) -> Iterator[str]:
    """Yield the requests of a case, answered by the reference: some depend on earlier answers."""
    machine, suite = machines()[component], suites()[component]
    port = machine.port(machine.sound)
    space, judge = suite.drawn(machine.profile, Tally())
    calls = (call for call in space.calls(space.draw(random.Random(seed))) if call is not None)
    for number, call in enumerate(calls, start=1):
        yield request_line(number, call)
        assert judge_outcome(judge, call, outcome_of(port, call)) is None


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_cases_of_a_seed_are_what_they_were(component: str) -> None:
    found = hashlib.sha256()
    for seed in _SEEDS:
        for line in _lines(component, seed):
            found.update(f"{line}\n".encode())
    assert found.hexdigest()[:16] == PINS[component]
