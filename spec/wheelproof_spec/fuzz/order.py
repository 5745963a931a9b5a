"""The settings of a fuzzing run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from wheelproof_spec.base.results.fuzz_report import FuzzReport


class Batch(TypedDict):
    """The settings that every run of a machine takes, whatever it fuzzes; see `run_machine`."""

    cases: int
    seed: int
    seconds: NotRequired[float | None]
    repeat: NotRequired[str]
    progress: NotRequired[Callable[[FuzzReport], None] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOrder:
    """One run of a machine; `repeat` is the command that repeats a failure, with `{seed}` in it.

    `threads` is none, real or controlled. `cases` is the size of a batch; batches are run for
    `seconds` (None: one batch). A run with one thread is judged by `profile` (None: that of the
    reference).
    """

    threads: str
    cases: int
    seed: int
    seconds: float | None = None
    profile: str | None = None
    repeat: str = ""
    progress: Callable[[FuzzReport], None] | None = None

    def batch(self) -> Batch:
        """Return the settings that every run takes."""
        return Batch(
            cases=self.cases,
            seed=self.seed,
            seconds=self.seconds,
            repeat=self.repeat,
            progress=self.progress,
        )
