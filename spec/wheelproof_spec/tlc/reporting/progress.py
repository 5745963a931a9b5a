"""Shows the progress of a run: live on a terminal, elsewhere one line for each model."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from wheelproof_spec.tlc.judging.outcome import ModelOutcome
from wheelproof_spec.tlc.judging.runner import Observer
from wheelproof_spec.tlc.manifest.model import Model
from wheelproof_spec.tlc.running.report import Statistics

_QUIET_SECONDS = 20
"""A model that takes less writes only its last line to a file."""


@contextmanager
def progress_observer(console: Console, total: int) -> Generator[Observer]:
    """Yield an observer that writes to `console` about `total` models."""
    if not console.is_terminal:
        yield _PlainObserver(console, total)
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        yield _LiveObserver(progress, total)


def _line(outcome: ModelOutcome, number: int, total: int) -> str:
    return (
        f"[{number}/{total}] {outcome.model.name} {outcome.verdict} "
        f"in {outcome.seconds:.1f} s: {outcome.summary()}"
    )


def _counts(statistics: Statistics, depth: int) -> str:
    return (
        f"{statistics.distinct:,} distinct states, depth {depth}, {statistics.queued:,} to explore"
    )


class _PlainObserver(Observer):
    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._begun: dict[str, float] = {}
        self._lock = threading.Lock()

    def started(self, model: Model) -> None:
        self._begun[model.name] = time.monotonic()

    def progressed(self, model: Model, statistics: Statistics, depth: int) -> None:
        if time.monotonic() - self._begun[model.name] > _QUIET_SECONDS:
            self._print(f"{model.name}: {_counts(statistics, depth)}")

    def finished(self, outcome: ModelOutcome) -> None:
        with self._lock:
            self._done += 1
            number = self._done
        self._print(_line(outcome, number, self._total))

    def _print(self, text: str) -> None:
        self._console.print(escape(text), soft_wrap=True)


class _LiveObserver(Observer):
    def __init__(self, progress: Progress, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._tasks: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def started(self, model: Model) -> None:
        with self._lock:
            self._tasks[model.name] = self._progress.add_task(model.name, total=None)

    def progressed(self, model: Model, statistics: Statistics, depth: int) -> None:
        with self._lock:
            description = f"{model.name}: {_counts(statistics, depth)}"
            self._progress.update(self._tasks[model.name], description=description)

    def finished(self, outcome: ModelOutcome) -> None:
        with self._lock:
            self._done += 1
            task = self._tasks.pop(outcome.model.name, None)
            if task is not None:
                self._progress.remove_task(task)
            line = _line(outcome, self._done, self._total)
        self._progress.console.print(escape(line), soft_wrap=True)
