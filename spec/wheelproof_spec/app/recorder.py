"""Records histories of what is built on `wheelproof.sync`: one line turns it on.

::

    with recording(Path("history.jsonl")):
        ...  # any number of threads, timers, purgatories and pools, made inside the block

Every public call is written down before it begins and after it has returned. That a task runs is
recorded when the timer claims it to submit it. The reference has no hook for this: inside the
block, and for the whole process, its methods are replaced by ones that record.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, TypeVar

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof_spec.components.buffer_pool.recording.methods import PoolRecorder
from wheelproof_spec.components.purgatory.component import REFERENCE_CLAIMS, PurgatoryConfig
from wheelproof_spec.components.purgatory.recording.methods import PurgatoryRecorder
from wheelproof_spec.components.timer.recording.methods import TimerRecorder
from wheelproof_spec.engines.history.recording.recorded_run import HistoryWriter, thread_name

_Operation = TypeVar("_Operation", bound=DelayedOperation)


class Recording:
    """A recording under way."""

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
            **PoolRecorder(self._writer).replacements(),
            **self._purgatories.replacements(),
        }

    def satisfying(
        self, purgatory: DelayedOperationPurgatory[_Operation], *operations: DelayedOperation
    ) -> AbstractContextManager[None]:
        """Record that the predicates of operations are made true inside a block."""
        return self._purgatories.satisfying(purgatory, operations)

    def end(self, *, stuck: bool = False) -> None:
        """Write the ends now; if `stuck`, the calls under way will never return."""
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
    """Record what every timer, purgatory and pool does that is made inside the block.

    One history for each of them, in one file, or stream. Times are judged if they use the system's
    clock, as `real_clock` says, or a manual one, which only one thread moves. `process` names the
    calling thread. Objects that were recorded are kept until the end.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(target.open("wb")) if isinstance(target, Path) else target
        found = Recording(stream, real_clock=real_clock, process=process, claims=claims)
        with found.on():
            yield found
