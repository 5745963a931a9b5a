"""The fast substrate: greenlets, all on the thread that explores."""

import importlib
from collections.abc import Callable
from functools import partial
from typing import Protocol


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
        self._idle: list[_GreenletFiber] = []

    def fiber(self, body: Callable[[], None]) -> "_GreenletFiber":
        """Return a fiber that runs `body` when first resumed."""
        if self._idle:
            fiber = self._idle.pop()
            fiber.body = body
            return fiber
        return _GreenletFiber(body, self._new, self._to_scheduler, self._idle)

    def close(self) -> None:
        """End the fibers of the pool: the collector cannot free what a suspended one holds."""
        while self._idle:
            fiber = self._idle.pop()
            fiber.body = None
            fiber.resume()


class _GreenletFiber:
    __slots__ = ("_idle", "_own", "_to_scheduler", "body")

    def __init__(
        self,
        body: Callable[[], None],
        new: Callable[[Callable[[], None]], Callable[[], object]],
        to_scheduler: Callable[[], object],
        idle: "list[_GreenletFiber]",
    ) -> None:
        self.body: Callable[[], None] | None = body
        self._idle = idle
        self._to_scheduler = to_scheduler
        self._own = new(self._run)

    @property
    def resume(self) -> Callable[[], object]:
        """Switch to the fiber."""
        return self._own

    @property
    def suspend(self) -> Callable[[], object]:
        """Switch to the scheduler."""
        return self._to_scheduler

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
