"""Drivers that misbehave: one sentence each, the last words kept, nothing left behind."""

import os
import select
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from support.drive.commands import bad_driver
from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.components.timer.component import DEFINITION, Add, TimerConfig
from wheelproof_spec.drive.driver.port import DriverPort
from wheelproof_spec.drive.driver.process import DriverFailedError, DriverLimits
from wheelproof_spec.drive.driver.session import DriverSession

pytestmark = pytest.mark.slow

_WIRE = DrivenWire(DEFINITION)
PATIENT = DriverLimits()
IMPATIENT = DriverLimits(timeout_s=0.1)
STERN = DriverLimits(grace_s=0.1)
ENDS_S = 60
_NEEDS_PROC = pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc")


def failure_of(
    behaviour: str, *arguments: str, limits: DriverLimits = PATIENT
) -> DriverFailedError:
    """Return how the driver fails when it is asked for a timer with one task."""
    with DriverSession(bad_driver(behaviour, *arguments), limits) as session:
        return _failure(lambda: _ask_for_a_timer(session))


def _ask_for_a_timer(session: DriverSession) -> None:
    session.introduce()
    port = DriverPort(session, _WIRE.parse_answer)
    port.perform(Reset(config=TimerConfig()))
    port.perform(Add(task="a", delay_ms=1))
    session.say_goodbye()


def _failure(ask: Callable[[], object]) -> DriverFailedError:
    with pytest.raises(DriverFailedError) as caught:
        ask()
    return caught.value


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("garbage", "printed a line that is no answer, for it is not JSON"),
        ("no_utf8", "is not UTF-8"),
        ("out_of_order", "carries the id 3 where 2 is due: it is out of order"),
        ("two_answers", "carries the id 1 where 2 is due: it is out of order"),
        ("unknown_field", "has the unknown field 'comment'"),
        ("unknown_answer_field", "has the unknown field 'colour'"),
        ("wrong_type", "has 'fired' that is not a list"),
        ("null_fired", "has 'fired' that is not a list"),
        ("field_twice", "names a field twice"),
        ("half_introduction", "lacks the field 'version'"),
        ("refuses_hello", "refused to introduce itself: UnsupportedSchema: only version 9"),
        ("dies", "ended with exit code 3 before it answered (request 2, reset)"),
        ("is_killed", "was ended by signal 9 (Killed) before it answered"),
        ("truncated", "ended in the middle of a line (request 2, reset)"),
        ("exits_at_once", "ended before it answered (request 1, hello)"),
        ("long_line", "printed a line of more than 1,048,576 bytes"),
    ],
)
def test_each_misbehaviour_is_named_in_a_sentence(behaviour: str, problem: str) -> None:
    failure = failure_of(behaviour)
    assert failure.problem.startswith("the driver ")
    assert problem in failure.problem


def test_silence_is_a_failure() -> None:
    failure = failure_of("silent_with_words", limits=IMPATIENT)
    assert failure.problem == "the driver was silent for 0.1 s (request 2, reset)"
    assert failure.last_lines == ("waiting for a lock",)


def test_the_last_words_of_a_dead_driver_are_kept() -> None:
    assert failure_of("dies").last_lines == ("out of buckets",)


def test_a_flood_of_errors_blocks_nobody_and_only_its_end_is_kept() -> None:
    failure = failure_of("floods_errors")
    assert "ended with exit code 3" in failure.problem
    assert len(failure.last_lines) == 20
    assert failure.last_lines[-1].startswith(r"warning 199999 \x1b[31mxxx")


def test_a_line_without_end_is_not_kept_in_memory() -> None:
    tracemalloc.start()
    try:
        failure_of("long_line")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * 1024 * 1024


def test_a_driver_that_takes_too_much_memory_is_stopped() -> None:
    failure = failure_of("eats_memory", limits=DriverLimits(memory_mb=200))
    assert "MiB of memory where 200 MiB are allowed" in failure.problem


@pytest.mark.parametrize(
    ("behaviour", "problem", "limits"),
    [
        ("answers_after_bye", "printed more after it had answered its last request", PATIENT),
        ("stays_after_bye", "was silent for 0.1 s", IMPATIENT),
        ("fails_after_bye", "ended with exit code 7 after it had answered its last", PATIENT),
    ],
)
def test_a_driver_has_to_end_well_after_bye(
    behaviour: str, problem: str, limits: DriverLimits
) -> None:
    with DriverSession(bad_driver(behaviour), limits) as session:
        session.introduce()
        failure = _failure(session.say_goodbye)
    assert problem in failure.problem
    assert "bye" in failure.problem


def test_a_failed_driver_stays_failed() -> None:
    with DriverSession(bad_driver("dies"), PATIENT) as session:
        session.introduce()
        port = DriverPort(session, _WIRE.parse_answer)
        problems = [
            _failure(lambda: port.perform(Reset(config=TimerConfig()))).problem for _ in range(3)
        ]
        assert problems == [problems[0]] * 3
        assert session.failure is not None


def test_a_driver_that_is_gone_when_it_is_begun_again_has_failed(tmp_path: Path) -> None:
    script = tmp_path / "driver"
    script.write_text(f"#!/bin/sh\nexec {bad_driver('dies')}\n", encoding="utf-8")
    script.chmod(0o755)
    with DriverSession(str(script), PATIENT) as session:
        session.introduce()
        assert session.begin_again().implementation == "bad"
        script.unlink()
        assert "cannot be started" in _failure(session.begin_again).problem


def test_an_output_that_is_closed_too_early_is_named() -> None:
    failure = failure_of("closes_output", limits=STERN)
    assert "closed its standard output before it answered" in failure.problem


@pytest.mark.parametrize(
    "behaviour",
    [
        "leaves_a_child",
        pytest.param("leaves_a_child_of_another_session", marks=_NEEDS_PROC),
        pytest.param("leaves_a_grandchild_of_another_session", marks=_NEEDS_PROC),
        "ignores_termination",
    ],
)
def test_the_whole_group_is_gone_in_the_end(behaviour: str, tmp_path: Path) -> None:
    held = tmp_path / "held-by-the-child"
    os.mkfifo(held)
    limits = STERN if behaviour == "ignores_termination" else PATIENT
    with DriverSession(bad_driver(behaviour, str(held)), limits) as session:
        session.introduce()
        # Opens once the child has opened its end, which closes when the child is gone.
        with held.open("rb", buffering=0) as pipe:
            if behaviour != "ignores_termination":
                session.say_goodbye()
            session.end()
            assert select.select([pipe], [], [], ENDS_S)[0] == [pipe]
            assert pipe.read() == b""


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "is empty"),
        ("driver 'half", "has an open quotation"),
        ("./no-such-driver --fast", "cannot be started: No such file or directory"),
        (str(Path(__file__).parent), "cannot be started: Permission denied"),
        (str(Path(__file__)), "cannot be started: Permission denied"),
        ("dri\0ver", "cannot be started: embedded null byte"),
    ],
)
def test_a_driver_that_does_not_start_is_a_usage_error(command: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        DriverSession(command)


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    command = f"{bad_driver('exits_at_once')} ; touch {trap}"
    with DriverSession(command, PATIENT) as session:
        _failure(session.introduce)
    assert not trap.exists()
