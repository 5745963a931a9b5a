"""Schedule strings, shrinking, and what a failing run looks like."""

from functools import partial

import pytest

from support.explore.exploring import make
from wheelproof import sync
from wheelproof_explore import explore as python_explore
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.problems import ScheduleRejectedError
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program, Scenario, choose
from wheelproof_explore.runs.schedule import decode, encode
from wheelproof_explore.runtime.numbers import Actor
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.all_programs import failing_programs
from wheelproof_lab.worlds.classics import lost_update, philosophers

_ACTORS = tuple(map(Actor, (0, 0, 0, 1, 2 | 3 << 16, 65535, 1, 1)))


def _replay(schedule: str) -> Options:
    return Options(engine=Engine.REPLAY, schedule=schedule)


@pytest.mark.slow
@pytest.mark.parametrize("program", failing_programs(), ids=lambda program: program.name)
def test_every_failure_can_be_repeated_from_its_schedule(program: Program) -> None:
    found = explore(program)
    assert found.verdict() is Verdict.FAIL
    assert found.counterexample is not None
    again = explore(program, _replay(found.counterexample.schedule))
    assert again.verdict() is Verdict.FAIL
    assert again.counterexample == found.counterexample


def test_a_schedule_is_read_as_it_was_written() -> None:
    program = make(lost_update)
    assert decode(program, encode(program, _ACTORS)) == (program, _ACTORS)
    assert decode(program, encode(program, ())) == (program, ())
    assert "0x3.1.2:3.t.1x2" in encode(program, _ACTORS)


@pytest.mark.parametrize(
    ("whole", "spoilt", "problem"),
    [
        (".1x2-", ".1x2", "no schedule string"),
        ("wp1-", "", "no schedule string"),
        ("0x3", "0x4", "check sum"),
        ("wp1", "wp9", "version wp9"),
    ],
)
def test_a_spoilt_schedule_is_refused(whole: str, spoilt: str, problem: str) -> None:
    program = make(lost_update)
    schedule = encode(program, _ACTORS)
    assert whole in schedule
    with pytest.raises(ScheduleRejectedError, match=problem):
        decode(program, schedule.replace(whole, spoilt))


def test_a_schedule_outlives_the_move_of_a_class_to_another_module() -> None:
    class Moved:
        pass

    def build(kind: type[object]) -> Scenario:
        del kind
        return lost_update()

    before = make(partial(build, Moved)).digest()
    Moved.__module__ = "elsewhere.entirely"
    assert make(partial(build, Moved)).digest() == before
    Moved.__qualname__ = "Renamed"
    assert make(partial(build, Moved)).digest() != before


def test_the_schedule_of_another_program_is_refused() -> None:
    schedule = encode(make(lost_update), [Actor(0), Actor(1)])
    with pytest.raises(ScheduleRejectedError, match="another program"):
        decode(make(partial(philosophers, 2, ordered=False)), schedule)


def test_a_schedule_that_no_longer_fits_is_refused() -> None:
    program = make(lost_update)
    with pytest.raises(ScheduleRejectedError, match="step 3 is not possible"):
        explore(program, _replay(encode(program, [Actor(0)] * 3)))


def test_a_run_that_does_not_fail_is_inconclusive() -> None:
    program = make(lost_update)
    found = explore(program, _replay(encode(program, [Actor(0)] * 2)))
    assert found.verdict() is Verdict.INCONCLUSIVE
    assert found.runs == 1


def test_a_failure_is_shrunk_to_the_fewest_switches() -> None:
    def build() -> Scenario:
        cells = [sync.volatile(0, f"x{number}") for number in range(3)]

        def work() -> None:
            for cell in cells:
                cell.set(cell.get() + 1)

        def check() -> None:
            assert cells[1].get() == 2, "lost"

        return Scenario(threads={"a": work, "b": work}, check=check)

    found = explore(make(build)).counterexample
    assert found is not None
    assert len(found.deviations) == 1
    assert found.failure.message.startswith("AssertionError: lost")
    assert "default schedule, except: at step" in found.line()


def test_the_table_has_a_column_for_each_thread_and_shows_values() -> None:
    found = explore(make(lost_update)).counterexample
    assert found is not None
    lines = found.table().splitlines()
    assert lines[0].split() == ["step", "t0", "t1"]
    assert "counter.get() = 0" in lines[2]
    assert len(lines) == 2 + 4


def test_the_step_that_raises_is_in_the_table() -> None:
    def build() -> Scenario:
        lock = sync.lock("lock")
        return Scenario(threads={"a": lock.release})

    found = explore(make(build)).counterexample
    assert found is not None
    assert [step.text for step in found.steps] == ["release lock raises RuntimeError"]


def test_a_choice_is_part_of_the_schedule() -> None:
    def build() -> Scenario:
        def draw() -> None:
            assert choose(5) != 3

        return Scenario(threads={"a": draw})

    program = make(build)
    found = explore(program).counterexample
    assert found is not None
    assert decode(program, found.schedule) == (program, (3 << 16,))


@pytest.mark.parametrize("seed", range(5))
def test_sampling_finds_a_shallow_bug_and_never_passes(seed: int) -> None:
    options = Options(engine=Engine.SAMPLE, seed=seed, max_runs=200)
    assert explore(make(lost_update), options).verdict() is Verdict.FAIL
    sound = make(partial(philosophers, 3, ordered=True))
    assert explore(sound, options).verdict() is Verdict.INCONCLUSIVE


def test_sampling_draws_the_same_for_the_same_seed() -> None:
    program = make(partial(philosophers, 3, ordered=False))
    options = Options(engine=Engine.SAMPLE, seed=7, max_runs=50, keep_going=True)
    first, second = explore(program, options), explore(program, options)
    assert first.digest == second.digest
    assert first.failing_runs == second.failing_runs


def _fails_in_a_statement_of_three_lines() -> None:
    message = "the message stands in a line of its own, since it is too long for the first one"
    assert message == "", (
        f"that is so: {message}"
    )  # fmt: skip


def test_the_first_line_of_a_long_statement_is_shown_with_its_bracket_closed() -> None:
    found = python_explore(_fails_in_a_statement_of_three_lines)
    assert 'assert message == "", (...))' in found.summary()
