"""Threads that make calls at the same time, each with a random generator of its own."""

import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from wheelproof import sync
from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.base.results.verdicts import ExitCode

_PAUSES_ONCE_IN = 8
_LONGEST_PAUSE_S = 0.002
_SWITCH_S = 1e-5
"""The thread switch interval of the interpreter: shorter than a call."""


class LoadFailedError(WheelproofSpecError):
    """The error of a load that failed, for example by an unexpected error: nothing is judged."""

    exit_code = ExitCode.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """The number of threads and of all their calls; `number` is the number of the history."""

    threads: int
    operations: int
    seed: int
    number: int

    @property
    def hurried(self) -> bool:
        """Whether the component is closed, or its work expires, while it is in use."""
        return self.number % 2 == 1

    def act(self, action: Callable[[random.Random, int], None]) -> None:
        """Let each caller act until all operations are done; `action` gets the caller's number.

        Raises LoadFailedError with the first failure.
        """

        def run(caller: int, has_failed: Callable[[], bool]) -> None:
            dice = random.Random(f"{self.seed} {self.number} {caller}")
            share, rest = divmod(self.operations, self.threads)
            for _ in range(share + (caller < rest)):
                if has_failed():
                    return
                action(dice, caller)
                if dice.randrange(_PAUSES_ONCE_IN) == 0:
                    time.sleep(dice.random() * _LONGEST_PAUSE_S)

        self.each(run)

    def each(self, body: Callable[[int, Callable[[], bool]], None]) -> None:
        """Run `body` in a thread for each caller; it gets the number, and what tells of failures.

        Raises LoadFailedError with the first failure.
        """
        start = threading.Barrier(self.threads)
        failures: list[BaseException] = []

        def run(caller: int) -> None:
            try:
                start.wait()
                body(caller, lambda: bool(failures))
            except BaseException as failure:
                failures.append(failure)

        threads = [sync.thread(partial(run, caller), "caller") for caller in range(self.threads)]
        usual = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(usual)
        if failures:
            raise LoadFailedError(f"a caller failed: {failures[0]!r}") from failures[0]
