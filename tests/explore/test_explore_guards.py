"""Declared guards are verified on every access, and data races are found and named."""

import importlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from support.explore.exploring import make
from support.explore.guarded_classes import (
    Account,
    Book,
    DerivedAccount,
    HandedOver,
    HastyBucket,
    HastyQueue,
    HastyTimer,
    Lost,
    Point,
    Shelf,
    SlottedAccount,
    Table,
)
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof_explore.explorer import explore
from wheelproof_explore.failures.failure import Failure, FailureKind
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.options import Options
from wheelproof_explore.program import Action, Body, PlainField, Program, Scenario
from wheelproof_explore.substrates.substrate import SubstrateKind
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.timer.entry_migration import IdleTask
from wheelproof_lab.worlds.timer.system_timer import timer_programs

_ACCOUNTS = (Account, SlottedAccount)
_X = (PlainField(owner=Point, name="x"),)


def _failure(build: Callable[[], Scenario], plain: tuple[PlainField, ...] = ()) -> Failure | None:
    program = Program(name="under-test", summary="", build=build, plain_fields=plain)
    found = explore(program)
    assert (found.counterexample is None) == (found.verdict() is not Verdict.FAIL)
    return None if found.counterexample is None else found.counterexample.failure


def _threads(**bodies: Action) -> Scenario:
    threads: dict[str, Body] = {name: [body] for name, body in bodies.items()}
    return Scenario(threads=threads)


@pytest.mark.parametrize("account_class", _ACCOUNTS)
def test_a_field_that_is_accessed_under_its_lock_is_in_order(
    account_class: type[Account] | type[SlottedAccount],
) -> None:
    def build() -> Scenario:
        account = account_class()

        def make_another() -> None:
            account_class().pay_in()

        # Set-up and checks run alone.
        assert account.look() == 0
        return Scenario(
            threads={"a": account.pay_in, "b": account.pay_in, "c": make_another},
            check=lambda: _expect(account.look(), 2),
        )

    assert _failure(build) is None


@pytest.mark.parametrize("substrate", list(SubstrateKind))
@pytest.mark.parametrize("account_class", _ACCOUNTS)
def test_an_access_without_the_lock_is_named(
    account_class: type[Account] | type[SlottedAccount], substrate: SubstrateKind
) -> None:
    def build() -> Scenario:
        account = account_class()
        return _threads(a=account.pay_in, b=account.pay_in_without_the_lock)

    found = explore(make(build), Options(substrate=substrate)).counterexample
    assert found is not None
    assert found.failure.kind is FailureKind.BROKEN_GUARD
    assert found.failure.thread == "b"
    assert f"{account_class.__name__}._balance is read by b (guarded_classes.py, line " in (
        found.failure.message
    )
    assert "in pay_in_without_the_lock) without _lock, which guards it" in found.failure.message


def test_the_other_threads_access_is_named_too() -> None:
    def build() -> Scenario:
        account = Account()
        go = sync.volatile(0, "go")

        def pay_in() -> None:
            account.pay_in()
            go.set(1)

        def look() -> None:
            if go.get():
                account.look()

        return _threads(a=pay_in, b=look)

    failure = _failure(build)
    assert failure is not None
    assert "Account._balance is read by b (" in failure.message
    assert "; a writes it (guarded_classes.py, line " in failure.message
    assert "in pay_in)" in failure.message


@pytest.mark.parametrize("account_class", _ACCOUNTS)
@pytest.mark.parametrize("verb", ["read", "written"])
def test_reading_and_deleting_without_the_lock_are_found(
    account_class: type[Account] | type[SlottedAccount], verb: str
) -> None:
    def build() -> Scenario:
        account = account_class()
        return _threads(a=(lambda: _drop(account.look())) if verb == "read" else account.close)

    failure = _failure(build)
    assert failure is not None
    assert f"_balance is {verb} by a" in failure.message


def test_a_constructor_needs_no_lock_and_neither_does_a_derived_one() -> None:
    def build() -> Scenario:
        def work() -> None:
            DerivedAccount(3).pay_in()

        return _threads(a=work, b=work)

    assert _failure(build) is None


@pytest.mark.parametrize("side", ["read", "write"])
@pytest.mark.parametrize("writes", [True, False])
def test_the_read_side_is_enough_for_reading(side: str, writes: bool) -> None:
    def build() -> Scenario:
        table = Table()

        def use() -> None:
            with table.lock.read if side == "read" else table.lock.write:
                if writes:
                    table.rows = 1
                else:
                    _drop(table.rows)

        return _threads(a=use, b=use)

    failure = _failure(build)
    assert (failure is None) == (side == "write" or not writes)


def test_a_guard_that_is_found_through_a_cell() -> None:
    def build(locked: bool) -> Scenario:
        book, shelf = Book(), Shelf(sync.monitor("shelf"))
        alone = Book()
        book.shelf.set(shelf)

        def lend() -> None:
            # It stands on no shelf, so there is nobody who could reach it.
            alone.lent = True
            if locked:
                with shelf.monitor:
                    book.lent = True
            else:
                book.lent = True

        return _threads(a=lend)

    assert _failure(partial(build, True)) is None
    failure = _failure(partial(build, False))
    assert failure is not None
    assert "Book.lent is written by a" in failure.message
    assert "without shelf.monitor, which guards it" in failure.message


def test_a_guard_that_is_not_there_is_rejected() -> None:
    def build() -> Scenario:
        lost = Lost()
        return _threads(a=lambda: _drop(lost.value))

    with pytest.raises(ProgramRejectedError, match=r"Lost.value .*_lock, but Lost has no _lock"):
        _failure(build)


_BAD_MODULE = """
from typing import Annotated
from wheelproof.sync import GuardedBy

class Bad:
    value = property()

    def set_value(self) -> None:
        self.value: Annotated[int, GuardedBy("_lock")] = 0
"""


def test_a_guarded_property_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bad_declaration.py").write_text(_BAD_MODULE, encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.import_module("bad_declaration")
    try:
        with pytest.raises(ProgramRejectedError, match=r"declares Bad.value as guarded, which is"):
            _failure(lambda: _threads(a=lambda: None))
    finally:
        del sys.modules["bad_declaration"]


def test_the_classes_are_as_they_were_afterwards() -> None:
    before = [dict(vars(kind)) for kind in (Account, SlottedAccount, IdleTask)]
    during: list[object] = []

    def build() -> Scenario:
        during.append(vars(Account).get("_balance"))
        return _threads(a=Account().pay_in)

    assert _failure(build) is None
    assert during[0] is not None
    assert [dict(vars(kind)) for kind in (Account, SlottedAccount, IdleTask)] == before


def _handed_over(publish: bool) -> Scenario:
    thing = HandedOver()
    done = sync.volatile(False, "done")

    def work() -> None:
        thing.value = 1
        if publish:
            done.set(True)

    def take_over() -> None:
        if not publish or done.get():
            thing.value += 1
        if not publish:
            done.set(True)

    return _threads(maker=work, other=take_over)


def test_a_guard_in_words_means_that_something_orders_the_accesses() -> None:
    assert _failure(partial(_handed_over, True)) is None
    failure = _failure(partial(_handed_over, False))
    assert failure is not None
    assert failure.kind is FailureKind.DATA_RACE
    assert "HandedOver.value is written by maker (test_explore_guards.py, line " in failure.message
    assert " by other (test_explore_guards.py, line " in failure.message
    assert failure.message.endswith("and nothing orders the two")


def _locked(point: Point) -> tuple[Action, Action]:
    def write() -> None:
        with point.lock:
            point.x = 1

    def read() -> None:
        with point.lock:
            _drop(point.x)

    return write, read


def _published(point: Point) -> tuple[Action, Action]:
    def write() -> None:
        point.x = 1
        point.ready.set(1)

    def read() -> None:
        if point.ready.get():
            _drop(point.x)

    return write, read


def _swapped(point: Point) -> tuple[Action, Action]:
    def write() -> None:
        point.x = 1
        point.ready.compare_and_set(0, 1)

    def read() -> None:
        if not point.ready.compare_and_set(0, 2):
            _drop(point.x)

    return write, read


def _joined(point: Point) -> tuple[Action, Action]:
    def write() -> None:
        point.x = 1

    child = sync.thread(write, "child")

    def start_and_read() -> None:
        point.x = 2
        child.start()
        child.join()
        _drop(point.x)

    return start_and_read, lambda: None


def _notified(point: Point) -> tuple[Action, Action]:
    changed = sync.condition(point.lock, "changed")

    def write() -> None:
        with point.lock:
            point.x = 1
            point.ready.set(1)
            changed.notify_all()

    def wait_and_read() -> None:
        with point.lock:
            while not point.ready.get():
                changed.wait()
        _drop(point.x)

    return write, wait_and_read


def _read_under_read_write_lock(point: Point) -> tuple[Action, Action]:
    lock = sync.read_write_lock("rw", prefer_writers=True)

    def write() -> None:
        with lock.write:
            point.x = 1

    def read() -> None:
        with lock.read:
            _drop(point.x)

    return write, read


_ORDERED = (_locked, _published, _swapped, _joined, _notified, _read_under_read_write_lock)


@pytest.mark.parametrize("threads", _ORDERED)
def test_what_orders_two_accesses(
    threads: Callable[[Point], tuple[Action, Action]],
) -> None:
    def build() -> Scenario:
        first, second = threads(Point())
        return _threads(a=first, b=second)

    assert _failure(build, _X) is None


def _wrong_order(point: Point) -> tuple[Action, Action]:
    def write() -> None:
        point.ready.set(1)
        point.x = 1

    def read() -> None:
        if point.ready.get():
            _drop(point.x)

    return write, read


def _reader_first(point: Point) -> tuple[Action, Action]:
    """That a cell was read before it was written orders nothing."""

    def read() -> None:
        _drop(point.x)
        point.ready.get()

    def write() -> None:
        point.ready.set(1)
        point.x = 1

    return read, write


def _two_writers_of_a_cell(point: Point) -> tuple[Action, Action]:
    """That a cell was written before it was written again orders nothing."""

    def first() -> None:
        point.x = 1
        point.ready.set(1)

    def second() -> None:
        point.ready.set(2)
        point.x = 2

    return first, second


def _two_readers_who_write(point: Point) -> tuple[Action, Action]:
    lock = sync.read_write_lock("rw", prefer_writers=True)

    def write() -> None:
        with lock.read:
            point.x = 1

    return write, write


def _one_of_them_unlocked(point: Point) -> tuple[Action, Action]:
    write, _ = _locked(point)
    return write, lambda: _drop(point.x)


def _not_joined(point: Point) -> tuple[Action, Action]:
    child = sync.thread(lambda: setattr(point, "x", 1), "child")

    def start_and_read() -> None:
        child.start()
        _drop(point.x)
        child.join()

    return start_and_read, lambda: None


_UNORDERED = (
    _wrong_order,
    _reader_first,
    _two_writers_of_a_cell,
    _two_readers_who_write,
    _one_of_them_unlocked,
    _not_joined,
)


@pytest.mark.parametrize("threads", _UNORDERED)
def test_what_does_not(threads: Callable[[Point], tuple[Action, Action]]) -> None:
    def build() -> Scenario:
        first, second = threads(Point())
        return _threads(a=first, b=second)

    failure = _failure(build, _X)
    assert failure is not None
    assert failure.kind is FailureKind.DATA_RACE
    assert failure.message.startswith("Point.x is ")
    assert failure.message.count("test_explore_guards.py, line ") == 2


def test_a_planted_look_without_the_lock_is_found_in_the_timers_queue() -> None:
    def build() -> Scenario:
        queue = HastyQueue(ManualClock(0))
        bucket = HastyBucket(sync.atomic_integer(0, "counter"))
        return _threads(a=partial(queue.offer, bucket), b=lambda: _drop(len(queue)))

    failure = _failure(build)
    assert failure is not None
    assert failure.kind is FailureKind.BROKEN_GUARD
    assert "DelayQueue._heap is read by b (guarded_classes.py" in failure.message


def test_a_planted_look_without_the_monitor_is_found_in_the_timers_bucket() -> None:
    def build() -> Scenario:
        bucket = HastyBucket(sync.atomic_integer(0, "counter"))
        return _threads(a=lambda: _drop(bucket.is_empty()))

    failure = _failure(build)
    assert failure is not None
    assert "TimerTaskList._root is read by a" in failure.message


def test_an_advance_among_the_adders_is_a_data_race_on_the_wheels_clock() -> None:
    add_against_advance, *_ = timer_programs(HastyTimer)[0]
    failure = _failure(add_against_advance.build)
    assert failure is not None
    assert failure.kind is FailureKind.DATA_RACE
    assert "TimingWheel._current_time_ms" in failure.message
    assert "timing_wheel.py" in failure.message


def _expect(value: object, expected: object) -> None:
    assert value == expected


def _drop(value: object) -> None:
    del value
