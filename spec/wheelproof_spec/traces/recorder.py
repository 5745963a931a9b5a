"""Records histories of what is built on `wheelproof.sync`: one line turns it on.

::

    with recording(Path("history.jsonl")):
        ...  # any number of threads, timers and pools, made inside the block

Every public call is written down before it begins and after it has returned, under one lock, so the
index of a line is its order in real time. That a task runs is recorded when the timer claims it to
submit it. The reference has no hook for this: inside the block, and for the whole process, its
methods are replaced by ones that record.
"""

import threading
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from itertools import count
from pathlib import Path
from typing import BinaryIO, Literal, ParamSpec, TypeVar

import wheelproof
from wheelproof.errors import IllegalArgumentError, WheelproofError
from wheelproof.producer import BufferExhaustedError, BufferPool, ByteBuffer, ProducerClosedError
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.timer.system_timer import DEFAULT_TICK_MS
from wheelproof.timer.timer_task import TimerTaskEntry
from wheelproof.units import Millis
from wheelproof_spec.traces.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.traces.producer_events import (
    AllocateAnswer,
    AllocateAsked,
    DeallocateAsked,
    PoolSettings,
)
from wheelproof_spec.traces.timer_events import (
    AddAsked,
    AdvanceAnswer,
    AdvanceAsked,
    CancelAnswer,
    SizeAnswer,
    TaskAsked,
    TimerSettings,
)
from wheelproof_spec.traces.vocabulary import ABSENT, Component, Implementation, Nothing
from wheelproof_spec.traces.writer import format_line

_P = ParamSpec("_P")
_R = TypeVar("_R")
_Type = Literal["invoke", "ok", "fail", "info"]
_REFUSALS: Mapping[type[Exception], str] = {
    IllegalArgumentError: "IllegalArgument",
    BufferExhaustedError: "Exhausted",
    ProducerClosedError: "Closed",
    RuntimeError: "Closed",
}


@contextmanager
def recording(path: Path, *, real_clock: bool = True) -> Generator[None]:
    """Record what every timer and pool does that is made inside the block, into `path`.

    One history for each of them, in one file. `real_clock` says whether they use the system's
    clock; times are judged only then. Objects that were recorded are kept until the end.
    """
    with path.open("wb") as stream:
        recorder = _Recorder(stream, real_clock=real_clock)
        replaced = recorder.replacements()
        originals = {(cls, name): cls.__dict__[name] for cls, name in replaced}
        try:
            for (cls, name), method in replaced.items():
                setattr(cls, name, method)
            yield
        finally:
            for (cls, name), method in originals.items():
                setattr(cls, name, method)
            recorder.end()


@dataclass(slots=True)
class _Run:
    """One object that is recorded, and its names for tasks and buffers."""

    name: str
    ops: int = 0
    under_way: int = 0
    names: dict[int, str] = field(default_factory=dict[int, str])
    numbers: "count[int]" = field(default_factory=count)


class _Recorder:
    def __init__(self, stream: BinaryIO, *, real_clock: bool) -> None:
        self._stream = stream
        self._real_clock = real_clock
        self._lock = threading.Lock()
        self._runs: dict[int, _Run] = {}
        self._timer_of: dict[int, _Run] = {}
        # What is named by its id has to live as long as the name.
        self._kept: list[object] = []

    def replacements(self) -> dict[tuple[type[object], str], Callable[..., object]]:
        """Return the methods that record, by the class and the name that they replace."""
        return {
            (SystemTimer, "__init__"): self._timer_made(SystemTimer.__init__),
            (SystemTimer, "add"): self._add(SystemTimer.add),
            (SystemTimer, "advance_clock"): self._advance(SystemTimer.advance_clock),
            (SystemTimer, "size"): self._size(SystemTimer.size),
            (SystemTimer, "close"): self._close(SystemTimer.close),
            (TimerTask, "cancel"): self._cancel(TimerTask.cancel),
            (TimerTask, "claim"): self._claim(TimerTask.claim),
            (BufferPool, "__init__"): self._pool_made(BufferPool.__init__),
            (BufferPool, "allocate"): self._allocate(BufferPool.allocate),
            (BufferPool, "deallocate"): self._deallocate(BufferPool.deallocate),
            (BufferPool, "close"): self._close(BufferPool.close),
        }

    def end(self) -> None:
        """Write the ends; a history is quiet if no call is under way any more."""
        with self._lock:
            for run in self._runs.values():
                end = HistoryEnd(kind="end", history=run.name, ops=run.ops, quiet=not run.under_way)
                self._stream.write(format_line(end))

    def _made(self, subject: object, component: Component, config: object) -> None:
        with self._lock:
            self._kept.append(subject)
            run = self._runs[id(subject)] = _Run(f"{component}-{len(self._runs)}")
            header = HistoryHeader(
                schema="wheelproof.history/1",
                kind="header",
                history=run.name,
                component=component,
                impl=Implementation(name=wheelproof.__name__, version="reference"),
                config=config,
                clock="monotonic_ns" if self._real_clock else "none",
            )
            self._stream.write(format_line(header))

    def _write(
        self, run: _Run, kind: _Type, f: str, value: object, error: str | None = None
    ) -> None:
        process = f"{threading.current_thread().name}-{threading.get_ident()}"
        with self._lock:
            if self._stream.closed:
                return
            op = HistoryOp(
                kind="op",
                history=run.name,
                index=run.ops,
                process=process,
                type=kind,
                f=f,
                value=value,
                time_ns=time.monotonic_ns() if self._real_clock else ABSENT,
                error=ABSENT if error is None else error,
            )
            run.ops += 1
            if f != "run":
                run.under_way += 1 if kind == "invoke" else -1
            self._stream.write(format_line(op))

    def _call(
        self,
        run: _Run,
        f: str,
        asked: object,
        answer: Callable[[_R], object],
        call: Callable[[], _R],
    ) -> _R:
        self._write(run, "invoke", f, asked)
        try:
            result = call()
        except Exception as error:
            refusal = next((name for cls, name in _REFUSALS.items() if isinstance(error, cls)), "")
            known = isinstance(error, WheelproofError)
            kind: _Type = "fail" if known else "info"
            self._write(
                run, kind, f, Nothing(), (refusal or type(error).__name__) if known else None
            )
            raise
        except BaseException:
            self._write(run, "info", f, Nothing())
            raise
        self._write(run, "ok", f, answer(result))
        return result

    def _task(self, run: _Run, task: TimerTask) -> str:
        with self._lock:
            name = run.names.get(id(task))
            if name is None:
                self._kept.append(task)
                name = run.names[id(task)] = f"task-{next(run.numbers)}"
                self._timer_of[id(task)] = run
            return name

    def _timer_made(self, original: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(original)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> None:
            original(*args, **kwargs)
            tick_ms = kwargs.get("tick_ms", DEFAULT_TICK_MS)
            assert isinstance(tick_ms, int)
            self._made(args[0], "timer", TimerSettings(tick_ms=tick_ms, runs="inline"))

        return made

    def _pool_made(self, original: Callable[_P, None]) -> Callable[_P, None]:
        @wraps(original)
        def made(*args: _P.args, **kwargs: _P.kwargs) -> None:
            original(*args, **kwargs)
            pool = args[0]
            assert isinstance(pool, BufferPool)
            settings = PoolSettings(total=pool.total_memory, poolable=pool.poolable_size)
            self._made(pool, "buffer_pool", settings)

        return made

    def _add(
        self, original: Callable[[SystemTimer, TimerTask], None]
    ) -> Callable[[SystemTimer, TimerTask], None]:
        @wraps(original)
        def add(timer: SystemTimer, timer_task: TimerTask) -> None:
            run = self._runs.get(id(timer))
            if run is None:
                original(timer, timer_task)
                return
            asked = AddAsked(task=self._task(run, timer_task), delay_ms=timer_task.delay_ms)
            self._call(run, "add", asked, _nothing, lambda: original(timer, timer_task))

        return add

    def _advance(
        self, original: Callable[[SystemTimer, Millis], bool]
    ) -> Callable[[SystemTimer, Millis], bool]:
        @wraps(original)
        def advance_clock(timer: SystemTimer, timeout_ms: Millis) -> bool:
            run = self._runs.get(id(timer))
            if run is None:
                return original(timer, timeout_ms)
            asked = AdvanceAsked(timeout_ms=timeout_ms)
            return self._call(run, "advance", asked, _expired, lambda: original(timer, timeout_ms))

        return advance_clock

    def _size(self, original: Callable[[SystemTimer], int]) -> Callable[[SystemTimer], int]:
        @wraps(original)
        def size(timer: SystemTimer) -> int:
            run = self._runs.get(id(timer))
            if run is None:
                return original(timer)
            return self._call(run, "size", Nothing(), _size_of, lambda: original(timer))

        return size

    def _close(self, original: Callable[[_R], None]) -> Callable[[_R], None]:
        @wraps(original)
        def close(subject: _R) -> None:
            run = self._runs.get(id(subject))
            if run is None:
                original(subject)
                return
            self._call(run, "close", Nothing(), _nothing, lambda: original(subject))

        return close

    def _cancel(self, original: Callable[[TimerTask], bool]) -> Callable[[TimerTask], bool]:
        @wraps(original)
        def cancel(task: TimerTask) -> bool:
            run = self._timer_of.get(id(task))
            if run is None:
                return original(task)
            asked = TaskAsked(task=run.names[id(task)])
            return self._call(run, "cancel", asked, _cancelled, lambda: original(task))

        return cancel

    def _claim(
        self, original: Callable[[TimerTask, TimerTaskEntry], bool]
    ) -> Callable[[TimerTask, TimerTaskEntry], bool]:
        @wraps(original)
        def claim(task: TimerTask, entry: TimerTaskEntry) -> bool:
            claimed = original(task, entry)
            run = self._timer_of.get(id(task))
            if claimed and run is not None:
                self._write(run, "invoke", "run", TaskAsked(task=run.names[id(task)]))
            return claimed

        return claim

    def _allocate(
        self, original: Callable[[BufferPool, int, int], ByteBuffer]
    ) -> Callable[[BufferPool, int, int], ByteBuffer]:
        @wraps(original)
        def allocate(pool: BufferPool, size: int, max_time_to_block_ms: int) -> ByteBuffer:
            run = self._runs.get(id(pool))
            if run is None:
                return original(pool, size, max_time_to_block_ms)
            asked = AllocateAsked(bytes=size, max_block_ms=max_time_to_block_ms)

            def lent(buffer: ByteBuffer) -> AllocateAnswer:
                with self._lock:
                    self._kept.append(buffer)
                    name = run.names[id(buffer)] = f"buffer-{next(run.numbers)}"
                return AllocateAnswer(buffer=name, bytes=size)

            return self._call(
                run, "allocate", asked, lent, lambda: original(pool, size, max_time_to_block_ms)
            )

        return allocate

    def _deallocate(
        self, original: Callable[[BufferPool, ByteBuffer | None], None]
    ) -> Callable[[BufferPool, ByteBuffer | None], None]:
        @wraps(original)
        def deallocate(pool: BufferPool, buffer: ByteBuffer | None) -> None:
            run = self._runs.get(id(pool))
            if run is None or buffer is None:
                original(pool, buffer)
                return
            asked = DeallocateAsked(buffer=run.names.get(id(buffer), "a-stranger"))
            self._call(run, "deallocate", asked, _nothing, lambda: original(pool, buffer))

        return deallocate


def _nothing(result: object) -> Nothing:
    del result
    return Nothing()


def _expired(result: bool) -> AdvanceAnswer:
    return AdvanceAnswer(expired=result)


def _size_of(result: int) -> SizeAnswer:
    return SizeAnswer(size=result)


def _cancelled(result: bool) -> CancelAnswer:
    return CancelAnswer(cancelled=result)
