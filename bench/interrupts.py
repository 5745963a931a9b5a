"""What Ctrl-C costs: ``python bench/interrupts.py [--seconds S] [PLACE...]``.

A thread sends SIGINT to the main thread at any time, while that takes and gives back a lock in one
of several ways. Prints the rounds of each way, and how many of them lost the lock, or a permit, for
ever. Another Python may look for signals in other places: run it there as well.
"""

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable

from instruments.machine import this_machine

_TIMES = 50
_SECONDS = 6.0
_QUICK_S = 1e-5
_Round = tuple[Callable[[], object], Callable[[], bool]]
"""What a round does while signals arrive, and whether something is lost behind it."""


def _with_lock() -> _Round:
    lock = threading.Lock()

    def work() -> None:
        with lock:
            pass

    return work, lock.locked


def _nested() -> _Round:
    lock, other = threading.Lock(), threading.Lock()

    def work() -> None:
        with lock, other:
            pass

    return work, lambda: lock.locked() or other.locked()


def _acquire() -> _Round:
    lock = threading.Lock()

    def work() -> None:
        lock.acquire()
        try:
            pass
        finally:
            lock.release()

    return work, lock.locked


def _condition(timeout: float | None = None) -> _Round:
    lock = threading.RLock()
    condition = threading.Condition(lock)

    def work() -> None:
        with condition:
            if timeout is not None:
                condition.wait(timeout)

    def is_held() -> bool:
        return "unlocked" not in repr(lock)

    return work, is_held


def _store(*, calls: bool) -> _Round:
    busy = [False]

    def end() -> None:
        busy[0] = False

    def work() -> None:
        busy[0] = True
        try:
            abs(1)
        finally:
            if calls:
                end()
            else:
                busy[0] = False

    return work, lambda: busy[0]


def _semaphore() -> _Round:
    semaphore = threading.Semaphore(1)

    def work() -> None:
        with semaphore:
            pass

    def is_lost() -> bool:
        # The lock inside may be lost as well, so that `acquire` would wait for ever.
        inside: threading.Condition = vars(semaphore)["_cond"]
        return not inside.acquire(blocking=False) or vars(semaphore)["_value"] != 1

    return work, is_lost


_PLACES: dict[str, Callable[[], _Round]] = {
    "with lock": _with_lock,
    "with lock, lock": _nested,
    "acquire, try": _acquire,
    "with condition": _condition,
    "condition.wait": lambda: _condition(0),
    "with semaphore": _semaphore,
    "finally: store": lambda: _store(calls=False),
    "finally: call": lambda: _store(calls=True),
}


_SURE = ("with lock", "with lock, lock", "finally: store")
"""The ways that lose nothing, where CPython looks for signals as docs/explore.md says."""


class _Pest:
    """A thread that interrupts the main thread again and again, while it is `armed`."""

    def __init__(self) -> None:
        self.armed = False
        self._main = threading.main_thread().ident or 0
        threading.Thread(target=self._bother, daemon=True).start()

    def _bother(self) -> None:
        while True:
            if self.armed:
                signal.pthread_kill(self._main, signal.SIGINT)
            for _ in range(random.randrange(200)):
                pass


def _is_lost(pest: _Pest, round_of: Callable[[], _Round]) -> bool:
    work, is_lost = round_of()
    broken = False
    try:
        try:
            pest.armed = True
            for _ in range(_TIMES):
                work()
        finally:
            pest.armed = False
    except KeyboardInterrupt:
        pass
    except RuntimeError:
        # The lock was given back by nobody who had it.
        broken = True
    return is_lost() or broken


def main() -> int:
    """Count the losses; the exit code is 1 if a way that is sure has one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("places", nargs="*", metavar="PLACE", help=", ".join(_PLACES))
    parser.add_argument("--seconds", type=float, default=_SECONDS, help="for each place")
    arguments = parser.parse_args()
    unknown = [place for place in arguments.places if place not in _PLACES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; name {', '.join(_PLACES)}")
    machine = this_machine()
    print(f"{machine.python}, {machine.cores} cores of {machine.cpu}")
    sys.setswitchinterval(_QUICK_S)
    pest = _Pest()
    found = dict[str, int]()
    for place in arguments.places or _PLACES:
        rounds = lost = 0
        end = time.monotonic() + arguments.seconds
        while time.monotonic() < end:
            try:
                lost += _is_lost(pest, _PLACES[place])
                rounds += 1
            except KeyboardInterrupt:
                # It came late, in the code around a round, which then does not count.
                pest.armed = False
        found[place] = lost
        print(f"{place:<16} {rounds:>9,} rounds {lost:>6,} lost", flush=True)
    # The pest is never quiet for sure.
    os._exit(any(found.get(place) for place in _SURE))


if __name__ == "__main__":
    main()
