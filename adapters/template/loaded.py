#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your timer into MyTimer.

    wheelproof load --component timer --driver "python3 loaded.py" --output run.jsonl
    wheelproof check run.jsonl

It reads what each caller has to do, does all of it in a thread for each caller, and then prints
what happened. MyTimer is a heap with one thread until you replace it.
"""

import functools
import heapq
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

HELLO = {
    "impl": "my-timer",
    "version": "1",
    "components": ["timer"],
    # The calls that it can make; what is not named here is not asked.
    "capabilities": ["add", "cancel", "size"],
    "profiles": {"timer": "never-early"},
}
QUIET_S = 10
"""What has not ended by then is lost, or stuck."""


class MyTimer:
    """Your timer."""

    def __init__(self, _config: dict[str, Any]) -> None:
        self._changed = threading.Condition()
        self._due: list[tuple[float, int, str, Callable[[], None]]] = []
        self._waiting = set[str]()
        self._numbers = itertools.count()
        self._ended = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def add(self, task: str, delay_ms: int, run: Callable[[], None]) -> None:
        """Let `run` be called in `delay_ms`."""
        due = time.monotonic() + delay_ms / 1_000
        with self._changed:
            heapq.heappush(self._due, (due, next(self._numbers), task, run))
            self._waiting.add(task)
            self._changed.notify()

    def cancel(self, task: str) -> bool:
        """Cancel the task; return whether this call prevented its run."""
        with self._changed:
            waited = task in self._waiting
            self._waiting.discard(task)
            return waited

    def size(self) -> int:
        """Return the number of tasks that wait."""
        with self._changed:
            return len(self._waiting)

    def end(self) -> None:
        """End the thread."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self._thread.join()

    def _serve(self) -> None:
        while (run := self._next()) is not None:
            run()

    def _next(self) -> Callable[[], None] | None:
        with self._changed:
            while not self._ended:
                wait_s = self._due[0][0] - time.monotonic() if self._due else None
                if wait_s is not None and wait_s <= 0:
                    _, _, task, run = heapq.heappop(self._due)
                    if task in self._waiting:
                        self._waiting.discard(task)
                        return run
                else:
                    self._changed.wait(wait_s)
            return None


class Recorder:
    """What happened. The threads share a counter and a list, and no lock that could part them."""

    def __init__(self) -> None:
        self._indexes = itertools.count()
        self.events: list[dict[str, Any]] = []

    def op(self, process: str, kind: str, call: str, value: dict[str, Any]) -> None:
        """Note that a call begins (invoke) or has returned (ok)."""
        # First the clock, then the index: at the moment of the index the clock shows this or more.
        time_ns = time.monotonic_ns()
        line = {"index": next(self._indexes), "process": process, "time_ns": time_ns}
        self.events.append({**line, "type": kind, "f": call, "value": value})


def call(timer: MyTimer, recorder: Recorder, caller: str, step: dict[str, Any]) -> None:
    """Make one call between its two lines."""
    name, args = step["op"], step["args"]
    recorder.op(caller, "invoke", name, args)
    answer: dict[str, Any] = {}
    if name == "add":
        run = functools.partial(recorder.op, "timer", "invoke", "run", {"task": args["task"]})
        timer.add(args["task"], args["delay_ms"], run)
    elif name == "cancel":
        answer["cancelled"] = timer.cancel(args["task"])
    elif name == "size":
        answer["size"] = timer.size()
    recorder.op(caller, "ok", name, answer)


def act(
    timer: MyTimer, recorder: Recorder, caller: str, steps: list[dict[str, Any]], all_come: Any
) -> None:
    """Do what one caller has to do."""
    for step in steps:
        if step["op"] == "meet":
            all_come.wait()
        elif step["op"] == "pause":
            time.sleep(step["args"]["us"] / 1e6)
        else:
            call(timer, recorder, caller, step)


def do_work(config: dict[str, Any], callers: int, work: list[dict[str, Any]]) -> Iterator[object]:
    """Do the work; yield each event, then how it ended."""
    timer, recorder = MyTimer(config), Recorder()
    all_come = threading.Barrier(callers)
    threads: list[threading.Thread] = []
    for number in range(callers):
        # A meeting has no caller: it is everybody's.
        mine = [step for step in work if step.get("caller", number) == number]
        arguments = (timer, recorder, f"c{number}", mine, all_come)
        threads.append(threading.Thread(target=act, args=arguments, daemon=True))
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + QUIET_S
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    stuck = any(thread.is_alive() for thread in threads)
    while not stuck and timer.size() and time.monotonic() < deadline:
        time.sleep(0.005)
    if not stuck:
        timer.end()
    yield from list(recorder.events)
    yield {"quiet": False, "stuck": True} if stuck else {"quiet": True}


def answers(lines: Iterable[str]) -> Iterator[object]:
    """Yield what is printed for each line that is read."""
    config: dict[str, Any] = {}
    work: list[dict[str, Any]] = []
    for line in lines:
        asked = json.loads(line)
        if asked["op"] == "hello":
            yield {"id": asked["id"], "ok": HELLO}
        elif asked["op"] == "reset":
            config, work = asked["config"], []
            yield {"id": asked["id"], "ok": {}}
        elif asked["op"] == "run":
            *events, ending = do_work(config, asked["callers"], work)
            yield from events
            yield {"id": asked["id"], "ok": ending}
        elif asked["op"] == "bye":
            yield {"id": asked["id"], "ok": {}}
            return
        else:
            work.append(asked)


if __name__ == "__main__":
    for answer in answers(sys.stdin):
        print(json.dumps(answer), flush=True)
