"""The ambient runtime: chosen when an object is built, and restored whatever happens."""

from functools import partial

import pytest

from support.reference.threads import on_another_thread
from wheelproof import sync
from wheelproof.sync import (
    GuardedBy,
    Runtime,
    current_runtime,
    single_thread_executor,
    use_runtime,
)
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.units import Millis
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime


class _CountingRuntime(InstrumentedRuntime):
    """Counts the operations on the objects that it makes."""

    def __init__(self) -> None:
        self.operations = 0
        super().__init__(ThreadsRuntime(), self._count)

    def _count(self) -> None:
        self.operations += 1


def test_threads_are_the_default() -> None:
    assert isinstance(current_runtime(), ThreadsRuntime)


def test_the_runtime_before_is_restored_also_after_an_error() -> None:
    before = current_runtime()
    outer, inner = _CountingRuntime(), _CountingRuntime()
    with use_runtime(outer):
        assert current_runtime() is outer
        with pytest.raises(ArithmeticError), use_runtime(inner):
            raise ArithmeticError
        assert current_runtime() is outer
    assert current_runtime() is before


def test_the_choice_holds_for_all_threads() -> None:
    runtime = _CountingRuntime()
    with use_runtime(runtime):
        assert on_another_thread(current_runtime) is runtime


def test_an_object_keeps_the_runtime_that_was_ambient_when_it_was_built() -> None:
    runtime = _CountingRuntime()
    default_cell = sync.volatile(0, "default")
    with use_runtime(runtime):
        cell = sync.volatile(0, "instrumented")
        default_cell.set(1)
    assert runtime.operations == 0
    cell.set(1)
    assert runtime.operations == 1


def test_every_constructor_asks_the_ambient_runtime() -> None:
    runtime = _CountingRuntime()
    with use_runtime(runtime):
        guard = sync.lock("lock")
        changed = sync.condition(guard, "condition")
        monitor = sync.monitor("monitor")
        shared = sync.read_write_lock("shared")
        volatile = sync.volatile("", "volatile")
        reference = sync.atomic_reference("", "reference")
        integer = sync.atomic_integer(0, "integer")
    operations = 0
    for block in (guard, monitor, shared.read, shared.write):
        with block:
            operations += 1
        assert runtime.operations == operations
    with guard:
        changed.notify()
        changed.notify_all()
        changed.wait(Millis(0))
    volatile.get()
    reference.get_and_set("new")
    integer.add_and_get(1)
    assert runtime.operations == operations + 7


def test_an_executor_is_built_from_the_ambient_runtime() -> None:
    runtime = _CountingRuntime()
    with use_runtime(runtime):
        executor = single_thread_executor("executor")
    executor.shutdown()
    assert runtime.operations > 0


def test_a_runtime_is_a_protocol_that_anything_of_its_shape_follows() -> None:
    runtimes: list[Runtime] = [ThreadsRuntime(), _CountingRuntime()]
    for runtime in runtimes:
        assert runtime.monotonic_ms() >= 0
        ran: list[str] = []
        worker = runtime.thread(partial(ran.append, "worker"), "worker")
        worker.start()
        worker.join()
        assert ran == ["worker"]


def test_a_guard_is_declared_by_the_name_of_its_lock() -> None:
    assert GuardedBy("_lock") == GuardedBy(lock="_lock")
    assert GuardedBy("_lock") != GuardedBy("_other")
