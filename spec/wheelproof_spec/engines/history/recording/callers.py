"""Threads that call at the same time, each with dice of its own."""

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
"""How long the interpreter leaves a thread alone: less than a call takes."""


class LoadFailedError(WheelproofSpecError):
    """A call raised what is no refusal; there is nothing to judge."""

    exit_code = ExitCode.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Callers:
    """How many threads make how many calls in all; `number` is that of the history."""

    threads: int
    operations: int
    seed: int
    number: int

    @property
    def hurried(self) -> bool:
        """Whether what is loaded is to be closed, or to expire, while it is used."""
        return self.number % 2 == 1

    def act(self, action: Callable[[random.Random, int], None]) -> None:
        """Let each caller act until all operations are done; `action` is told who acts.

        Raises LoadFailedError with the first failure.
        """
        start = threading.Barrier(self.threads)
        failures: list[BaseException] = []

        def run(caller: int) -> None:
            dice = random.Random(f"{self.seed} {self.number} {caller}")
            share, rest = divmod(self.operations, self.threads)
            try:
                start.wait()
                for _ in range(share + (caller < rest)):
                    if failures:
                        return
                    action(dice, caller)
                    if dice.randrange(_PAUSES_ONCE_IN) == 0:
                        time.sleep(dice.random() * _LONGEST_PAUSE_S)
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
