"""Plain state that threads share is seen, without a word of ours in the code under test."""

import gc
import sys
from collections.abc import Callable

import pytest

from support.explore import plain_tasks
from support.explore.plain_code import Counter, evaluation_as_ever
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import FailureKind
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.tasks.plain import threading_program
from wheelproof_explore.verdicts import Verdict

pytestmark = pytest.mark.slow

_HERE = Counter.__module__
_CODE = sys.modules[_HERE]
_RIGHT = [name for name in vars(_CODE) if name.startswith("right_")]
_WRONG = {
    "check_then_act": "dict['key']",
    "equal_keys": "dict[1]",
    "iteration": "dict",
    "lock_free_counter": "Ticket.next",
    "lost_update": "Counter.count",
    "lost_update_by_a_function": "dict",
    "lost_update_by_a_pattern": "Counter.count",
    "lost_update_by_a_walrus": "count",
    "lost_update_by_with": "Counter.count",
    "lost_update_in_a_subclass": "Numbers",
    "lost_update_in_slots": "Slotted.count",
    "lost_update_of_a_global": f"{_HERE}.total",
    "lost_update_of_a_variable": "count",
    "lost_update_of_an_item": "dict['a']",
    "lost_update_of_what_a_pattern_binds": f"{_HERE}.total",
    "lost_update_through_a_view": "dict",
    "unsafe_publication": "Holder.instance",
}


def _program(name: str, *packages: str, steps: bool = False) -> Program:
    program = threading_program(name, getattr(_CODE, name), packages, steps=steps)
    assert program is not None
    return program


@pytest.mark.parametrize("name", _WRONG)
def test_a_data_race_is_found_with_both_stacks(name: str) -> None:
    found = explore(_program(name, _HERE)).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.DATA_RACE
    assert _WRONG[name] in found.failure.message
    assert found.failure.message.count("plain_code.py, line ") >= 2


def test_frozen_functions_are_seen() -> None:
    """A server freezes what it has imported before it forks."""
    gc.freeze()
    assert explore(_program("lost_update", _HERE)).counterexample is not None
    assert gc.get_freeze_count() > 0


@pytest.mark.parametrize("ages", [None, 0, 1, 2])
def test_functions_made_after_the_last_search_are_seen(ages: int | None) -> None:
    """One search in a process goes through all objects, the next ones through the young alone."""
    explore(_program("lost_update", _HERE))
    made: Callable[[], None] = _CODE.a_lost_update_made_later()
    if ages is not None:
        gc.collect(ages)
    program = threading_program("made later", made, (_HERE,), steps=False)
    assert program is not None
    assert explore(program).counterexample is not None


@pytest.mark.parametrize("name", _WRONG)
def test_the_orders_of_accesses_are_explored(name: str) -> None:
    program = _program(name, _HERE, steps=True)
    result = explore(program)
    found = result.counterexample
    assert found is not None, result.summary()
    assert found.failure.kind is FailureKind.EXCEPTION
    again = explore(program, Options(engine=Engine.REPLAY, schedule=found.schedule))
    assert again.counterexample is not None
    assert again.counterexample.failure == found.failure


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("name", _RIGHT)
def test_what_is_right_passes(name: str, *, steps: bool) -> None:
    result = explore(_program(name, _HERE, steps=steps))
    assert result.verdict() is Verdict.PASS, result.summary()


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize(
    ("main", "kind"),
    [
        (plain_tasks.right_turns, None),
        (plain_tasks.right_hand_over_to_a_thread, None),
        (plain_tasks.lost_update_between_turns, FailureKind.EXCEPTION),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_turns_of_one_loop_are_ordered_in_every_way_and_race_in_none(
    main: Callable[[], object], kind: FailureKind | None, *, steps: bool
) -> None:
    program = threading_program(main.__name__, main, [plain_tasks.__name__], steps=steps)
    assert program is not None
    found = explore(program).counterexample
    assert (None if found is None else found.failure.kind) is kind


def test_what_code_that_nobody_sees_does_behind_a_step_is_seen() -> None:
    """A random program found it: sorting puts the items back behind the last call of its key."""
    seen: set[tuple[int, int]] = set()
    program = threading_program(
        "sorted", _CODE.a_list_that_is_sorted(seen.add), [_HERE], steps=True
    )
    assert program is not None
    assert explore(program).verdict() is Verdict.PASS
    assert seen == {(0, 2), (0, 0), (1, 0), (1, 2), (2, 2)}


def test_a_list_is_shown_whole_while_another_thread_shows_it() -> None:
    """A random program found it: greenlets are one thread to the C code of `repr`."""
    result = explore(_program("lists_that_two_threads_show", _HERE, steps=True))
    assert result.verdict() is Verdict.PASS


def test_a_turn_and_a_thread_may_race() -> None:
    main = plain_tasks.race_of_a_turn_and_a_thread
    program = threading_program(main.__name__, main, [plain_tasks.__name__])
    assert program is not None
    found = explore(program).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.DATA_RACE


@pytest.mark.parametrize("steps", [False, True])
def test_nothing_shared_is_inconclusive(*, steps: bool) -> None:
    result = explore(_program("nothing_shared", _HERE, steps=steps))
    assert result.verdict() is Verdict.INCONCLUSIVE
    assert "no two threads were seen to share anything" in result.gap


def test_without_instrumentation_plain_state_shows_nothing() -> None:
    assert explore(_program("lost_update")).verdict() is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("steps", [False, True])
def test_rewritten_code_does_what_it_did(*, steps: bool) -> None:
    result = explore(_program("evaluation_as_ever", _HERE, steps=steps))
    assert result.counterexample is None, result.summary()


def test_functions_are_as_they_were_afterwards() -> None:
    before = Counter.increment.__code__
    explore(_program("lost_update", _HERE))
    assert Counter.increment.__code__ is before
    evaluation_as_ever()


@pytest.mark.parametrize("steps", [False, True])
def test_what_a_program_keeps_works_afterwards(*, steps: bool) -> None:
    kept: list[Callable[[], object]] = []

    def keeps() -> None:
        kept.append(vars(_CODE)["reader"](Counter()))

    program = threading_program("keeps", keeps, (_HERE,), steps=steps)
    assert program is not None
    explore(program)
    assert {read() for read in kept} == {0}
    assert explore(_program("right_with_a_lock", _HERE)).verdict() is Verdict.PASS
    assert {read() for read in kept} == {0}


@pytest.mark.parametrize("steps", [False, True])
def test_both_substrates_see_the_same(*, steps: bool) -> None:
    program = _program("right_with_a_lock", _HERE, steps=steps)
    digests = {explore(program, Options(substrate=substrate)).digest for substrate in SubstrateKind}
    assert len(digests) == 1


def test_a_package_that_is_not_there() -> None:
    with pytest.raises(ProgramRejectedError, match="instrumented in nowhere: ModuleNotFoundError"):
        explore(_program("lost_update", "nowhere"))
