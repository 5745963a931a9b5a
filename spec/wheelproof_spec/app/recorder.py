"""Records histories of code that uses `wheelproof.sync`: one line turns it on.

::

    with recording(Path("history.jsonl")):
        ...  # any number of threads, timers, purgatories and pools, made inside the block

Every public call is recorded before it begins and after it has returned. The run of a task is
recorded when the timer claims the task to submit it. The reference has no hook for this: the
block replaces its methods by recording ones, for the whole process.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof_spec.components.buffer_pool.port import recorded_methods as pool_methods
from wheelproof_spec.components.purgatory.component import REFERENCE_CLAIMS, PurgatoryConfig
from wheelproof_spec.components.purgatory.recording import PurgatoryRecorder
from wheelproof_spec.components.timer.port import TimerRecorder
from wheelproof_spec.history.recording.recorded_run import HistoryWriter, thread_name

_Operation = TypeVar("_Operation", bound=DelayedOperation)


class Recording:
    """A recording in progress."""

    def __init__(
        self,
        stream: BinaryIO,
        *,
        real_clock: bool,
        process: Callable[[], str],
        claims: PurgatoryConfig,
    ) -> None:
        self._writer = HistoryWriter(stream, real_clock=real_clock, process=process)
        timers = TimerRecorder(self._writer)
        self._purgatories = PurgatoryRecorder(self._writer, timers, claims)
        self._replaced = {
            **timers.replacements(),
            **pool_methods(self._writer),
            **self._purgatories.replacements(),
        }

    def satisfying(
        self, purgatory: DelayedOperationPurgatory[_Operation], *operations: DelayedOperation
    ) -> AbstractContextManager[None]:
        """Record that the predicates of the operations become true inside the block."""
        return self._purgatories.satisfying(purgatory, operations)

    def end(self, *, stuck: bool = False) -> None:
        """Write the ends now; if `stuck`, the running calls will never return."""
        self._writer.end(stuck=stuck)

    @contextmanager
    def on(self) -> Generator[None]:
        """Replace the methods of the reference inside the block, and write the ends after it."""
        originals = {(cls, name): cls.__dict__[name] for cls, name in self._replaced}
        try:
            for (cls, name), method in self._replaced.items():
                setattr(cls, name, method)
            yield
        finally:
            self._purgatories.restore()
            for (cls, name), method in originals.items():
                setattr(cls, name, method)
            self._writer.end()


@contextmanager
def recording(
    target: Path | BinaryIO,
    *,
    real_clock: bool = True,
    process: Callable[[], str] = thread_name,
    claims: PurgatoryConfig = REFERENCE_CLAIMS,
) -> Generator[Recording]:
    """Record every timer, purgatory and pool that is made inside the block.

    Each has its own history, all in one file or stream. Times are judged if the objects use the
    system's clock, as `real_clock` says, or a manual clock that only one thread moves. `process`
    names the calling thread. Recorded objects are kept until the end.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(target.open("wb")) if isinstance(target, Path) else target
        found = Recording(stream, real_clock=real_clock, process=process, claims=claims)
        with found.on():
            yield found
