"""The tool with which the races are put into an order: it stops where it is told, or says so."""

import pytest

from support.reference.interleaving import Interleaving, Step
from wheelproof.sync import atomic_integer, current_runtime, monitor, volatile


def test_a_thread_stops_before_the_step_and_not_after_it() -> None:
    with Interleaving() as interleaving:
        cell = volatile(0, "cell")
        thread = interleaving.run(lambda: cell.set(1))
        assert thread.until(Step("cell", "set"))
        assert cell.get() == 0
        thread.finish()
        assert cell.get() == 1


def test_a_thread_that_never_comes_to_the_step_ends() -> None:
    with Interleaving() as interleaving:
        cell = volatile(0, "cell")
        thread = interleaving.run(lambda: cell.set(1))
        assert not thread.until(Step("cell", "get"))
        assert not thread.until(Step("cell", "get"))
        thread.finish()
        assert cell.get() == 1


def test_steps_are_told_apart_by_object_and_by_operation() -> None:
    seen: list[int] = []
    with Interleaving() as interleaving:
        number = atomic_integer(0, "number")
        other = atomic_integer(5, "other")

        def count() -> None:
            other.add_and_get(1)
            number.get()
            number.add_and_get(1)
            seen.append(number.get())

        thread = interleaving.run(count)
        assert thread.until(Step("number", "add_and_get"))
        assert (other.get(), number.get()) == (6, 0)
        number.set(41)
        thread.finish()
    assert seen == [42]


def test_an_error_of_the_thread_reaches_the_test() -> None:
    def fail() -> None:
        raise ArithmeticError("on purpose")

    with Interleaving() as interleaving, pytest.raises(ArithmeticError, match="on purpose"):
        interleaving.run(fail).finish()


def test_a_stopped_thread_is_let_go_when_the_test_fails() -> None:
    before = current_runtime()
    ended: list[str] = []

    def fail_with_a_thread_stopped() -> None:
        with Interleaving() as interleaving:
            guard = monitor("guard")

            def work() -> None:
                with guard:
                    ended.append("the thread")

            assert interleaving.run(work).until(Step("guard", "__enter__"))
            raise AssertionError("the test fails")

    with pytest.raises(AssertionError, match="the test fails"):
        fail_with_a_thread_stopped()
    assert ended == ["the thread"]
    assert current_runtime() is before
