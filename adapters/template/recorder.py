#!/usr/bin/env python3
"""A recorder to start from: put calls of your timer into MyTimer, and a load like yours into main.

    python3 recorder.py > run.jsonl
    wheelproof check run.jsonl

It records the calls of several threads to a timer on a real clock, and the answers (schema
wheelproof.history/1). MyTimer uses Python's threading.Timer until you replace it.
"""

import itertools
import json
import random
import sys
import threading
import time


class Recorder:
    """A recorder: it keeps a line for each call, each answer and each start of a task.

    The threads share only a counter and a list, without a lock, to keep their interleavings.
    """

    def __init__(self, **header: object) -> None:
        first = {"schema": "wheelproof.history/1", "kind": "header", "history": "h"}
        clock = {"clock": "monotonic_ns", "clock_resolution_ns": 1_000}
        self._header = {**first, "component": "timer", **clock, **header}
        self._indexes = itertools.count()
        self._lines: list[tuple[int, dict[str, object]]] = []

    def op(self, kind: str, call: str, **value: object) -> None:
        """Record that a call begins or ends: `kind` is invoke, ok, fail (no effect) or info."""
        # Read the clock first: when the index is taken, the clock shows this time or later.
        time_ns = time.monotonic_ns()
        index = next(self._indexes)
        line = {"index": index, "process": threading.current_thread().name, "time_ns": time_ns}
        self._lines.append((index, {**line, "type": kind, "f": call, "value": value}))

    def write(self) -> None:
        """Write all lines in order; call it when no call is running any more."""
        print(json.dumps(self._header))
        for _, line in sorted(self._lines, key=lambda one: one[0]):
            print(json.dumps({"kind": "op", "history": "h", **line}))
        last = {"kind": "end", "history": "h", "ops": len(self._lines), "quiet": True}
        print(json.dumps(last))


class MyTimer:
    """Your timer; a task calls `run` when it begins to run."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._waiting: dict[str, threading.Timer] = {}

    def add(self, task: str, delay_ms: int) -> None:
        """Schedule the task in `delay_ms`."""
        timer = threading.Timer(delay_ms / 1_000, self.run, [task])
        self._waiting[task] = timer
        timer.start()

    def cancel(self, task: str) -> bool:
        """Cancel the task; return whether this call prevented its run."""
        timer = self._waiting.pop(task, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    def run(self, task: str) -> None:
        """Run the task."""
        if self._waiting.pop(task, None) is not None:
            self._recorder.op("invoke", "run", task=task)


def load(timer: MyTimer, recorder: Recorder, name: str, chance: random.Random) -> None:
    """Add tasks and cancel some of them, on a thread of its own."""
    for number in range(50):
        task, delay_ms = f"{name}-{number}", chance.randint(0, 20)
        recorder.op("invoke", "add", task=task, delay_ms=delay_ms)
        timer.add(task, delay_ms)
        recorder.op("ok", "add")
        if chance.random() < 0.3:
            recorder.op("invoke", "cancel", task=task)
            cancelled = timer.cancel(task)
            recorder.op("ok", "cancel", cancelled=cancelled)


def main() -> None:
    """Record one run."""
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    recorder = Recorder(
        impl={"name": "my-timer", "version": "0.1"}, config={"tick_ms": 1}, profile="never-early"
    )
    timer = MyTimer(recorder)
    threads = [
        threading.Thread(target=load, args=(timer, recorder, f"c{n}", random.Random(seed + n)))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # A threading.Timer is a thread: when all threads have ended, all tasks have ended.
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    recorder.write()


if __name__ == "__main__":
    main()
