"""Ground truth for asyncio: every order of turns, on Python's own tasks, without the model checker.

A loop of a few lines tries each callback that is ready, run after run. As on the controlled loop,
the callbacks of one task keep their order, and so do those that belong to no task; a timer may fire
whenever it is the next one, with TimeMode.LAZY only when nothing else is ready.
"""

import asyncio
from asyncio import events
from collections.abc import Callable, Coroutine
from contextvars import Context
from typing import Any

STUCK = "stuck"
_Main = Callable[[], Coroutine[object, object, None]]


def _is_task(owner: object) -> bool:
    return isinstance(owner, asyncio.Task)


class _TurnLoop(asyncio.BaseEventLoop):
    """A loop that follows a trail of choices, and lengthens it by first choices."""

    def __init__(self, trail: list[tuple[int, int]], *, lazy: bool) -> None:
        super().__init__()
        self._trail, self._lazy = trail, lazy
        self._at = 0
        self._now = 0.0
        self._waiting: list[tuple[int, events.Handle]] = []
        self._timers: list[events.TimerHandle] = []

    def time(self) -> float:
        """Return the time of the latest timer that has fired."""
        return self._now

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Say nothing of tasks that an order has left unfinished: the outcome shows them."""

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> events.Handle:
        """Add a callback."""
        owner: object = getattr(callback, "__self__", None)
        number = id(owner) if _is_task(owner) else 0
        handle = events.Handle(callback, args, self, context)
        self._waiting.append((number, handle))
        return handle

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: object,
        context: Context | None = None,
    ) -> events.TimerHandle:
        """Add a timer."""
        timer = events.TimerHandle(when, callback, args, self, context)
        self._timers.append(timer)
        return timer

    def _timer_handle_cancelled(self, handle: events.TimerHandle) -> None:
        if handle in self._timers:
            self._timers.remove(handle)

    def _choose(self, choices: int) -> int:
        if choices == 1:
            return 0
        if self._at == len(self._trail):
            self._trail.append((choices, 0))
        self._at += 1
        return self._trail[self._at - 1][1]

    def turn(self) -> bool:
        """Run one callback; return False if there is none."""
        heads: dict[int, tuple[int, events.Handle]] = {}
        for waiting in self._waiting:
            heads.setdefault(waiting[0], waiting)
        ready = list(heads.values())
        may_fire = bool(self._timers) and not (self._lazy and ready)
        if not ready and not may_fire:
            return False
        chosen = self._choose(len(ready) + may_fire)
        if chosen < len(ready):
            self._waiting.remove(ready[chosen])
            _, handle = ready[chosen]
        else:
            first = min(timer.when() for timer in self._timers)
            due = [timer for timer in self._timers if timer.when() == first]
            handle = due[self._choose(len(due))]
            self._timers.remove(handle)
            self._now = max(self._now, first)
        if not handle.cancelled():
            handle._run()
        return True


def turn_outcomes(
    main: _Main, outcome: Callable[[], object], max_runs: int, *, lazy: bool
) -> frozenset[tuple[str, object]] | None:
    """Return what all orders of turns show; None if there are more than `max_runs`."""
    shown: set[tuple[str, object]] = set()
    trail: list[tuple[int, int]] = []
    for _ in range(max_runs):
        ended = _run(main, _TurnLoop(trail, lazy=lazy))
        shown.add(("" if ended else STUCK, outcome()))
        while trail and trail[-1][1] + 1 == trail[-1][0]:
            trail.pop()
        if not trail:
            return frozenset(shown)
        choices, chosen = trail[-1]
        trail[-1] = choices, chosen + 1
    return None


def _run(main: _Main, loop: _TurnLoop) -> bool:
    """Run a coroutine; return False if it is stuck."""
    events._set_running_loop(loop)
    try:
        task = loop.create_task(main())
        while not task.done():
            if not loop.turn():
                break
        for left in asyncio.all_tasks(loop):
            left.get_coro().close()
        return task.done()
    finally:
        events._set_running_loop(None)
        loop.close()
