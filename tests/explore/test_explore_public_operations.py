"""Public operations of explored programs are judged for linearizability in every run."""

from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof.timer import SystemTimer
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.options import Options
from wheelproof_explore.program import Program, PublicOperations, Scenario
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.bugs.known_bug import find_bug
from wheelproof_lab.bugs.timer import (
    BUGS,
)
from wheelproof_lab.worlds.all_programs import find_program
from wheelproof_lab.worlds.timer.linearizable import (
    LINEARIZABLE,
    advance_against_add_and_cancel,
    advance_against_cancel_and_size,
)
from wheelproof_spec.components.timer.model import HeapTimer
from wheelproof_spec.history.linearizability.models import Read, Registers, Write
from wheelproof_spec.history.linearizability.told import linearizable

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("program", LINEARIZABLE, ids=lambda program: program.name)
def test_linearizable_objects_get_a_certificate(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.PASS, found.details()
    assert found.classes > 10


@pytest.mark.parametrize("substrate", list(SubstrateKind))
def test_what_is_not_linearizable_fails_with_the_longest_prefix(substrate: SubstrateKind) -> None:
    found = explore(find_program("not-linearizable-get-then-set"), Options(substrate=substrate))
    assert found.counterexample is not None
    failure = found.counterexample.failure
    assert failure.kind is FailureKind.NOT_LINEARIZABLE
    # Two of the three exchanges are enough, and one change of threads and back.
    assert len(found.counterexample.steps) == 8
    assert "the first 3 events of x are linearizable" in failure.message
    assert "no order explains that then" in failure.message


def test_a_late_write_is_seen_in_the_order_of_calls_and_returns_alone() -> None:
    """Every final state is right: only that a call had returned before shows the fault."""

    def build() -> Scenario:
        cell = sync.volatile(0, "cell")
        late = sync.volatile(0, "late")
        history = PublicOperations(linearizable(Registers(0)))

        def write() -> None:
            history.call(Write(1), lambda: late.set(1))
            cell.set(late.get())

        return Scenario(
            threads={"a": write, "b": lambda: _drop(history.call(Read(), cell.get))},
            history=history,
        )

    found = explore(make(build)).counterexample
    assert found is not None
    assert "no order explains that then b: read(x) = 0" in found.failure.message


def test_the_timers_cancel_that_lies_is_not_linearizable() -> None:
    timer_class = find_bug(BUGS, "test-then-submit").timer_class
    found = explore(make(partial(advance_against_add_and_cancel, timer_class)))
    assert found.counterexample is not None
    assert found.counterexample.failure.kind is FailureKind.NOT_LINEARIZABLE


class _ExactSize(HeapTimer):
    __slots__ = ()

    def sizes(self) -> range:
        waiting = len(self.entries())
        return range(waiting, waiting + 1)


def test_the_size_lacks_an_entry_that_moves() -> None:
    """The model leaves no more open than the timer needs (standard 1.14)."""
    found = explore(make(partial(advance_against_cancel_and_size, SystemTimer, _ExactSize)))
    assert found.counterexample is not None
    assert "Size() = 0" in found.counterexample.failure.message


def _drop(value: object) -> None:
    del value
