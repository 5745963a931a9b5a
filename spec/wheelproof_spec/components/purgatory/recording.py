"""Records the purgatories of any program: patches their public methods, and operations' callbacks.

`calls.py`, beside this, records calls that the load or the machine makes itself, and patches
nothing. This is for programs that know nothing of a recorder: docs/recording.md, "The reference,
and whatever is built on `wheelproof.sync`".
"""

from collections.abc import Callable, Generator, Hashable, Iterable
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from wheelproof.errors import DelayedOperationError
from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.purgatory.delayed_operation_purgatory import DEFAULT_PURGE_INTERVAL
from wheelproof.timer import Timer
from wheelproof_spec.base.calls import (
    AdvanceClock,
    Advanced,
    Gauge,
    NumDelayed,
    NumKeys,
    PurgeCompleted,
    Watched,
)
from wheelproof_spec.base.codec.vocabulary import Nothing
from wheelproof_spec.base.component import Call
from wheelproof_spec.components.purgatory.component import (
    CancelForKey,
    Cancelled,
    CheckAndComplete,
    Checked,
    Completed,
    ForceComplete,
    OnComplete,
    OnExpiration,
    PurgatoryConfig,
    Satisfy,
    Shutdown,
    TryComplete,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.port import AnyPurgatory
from wheelproof_spec.components.timer.port import TimerRecorder
from wheelproof_spec.history.recording.recorded_run import (
    HistoryWriter,
    LineType,
    Replacements,
    Run,
    nothing,
    refusal_of,
    telling,
)

_P = ParamSpec("_P")
_CALLBACKS: dict[str, type[TryComplete | OnComplete | OnExpiration]] = {
    "try_complete": TryComplete,
    "on_complete": OnComplete,
    "on_expiration": OnExpiration,
}


class PurgatoryRecorder:
    """A recorder of purgatories; it patches the class of an operation that is handed in."""

    def __init__(
        self, writer: HistoryWriter, timers: TimerRecorder, claims: PurgatoryConfig
    ) -> None:
        """Begin; each history has the claims of `claims` and the settings of its purgatory."""
        self._writer = writer
        self._timers = timers
        self._claims = claims
        self._purgatory_of: dict[int, Run] = {}
        self._changed: dict[tuple[type[object], str], object] = {}
        # The callbacks that each thread is inside: the name, and the operation.
        self._inside: dict[str, list[tuple[str, object]]] = {}

    def replacements(self) -> Replacements:
        """Return the recording methods, by the class and the name that they replace."""
        purgatory, recorded = DelayedOperationPurgatory, self._writer.recorded
        known, gauge = AnyPurgatory, telling(Gauge)
        init: Callable[..., None] = purgatory.__dict__["__init__"]
        return {
            (purgatory, "__init__"): self._made(init),
            (purgatory, "try_complete_else_watch"): self._watch(known.try_complete_else_watch),
            (purgatory, "check_and_complete"): self._check(known.check_and_complete),
            (purgatory, "cancel_for_key"): recorded(
                known.cancel_for_key, _cancels, self._cancelled
            ),
            (purgatory, "watched"): recorded(known.watched, self._outermost(Watched()), gauge),
            (purgatory, "num_delayed"): recorded(
                known.num_delayed, self._outermost(NumDelayed()), gauge
            ),
            (purgatory, "num_keys"): recorded(known.num_keys, self._outermost(NumKeys()), gauge),
            (purgatory, "purge_completed"): recorded(
                known.purge_completed, self._outermost(PurgeCompleted()), nothing
            ),
            (purgatory, "advance_clock"): recorded(
                known.advance_clock, AdvanceClock, telling(Advanced)
            ),
            (purgatory, "close"): recorded(known.close, Shutdown, nothing),
            (DelayedOperation, "force_complete"): recorded(
                DelayedOperation.force_complete,
                self._forces,
                telling(Completed),
                lambda operation: self._purgatory_of.get(id(operation)),
            ),
            (DelayedOperation, "run"): self._run(DelayedOperation.run),
        }

    def restore(self) -> None:
        """Restore the methods of the classes of operations."""
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
            (f"{self._writer.thread()}/satisfy-{name}", Satisfy(operation=name))
            for name in (self._writer.name(run, waiting, "operation") for waiting in operations)
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
            interval = kwargs.get("purge_interval", DEFAULT_PURGE_INTERVAL)
            assert isinstance(interval, int)
            config = replace(
                self._claims,
                purge_interval=interval,
                tick_ms=tick_ms,
                start_ms=0 if clock is None else clock.hi_res_clock_ms(),
            )
            run = self._writer.made(args[0], config, virtual=clock is not None)
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
            asked = TryCompleteElseWatch(
                operation=self._writer.name(run, operation, "operation"),
                keys=tuple(map(str, keys)),
                delay_ms=operation.delay_ms,
            )

            def refusal(problem: Exception) -> tuple[LineType, str | None]:
                if operation.is_completed():
                    return "info", None
                return "fail", refusal_of(problem) or type(problem).__name__

            return self._writer.call(
                run, asked, _completed, lambda: original(purgatory, operation, keys), refusal
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
                    # A predicate raised: the other operations must have been tried.
                    if isinstance(problem, DelayedOperationError) or not refusal_of(problem):
                        raised.append(problem)
                        return None
                    raise

            count = self._writer.call(run, CheckAndComplete(key=str(key)), _checked, call)
            if raised:
                raise raised[0]
            assert count is not None
            return count

        return check

    def _cancelled(self, run: Run, operations: list[DelayedOperation]) -> Cancelled:
        names = tuple(self._writer.name(run, given_up, "operation") for given_up in operations)
        return Cancelled(count=len(names), cancelled=names)

    def _outermost(self, asked: Call) -> Callable[[Run, AnyPurgatory], Call | None]:
        """Leave out calls of the purgatory itself: it asks whether to purge, and purges."""
        return lambda _run, _purgatory: None if self._writer.open_calls() else asked

    def _forces(self, run: Run, operation: DelayedOperation) -> ForceComplete | None:
        inside = self._inside.get(self._writer.thread(), [])
        if inside and inside[-1][1] is operation:
            # A test of its predicate, or its time-out, makes this call.
            return None
        return ForceComplete(operation=self._writer.name(run, operation, "operation"))

    def _run(
        self, original: Callable[[DelayedOperation], None]
    ) -> Callable[[DelayedOperation], None]:
        @wraps(original)
        def expire(operation: DelayedOperation) -> None:
            with self._entered("run", operation):
                original(operation)

        return expire

    def _change(self, cls: type[DelayedOperation]) -> None:
        """Patch a class of operations so that its callbacks are recorded."""
        for name in _CALLBACKS:
            owner = next(base for base in cls.__mro__ if name in base.__dict__)
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
            what = _CALLBACKS[f](operation=self._writer.name(run, operation, "operation"))
            process = self._writer.happens(run, what)
            with self._entered(f, operation):
                result = original(operation)
            # A callback that raises has no end: then on_expiration may be left out (6.4.5).
            self._writer.happens(run, what, "ok", process)
            return result

        return callback

    @contextmanager
    def _entered(self, f: str, operation: DelayedOperation) -> Generator[None]:
        inside = self._inside.setdefault(self._writer.thread(), [])
        inside.append((f, operation))
        try:
            yield
        finally:
            inside.pop()


def _completed(result: bool) -> Completed:
    return Completed(completed=result)


def _checked(result: int | None) -> Checked:
    return Checked(count=result)


def _cancels(_run: Run, _purgatory: AnyPurgatory, key: Hashable) -> CancelForKey:
    return CancelForKey(key=str(key))
