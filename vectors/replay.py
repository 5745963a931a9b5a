#!/usr/bin/env python3
"""Replays vectors of the timer on a timer in Python: `replay.py FILE ... [--timer module:Class]`.

Needs nothing but Python, and nothing of wheelproof: copy it, put your timer in the place of `Timer`
(or name it), and run it in your tests. Exit code 0 if all answers are the published ones, else 1.
"""

import argparse
import heapq
import importlib
import json
import sys
from pathlib import Path


class Timer:
    """A timer made of a heap; a virtual clock, deadlines rounded down to the tick (in ms)."""

    def __init__(self, tick_ms, wheel_size, start_ms):
        del wheel_size  # A heap has no wheel.
        self.tick_ms, self.now_ms, self.adds = tick_ms, start_ms, 0
        self.waiting, self.heap = {}, []

    def add(self, task, delay_ms):
        """Add a task, in the place of an earlier add of it; return what runs at once."""
        self.adds += 1
        self.waiting[task] = self.adds
        due_ms = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        heapq.heappush(self.heap, (due_ms, self.adds, task))
        return []

    def cancel(self, task):
        """Cancel a task; return whether it was waiting."""
        return self.waiting.pop(task, None) is not None

    def advance(self, to_ms):
        """Move the clock; return what runs, in order."""
        self.now_ms, fired = to_ms, []
        while self.heap and self.heap[0][0] <= to_ms:
            _, number, task = heapq.heappop(self.heap)
            if self.waiting.get(task) == number:
                del self.waiting[task]
                fired.append(task)
        return fired

    def size(self):
        """Return how many tasks wait."""
        return len(self.waiting)


def replay(vector, make_timer):
    """Return what is answered otherwise than published, or None."""
    timer = make_timer(**vector["config"])
    fired = []
    for number, step in enumerate(vector["steps"]):
        answer = getattr(timer, step["op"])(**step.get("args", {}))
        if step["op"] in ("add", "advance"):
            fired += answer
        expect = step.get("expect", {})
        if "fired" in expect:
            seen, fired = fired, []
            if expect.get("any_order"):
                seen = sorted(seen)
            expected = expect["fired"]
        else:
            expected = expect.get("cancelled", expect.get("size"))
            seen = answer if expect else None
        if seen != expected:
            return f"step {number}, {step['op']}: expected {expected}, observed {seen}"
    return None


def main():
    """Replay all vectors of one profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--profile", default="kafka")
    parser.add_argument("--timer", metavar="MODULE:CLASS", help="default: the heap in this file")
    options = parser.parse_args()
    module, _, name = (options.timer or f"{__name__}:Timer").partition(":")
    make_timer = getattr(importlib.import_module(module), name)
    replayed, failed = 0, 0
    for file in options.files:
        with Path(file).open(encoding="utf-8") as lines:
            for vector in map(json.loads, lines):
                if vector["component"] == "timer" and options.profile in vector["profiles"]:
                    replayed += 1
                    problem = replay(vector, make_timer)
                    if problem is not None:
                        failed += 1
                        print(f"{vector['id']}: {problem}")
    print(f"{replayed} vectors of profile {options.profile} replayed, {failed} failed")
    return 1 if failed or not replayed else 0


if __name__ == "__main__":
    sys.exit(main())
