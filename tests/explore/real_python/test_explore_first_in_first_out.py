"""Tasks that have their turns in the order of asyncio's own loop, and no other."""

import asyncio

import pytest

from wheelproof_explore.__main__ import main as command
from wheelproof_explore.library import InterleavingError, check, explore
from wheelproof_explore.program import Settings
from wheelproof_explore.verdicts import ExitCode

pytestmark = pytest.mark.slow

_IN_LINE = Settings(first_in_first_out=True)


async def in_order() -> None:
    """Pass as long as tasks begin in the order in which they are made."""
    shown = list[int]()

    async def add(number: int) -> None:
        shown.append(number)
        await asyncio.sleep(0)
        shown.append(-number)

    await asyncio.gather(add(1), add(2), add(3))
    assert shown == [1, 2, 3, -1, -2, -3]


async def lost_update() -> None:
    """Fail in any order."""
    total = [0]

    async def add() -> None:
        before = total[0]
        await asyncio.sleep(0)
        total[0] = before + 1

    await asyncio.gather(add(), add())
    assert total == [2]


async def timers_in_any_order() -> None:
    """Fail if the thread is the first: neither it nor a timer stands in line."""
    shown = list[str]()

    async def add(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        shown.append(name)

    def beside() -> None:
        shown.append("thread")

    await asyncio.gather(add("task", 0.1), asyncio.to_thread(beside))
    assert shown[0] == "task"


def test_only_the_order_of_asyncio_is_explored() -> None:
    with pytest.raises(InterleavingError, match=r"\[1, 2, 3, -1, -2, -3\]"):
        check(in_order)
    passed = check(in_order, settings=_IN_LINE)
    assert passed.classes == 1
    assert "not looked at: orders of turns that asyncio's own loop does not take" in (
        passed.summary()
    )


def test_what_fails_there_is_found() -> None:
    with pytest.raises(InterleavingError, match="assert total == "):
        check(lost_update, settings=_IN_LINE)


def test_threads_and_timers_come_at_any_time() -> None:
    with pytest.raises(InterleavingError, match="assert shown"):
        check(timers_in_any_order, settings=_IN_LINE)


def test_a_schedule_belongs_to_one_of_the_two() -> None:
    found = explore(lost_update, settings=_IN_LINE).counterexample
    assert found is not None
    assert explore(lost_update, settings=_IN_LINE, replay=found.schedule).counterexample
    with pytest.raises(Exception, match="belongs to another program"):
        explore(lost_update, replay=found.schedule)


def test_the_verb_has_it_and_repeats_it(capsys: pytest.CaptureFixture[str]) -> None:
    here = in_order.__module__
    assert command([f"{here}:in_order", "--first-in-first-out"]) == ExitCode.PASS
    capsys.readouterr()
    assert command([f"{here}:lost_update", "--first-in-first-out"]) == ExitCode.FAIL
    printed = capsys.readouterr().out.splitlines()
    (repeat,) = (line for line in printed if line.startswith("  repeat: "))
    assert "--first-in-first-out" in repeat
    assert command(repeat.split()[3:]) == ExitCode.FAIL
