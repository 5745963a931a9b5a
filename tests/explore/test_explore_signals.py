"""A signal between two bytecodes of one thread, at a place that the model checker chooses."""

from collections.abc import Callable
from functools import partial

import pytest

from support.explore.signalled import Shop
from wheelproof_explore.explorer import explore
from wheelproof_explore.options import Engine, Options
from wheelproof_explore.program import Program, Scenario, Signal
from wheelproof_explore.verdicts import Verdict

_PACKAGE = "support.explore.signalled"


def _build(
    call: Callable[[Shop], None],
    places: int,
    seen: list[str],
    package: str,
) -> Scenario:
    shop = Shop()
    signal = Signal(package, places=places)

    def check() -> None:
        seen.append(signal.place)
        assert shop.count == 0, f"{shop.count} lent"

    threads = {"signalled": signal.during(partial(call, shop)), "other": shop.look}
    return Scenario(threads=threads, check=check)


def _program(
    call: Callable[[Shop], None],
    *,
    places: int = 30,
    seen: list[str] | None = None,
    package: str = _PACKAGE,
) -> Program:
    notes = [] if seen is None else seen
    build = partial(_build, call, places, notes, package)
    return Program(name="shop", summary="", build=build)


def test_a_signal_between_two_calls_is_found_and_repeats() -> None:
    program = _program(Shop.lend)
    found = explore(program)
    assert found.counterexample is not None
    assert "the signal came: " in found.details()
    again = Options(engine=Engine.REPLAY, schedule=found.counterexample.schedule)
    assert explore(program, again).counterexample is not None


def test_who_undoes_what_a_signal_cuts_off_passes_in_every_interleaving() -> None:
    seen: list[str] = []
    found = explore(_program(Shop.lend_or_undo, seen=seen))
    assert found.verdict() is Verdict.PASS, found.summary()
    # Behind the release of a lock, as a method begins, and behind a call of C code.
    for place in ("ModelLock.__exit__", "call in line", "c_return", ""):
        assert any(place in one for one in seen), place
    # The lock's enter and exit are single steps: no signal comes between them and the block.
    assert not any(one.startswith("call") and "__exit__" in one for one in seen)
    assert not any(one.startswith("return") and "__enter__" in one for one in seen)


def _wakes(wake: Callable[[Shop], None]) -> Scenario:
    shop = Shop()
    signal = Signal(_PACKAGE, places=30)
    signalled = [signal.during(partial(wake, shop)), shop.wake_if_not_lent]
    return Scenario(threads={"signalled": signalled, "other": shop.take})


def test_a_signal_before_a_notification_leaves_who_waits() -> None:
    found = explore(Program(name="wake", summary="", build=partial(_wakes, Shop.wake)))
    assert "lost wake-up" in found.summary()


def test_who_notifies_again_wakes_in_any_case() -> None:
    found = explore(Program(name="wake", summary="", build=partial(_wakes, Shop.wake_surely)))
    assert found.verdict() is Verdict.PASS, found.summary()


def test_a_signal_that_is_swallowed_fails() -> None:
    assert "was swallowed" in explore(_program(Shop.swallow)).summary()


def test_more_places_than_were_asked_for_fail() -> None:
    assert "6 places or more" in explore(_program(Shop.lend_or_undo, places=7)).summary()


def test_code_of_another_package_is_no_place() -> None:
    seen: list[str] = []
    found = explore(_program(Shop.lend, seen=seen, package="support.explore.nothing"))
    assert found.verdict() is Verdict.PASS, found.summary()
    assert {*seen} == {""}


def test_a_signal_needs_a_program() -> None:
    with pytest.raises(RuntimeError, match="explored"):
        Signal(_PACKAGE, places=2)
