"""What a user orders from a fuzzing machine."""

from collections.abc import Callable
from dataclasses import dataclass

from wheelproof_spec.base.fuzz_report import FuzzReport


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzOrder:
    """One run of a machine; `repeat` is the command of a failure, with `{seed}` left open.

    `threads` is none, real or controlled; `cases` is the size of a batch, and batches follow one
    another for `seconds` (None: one batch). `bug` is the id of the known bug to bring back.
    """

    threads: str
    cases: int
    seconds: float | None
    seed: int
    bug: str | None
    repeat: str
    progress: Callable[[FuzzReport], None] | None
