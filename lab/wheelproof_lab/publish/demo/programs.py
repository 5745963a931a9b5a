"""Runs programs in parallel, and ends all of them."""

import subprocess
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from wheelproof_spark.base.errors import PipelineError

_T = TypeVar("_T")
_LAST_LINES = 3


def run_programs(
    programs: Iterable[tuple[_T, Sequence[str]]], at_once: int, ended: Callable[[_T], None]
) -> None:
    """Run every program, `at_once` at a time; call `ended` for each one that has ended.

    Raises PipelineError if one fails. After a failure or an interrupt the others are ended.
    """
    started = _Started()
    with ThreadPoolExecutor(at_once) as pool:
        try:
            results = {pool.submit(started.run, words): what for what, words in programs}
            for result in as_completed(results):
                result.result()
                ended(results[result])
        finally:
            started.end()
            pool.shutdown(cancel_futures=True)


class _Started:
    """The running programs; after `end` there are none, and no more are started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[str]] = set()
        self._over = False

    def run(self, words: Sequence[str]) -> None:
        """Run one program; raises PipelineError if it fails."""
        with self._lock:
            if self._over:
                return
            process = subprocess.Popen(
                words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            self._processes.add(process)
        _, printed = process.communicate()
        with self._lock:
            self._processes.discard(process)
            over = self._over
        if process.returncode and not over:
            lines = printed.strip().splitlines()[-_LAST_LINES:]
            raise PipelineError(
                f"{' '.join(words)} ended with exit code {process.returncode}: {' '.join(lines)}"
            )

    def end(self) -> None:
        """End all running programs."""
        with self._lock:
            self._over = True
            for process in self._processes:
                process.terminate()
