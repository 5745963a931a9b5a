"""A program of the corpus on plain threads, again and again: `stress FILE FUNCTION SECONDS`.

The last word that it prints is the number of the repetition and how that ended. A repetition that
takes long without using the processor hangs.
"""

import asyncio
import importlib
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable

_HANGS_AFTER_S = 5.0


def main(file: str, name: str, seconds: float) -> None:
    """Repeat a program until it fails, hangs, or its processor time is over."""
    sys.setswitchinterval(1e-6)
    program: Callable[[], object] = getattr(importlib.import_module(file), name)
    failed: list[object] = []
    threading.excepthook = failed.append
    number, begun = 0, [time.monotonic()]

    def watch() -> None:
        while time.monotonic() - begun[0] < _HANGS_AFTER_S:
            time.sleep(_HANGS_AFTER_S / 10)
        _end(number, "hangs")

    threading.Thread(target=watch, daemon=True).start()
    while time.process_time() < seconds:
        number, begun[0] = number + 1, time.monotonic()
        try:
            result = program()
            if inspect.iscoroutine(result):
                asyncio.run(result)
        except Exception as error:
            failed.append(error)
        if failed:
            _end(number, "failed")
    _end(number, "passed")


def _end(number: int, how: str) -> None:
    """End the process at once, whatever its other threads do."""
    print(f"{number}:{how}", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
