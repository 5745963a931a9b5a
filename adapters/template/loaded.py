#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your timer into MyTimer.

    wheelproof load --component timer --driver "python3 loaded.py" --output run.jsonl
    wheelproof check run.jsonl

It reads what each caller has to do, does all of it in a thread for each caller, and then prints
what happened. MyTimer is a heap with one thread until you replace it. For the other components
put this file beside loaded_purgatory.py, loaded_pool.py, loaded_accumulator.py or loaded_broker.py.
"""

import heapq
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar

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


class LoadedTimer:
    """MyTimer, as the load calls it. What you load has the same attributes and methods."""

    HELLO: ClassVar[dict[str, Any]] = {
        "impl": "my-timer",
        "version": "1",
        "components": ["timer"],
        # The calls that it can make; what is not named here is not asked.
        "capabilities": ["add", "cancel", "size"],
        "profiles": {"timer": "never-early"},
    }
    CLAIMS: ClassVar[dict[str, Any]] = {}
    """What the header of a history says besides; see the configuration in docs/formats.md."""

    def __init__(
        self, config: dict[str, Any], recorder: "Recorder", _serving: list[dict[str, Any]]
    ) -> None:
        self._timer = MyTimer(config)
        self._recorder = recorder

    def call(self, caller: str, step: dict[str, Any]) -> None:
        """Make one call between its two lines."""
        name, args = step["op"], step["args"]
        self._recorder.call(caller, name, args, lambda: self._made(name, args, step))

    def _made(self, name: str, args: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
        if name == "cancel":
            return {"cancelled": self._timer.cancel(args["task"])}
        if name == "size":
            return {"size": self._timer.size()}

        def run() -> None:
            self._recorder.op("timer", "invoke", "run", {"task": args["task"]})
            if "lasts_us" in step:
                time.sleep(step["lasts_us"] / 1e6)

        self._timer.add(args["task"], args["delay_ms"], run)
        return {}

    def rests(self) -> bool:
        """Tell whether nothing waits any more; asked when no caller calls any more."""
        return self._timer.size() == 0

    def end(self) -> None:
        """End it."""
        self._timer.end()


class RefusedError(Exception):
    """A call was refused and had no effect; its text is the error that the history tells."""


class Recorder:
    """What happened. The threads share a counter and a list, and no lock that could part them."""

    def __init__(self) -> None:
        self._indexes = itertools.count()
        self.events: list[dict[str, Any]] = []

    def op(
        self, process: str, kind: str, call: str, value: dict[str, Any], **error: object
    ) -> None:
        """Note that a call begins (invoke), has returned (ok), or was refused (fail)."""
        # First the clock, then the index: at the moment of the index the clock shows this or more.
        time_ns = time.monotonic_ns()
        line = {"index": next(self._indexes), "process": process, "time_ns": time_ns}
        self.events.append({**line, "type": kind, "f": call, "value": value, **error})

    def call(
        self,
        process: str,
        name: str,
        value: dict[str, Any],
        perform: Callable[[], dict[str, Any]],
    ) -> None:
        """Perform a call between its two lines; it returns its answer, or raises RefusedError."""
        self.op(process, "invoke", name, value)
        try:
            answer = perform()
        except RefusedError as refusal:
            self.op(process, "fail", name, {}, error=str(refusal))
        else:
            self.op(process, "ok", name, answer)


def act(component: Any, caller: str, steps: list[dict[str, Any]], all_come: Any) -> None:
    """Do what one caller has to do."""
    for step in steps:
        if step["op"] == "meet":
            all_come.wait()
        elif step["op"] == "pause":
            time.sleep(step["args"]["us"] / 1e6)
        else:
            component.call(caller, step)


def do_work(
    make: Any, config: dict[str, Any], callers: int, work: list[dict[str, Any]]
) -> Iterator[object]:
    """Do the work; yield each event, then how it ended."""
    recorder = Recorder()
    # What one more thread does beside the callers is of the caller behind the last one.
    component = make(config, recorder, [step for step in work if step.get("caller") == callers])
    all_come = threading.Barrier(callers)
    threads: list[threading.Thread] = []
    for number in range(callers):
        # A meeting has no caller: it is everybody's.
        mine = [step for step in work if step.get("caller", number) == number]
        arguments = (component, f"c{number}", mine, all_come)
        threads.append(threading.Thread(target=act, args=arguments, daemon=True))
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + QUIET_S
    for thread in threads:
        thread.join(max(0, deadline - time.monotonic()))
    stuck = any(thread.is_alive() for thread in threads)
    while not stuck and not component.rests() and time.monotonic() < deadline:
        time.sleep(0.005)
    if not stuck:
        component.end()
    yield from list(recorder.events)
    yield {"quiet": False, "stuck": True} if stuck else {"quiet": True}


def answers(lines: Iterable[str], make: Any) -> Iterator[object]:
    """Yield what is printed for each line that is read."""
    config: dict[str, Any] = {}
    work: list[dict[str, Any]] = []
    for line in lines:
        asked = json.loads(line)
        if asked["op"] == "hello":
            yield {"id": asked["id"], "ok": make.HELLO}
        elif asked["op"] == "reset":
            config, work = asked["config"], []
            # The times are those of time.monotonic_ns, true to a microsecond.
            claims = {"config": make.CLAIMS, "clock_resolution_ns": 1_000}
            yield {"id": asked["id"], "ok": claims}
        elif asked["op"] == "run":
            *events, ending = do_work(make, config, asked["callers"], work)
            yield from events
            yield {"id": asked["id"], "ok": ending}
        elif asked["op"] == "bye":
            yield {"id": asked["id"], "ok": {}}
            return
        else:
            work.append(asked)


def serve(make: Any) -> None:
    """Answer until the goodbye; `make` is what is loaded, as LoadedTimer is."""
    # Threads change places in the middle of a call, and nobody waits long for his turn.
    sys.setswitchinterval(1e-5)
    for answer in answers(sys.stdin, make):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(LoadedTimer)
