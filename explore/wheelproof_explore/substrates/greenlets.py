"""The fast substrate: greenlets, all on the thread that explores."""

import ctypes
import importlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

_IN_REPR = "Py_Repr"
"""Where CPython keeps, for each thread of the system, what a `repr` under way is inside of."""


class _Greenlet(Protocol):
    def switch(self) -> object: ...


class GreenletSubstrate:
    """Fibers that are greenlets; used only on the thread that made the substrate."""

    def __init__(self) -> None:
        # The package has no type hints.
        module = importlib.import_module("greenlet")
        current: Callable[[], _Greenlet] = module.getcurrent
        scheduler = current()
        new: Callable[[Callable[[], None], _Greenlet], _Greenlet] = module.greenlet
        # Who ends goes on at the scheduler, whoever has made it.
        self._new = partial(_made, new, scheduler)
        self._to_scheduler = scheduler.switch
        self._state = _state_of_thread()
        self._idle: list[_GreenletFiber] = []

    def fiber(self, body: Callable[[], None]) -> "_GreenletFiber":
        """Return a fiber that runs `body` when first resumed."""
        if self._idle:
            fiber = self._idle.pop()
            fiber.body = body
            return fiber
        return _GreenletFiber(body, self._new, self._to_scheduler, self._state, self._idle)

    def close(self) -> None:
        """End the fibers of the pool: the collector cannot free what a suspended one holds."""
        while self._idle:
            fiber = self._idle.pop()
            fiber.body = None
            fiber.resume()


class _GreenletFiber:
    __slots__ = ("_idle", "_own", "_state", "_to_scheduler", "body")

    def __init__(
        self,
        body: Callable[[], None],
        new: Callable[[Callable[[], None]], Callable[[], object]],
        to_scheduler: Callable[[], object],
        state: dict[str, list[object]],
        idle: "list[_GreenletFiber]",
    ) -> None:
        self.body: Callable[[], None] | None = body
        self._state = state
        self._idle = idle
        self._to_scheduler = to_scheduler
        self._own = new(self._run)

    @property
    def resume(self) -> Callable[[], object]:
        """Switch to the fiber."""
        return self._own

    def suspend(self) -> object:
        """Switch to the scheduler; `repr` of the same list in another fiber shows it whole."""
        inside = self._state.get(_IN_REPR)
        if not inside:
            return self._to_scheduler()
        kept = inside.copy()
        inside.clear()
        try:
            return self._to_scheduler()
        finally:
            inside[:] = kept

    def _run(self) -> None:
        while self.body is not None:
            self.body()
            self._idle.append(self)
            self._to_scheduler()


def _made(
    new: Callable[[Callable[[], None], _Greenlet], _Greenlet],
    scheduler: _Greenlet,
    run: Callable[[], None],
) -> Callable[[], object]:
    return new(run, scheduler).switch


def _state_of_thread() -> dict[str, list[object]]:
    """Return what CPython's C code keeps for the thread that calls."""
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThreadState_GetDict", ctypes.pythonapi))
    # The reference is borrowed, which `py_object` as the type of a result is not.
    state: dict[str, list[object]] = ctypes.cast(get(), ctypes.py_object).value
    return state
