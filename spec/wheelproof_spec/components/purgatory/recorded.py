"""How the public calls of the reference's purgatory, and what its operations see, are recorded."""

from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from wheelproof.errors import DelayedOperationError
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import Timer
from wheelproof.units import Millis
from wheelproof_spec.base.codec.definitions import CountAnswer
from wheelproof_spec.base.codec.vocabulary import ABSENT, Nothing
from wheelproof_spec.components.purgatory.events import (
    CancelledAnswer,
    CheckedAnswer,
    CompletedAnswer,
    KeyAsked,
    OperationAsked,
    PurgatorySettings,
    WatchAsked,
)
from wheelproof_spec.components.timer.events import AdvanceAnswer, AdvanceAsked
from wheelproof_spec.components.timer.recorded import Replacements, TimerRecorder
from wheelproof_spec.engines.history.recording.recorded_run import (
    HistoryWriter,
    LineType,
    Run,
    nothing,
    refusal_of,
)

_P = ParamSpec("_P")
AnyPurgatory = DelayedOperationPurgatory[DelayedOperation]
_CALLBACKS = ("try_complete", "on_complete", "on_expiration")


class PurgatoryRecorder:
    """Records purgatories; the classes of their operations are changed when they are met."""

    def __init__(
        self, writer: HistoryWriter, timers: TimerRecorder, claims: PurgatorySettings
    ) -> None:
        """`claims` is what histories say of the purgatories, beside how they were made."""
        self._writer = writer
        self._timers = timers
        self._claims = claims
        self._purgatory_of: dict[int, Run] = {}
        self._changed: dict[tuple[type[object], str], object] = {}
        # What each thread is doing inside operations: the callback's name, and of whom.
        self._inside: dict[str, list[tuple[str, object]]] = {}

    def replacements(self) -> Replacements:
        """Return the methods that record, by the class and the name that they replace."""
        purgatory = DelayedOperationPurgatory
        init: Callable[..., None] = purgatory.__dict__["__init__"]
        return {
            (purgatory, "__init__"): self._made(init),
            (purgatory, "try_complete_else_watch"): self._watch(
                purgatory[DelayedOperation].try_complete_else_watch
            ),
            (purgatory, "check_and_complete"): self._check(
                purgatory[DelayedOperation].check_and_complete
            ),
            (purgatory, "cancel_for_key"): self._cancel(purgatory[DelayedOperation].cancel_for_key),
            (purgatory, "watched"): self._count(purgatory[DelayedOperation].watched, "watched"),
            (purgatory, "num_delayed"): self._count(
                purgatory[DelayedOperation].num_delayed, "num_delayed"
            ),
            (purgatory, "advance_clock"): self._advance(purgatory[DelayedOperation].advance_clock),
            (purgatory, "shutdown"): self._shutdown(purgatory[DelayedOperation].shutdown),
            (DelayedOperation, "force_complete"): self._force(DelayedOperation.force_complete),
            (DelayedOperation, "run"): self._run(DelayedOperation.run),
        }

    def restore(self) -> None:
        """Give the classes of operations their methods back."""
        for (cls, name), method in self._changed.items():
            setattr(cls, name, method)
        self._changed.clear()

    @contextmanager
    def satisfying(
        self, purgatory: object, operations: Iterable[DelayedOperation]
    ) -> Generator[None]:
        """Record that the predicates of operations are made true inside the block."""
        run = self._writer.run_of(purgatory)
        if run is None:
            yield
            return
        named = [
            (f"{self._writer.thread()}/satisfy-{name}", OperationAsked(op=name))
            for name in (self._writer.name(run, one, "operation") for one in operations)
        ]
        for process, asked in named:
            self._writer.write(run, "invoke", "satisfy", asked, process=process)
        yield
        for process, _ in named:
            self._writer.write(run, "ok", "satisfy", Nothing(), process=process)

    def _made(self, original: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(original)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> None:
            timer = kwargs.get("timer", args[2] if len(args) > 2 else None)
            assert isinstance(timer, Timer)
            tick_ms, clock = self._timers.settings_of(timer) or (1, None)
            interval = kwargs.get("purge_interval")
            settings = replace(
                self._claims,
                purge_interval=interval if isinstance(interval, int) and interval else ABSENT,
                tick_ms=tick_ms,
                start_ms=ABSENT if clock is None else clock.hi_res_clock_ms(),
            )
            run = self._writer.made(args[0], "purgatory", settings, virtual=clock is not None)
            if clock is not None:
                self._timers.follow(clock, run)
            original(*args, **kwargs)

        return made

    def _watch(
        self, original: Callable[[AnyPurgatory, DelayedOperation, Iterable[Hashable]], bool]
    ) -> Callable[[AnyPurgatory, DelayedOperation, Iterable[Hashable]], bool]:
        @wraps(original)
        def watch(
            purgatory: AnyPurgatory, operation: DelayedOperation, watch_keys: Iterable[Hashable]
        ) -> bool:
            run = self._writer.run_of(purgatory)
            keys = tuple(watch_keys)
            if run is None:
                return original(purgatory, operation, keys)
            self._purgatory_of[id(operation)] = run
            self._change(type(operation))
            asked = WatchAsked(
                op=self._writer.name(run, operation, "operation"),
                keys=tuple(map(str, keys)),
                delay_ms=operation.delay_ms,
            )

            def refusal(problem: Exception) -> tuple[LineType, str | None]:
                if operation.is_completed():
                    return "info", None
                return "fail", refusal_of(problem)[1] or type(problem).__name__

            return self._writer.call(
                run,
                "try_complete_else_watch",
                asked,
                _completed,
                lambda: original(purgatory, operation, keys),
                refusal,
            )

        return watch

    def _check(
        self, original: Callable[[AnyPurgatory, Hashable], int]
    ) -> Callable[[AnyPurgatory, Hashable], int]:
        @wraps(original)
        def check(purgatory: AnyPurgatory, key: Hashable) -> int:
            run = self._writer.run_of(purgatory)
            if run is None:
                return original(purgatory, key)
            raised: list[Exception] = []

            def call() -> int | None:
                try:
                    return original(purgatory, key)
                except Exception as problem:
                    # Whatever a predicate raised: the others have to have been tried.
                    if isinstance(problem, DelayedOperationError) or not refusal_of(problem)[1]:
                        raised.append(problem)
                        return None
                    raise

            count = self._writer.call(
                run, "check_and_complete", KeyAsked(key=str(key)), _checked, call
            )
            if raised:
                raise raised[0]
            assert count is not None
            return count

        return check

    def _cancel(
        self, original: Callable[[AnyPurgatory, Hashable], list[DelayedOperation]]
    ) -> Callable[[AnyPurgatory, Hashable], list[DelayedOperation]]:
        @wraps(original)
        def cancel(purgatory: AnyPurgatory, key: Hashable) -> list[DelayedOperation]:
            run = self._writer.run_of(purgatory)
            if run is None:
                return original(purgatory, key)

            def cancelled(operations: list[DelayedOperation]) -> CancelledAnswer:
                names = tuple(self._writer.name(run, one, "operation") for one in operations)
                return CancelledAnswer(count=len(names), ops=names)

            return self._writer.call(
                run,
                "cancel_for_key",
                KeyAsked(key=str(key)),
                cancelled,
                lambda: original(purgatory, key),
            )

        return cancel

    def _count(
        self, original: Callable[[AnyPurgatory], int], f: str
    ) -> Callable[[AnyPurgatory], int]:
        @wraps(original)
        def count(purgatory: AnyPurgatory) -> int:
            run = self._writer.run_of(purgatory)
            if run is None or self._writer.open_calls():
                # The purgatory's own look, when it decides whether to purge.
                return original(purgatory)
            return self._writer.call(run, f, Nothing(), _counted, lambda: original(purgatory))

        return count

    def _advance(
        self, original: Callable[[AnyPurgatory, Millis], bool]
    ) -> Callable[[AnyPurgatory, Millis], bool]:
        @wraps(original)
        def advance_clock(purgatory: AnyPurgatory, timeout_ms: Millis) -> bool:
            run = self._writer.run_of(purgatory)
            if run is None:
                return original(purgatory, timeout_ms)
            return self._writer.call(
                run,
                "advance",
                AdvanceAsked(timeout_ms=timeout_ms),
                _advanced,
                lambda: original(purgatory, timeout_ms),
            )

        return advance_clock

    def _shutdown(self, original: Callable[[AnyPurgatory], None]) -> Callable[[AnyPurgatory], None]:
        @wraps(original)
        def shutdown(purgatory: AnyPurgatory) -> None:
            run = self._writer.run_of(purgatory)
            if run is None:
                original(purgatory)
                return
            self._writer.call(run, "shutdown", Nothing(), nothing, lambda: original(purgatory))

        return shutdown

    def _force(
        self, original: Callable[[DelayedOperation], bool]
    ) -> Callable[[DelayedOperation], bool]:
        @wraps(original)
        def force_complete(operation: DelayedOperation) -> bool:
            run = self._purgatory_of.get(id(operation))
            inside = self._inside.get(self._writer.thread(), [])
            if run is None or (inside and inside[-1][1] is operation):
                # What a test of its predicate, or its time-out, leads to.
                return original(operation)
            asked = OperationAsked(op=self._writer.name(run, operation, "operation"))
            return self._writer.call(
                run, "force_complete", asked, _completed, lambda: original(operation)
            )

        return force_complete

    def _run(
        self, original: Callable[[DelayedOperation], None]
    ) -> Callable[[DelayedOperation], None]:
        @wraps(original)
        def expire(operation: DelayedOperation) -> None:
            with self._entered("run", operation):
                original(operation)

        return expire

    def _change(self, cls: type[DelayedOperation]) -> None:
        """Record what operations of a class see, as soon as there is one."""
        for name in _CALLBACKS:
            owner = next(one for one in cls.__mro__ if name in one.__dict__)
            if (owner, name) not in self._changed:
                original = owner.__dict__[name]
                self._changed[owner, name] = original
                setattr(owner, name, self._callback(original, name))

    def _callback(
        self, original: Callable[[DelayedOperation], object], f: str
    ) -> Callable[[DelayedOperation], object]:
        @wraps(original)
        def callback(operation: DelayedOperation) -> object:
            run = self._purgatory_of.get(id(operation))
            inside = self._inside.get(self._writer.thread(), [])
            if run is None or (f, operation) in inside:
                return original(operation)
            asked = OperationAsked(op=self._writer.name(run, operation, "operation"))
            process = self._writer.happens(run, f, asked)
            try:
                with self._entered(f, operation):
                    return original(operation)
            finally:
                self._writer.happens(run, f, Nothing(), "ok", process)

        return callback

    @contextmanager
    def _entered(self, f: str, operation: DelayedOperation) -> Generator[None]:
        inside = self._inside.setdefault(self._writer.thread(), [])
        inside.append((f, operation))
        try:
            yield
        finally:
            inside.pop()


def _completed(result: bool) -> CompletedAnswer:
    return CompletedAnswer(completed=result)


def _checked(result: int | None) -> CheckedAnswer:
    return CheckedAnswer(count=result)


def _counted(result: int) -> CountAnswer:
    return CountAnswer(count=result)


def _advanced(result: bool) -> AdvanceAnswer:
    return AdvanceAnswer(expired=result)
