#!/usr/bin/env python3
"""A program that `wheelproof load` gives its work: put your purgatory into MyPurgatory.

    wheelproof load --component purgatory --driver "python3 loaded_purgatory.py" --output run.jsonl
    wheelproof check run.jsonl

MyPurgatory has a lock for each operation, until you replace it.
"""

import threading
import time
from typing import Any, ClassVar

from loaded import MyTimer, Recorder, serve


class Operation:
    """An operation; its predicate holds from the moment that a caller satisfies it."""

    def __init__(self, name: str, lasts_us: int, recorder: Recorder) -> None:
        self.name, self._recorder, self._lasts_s = name, recorder, lasts_us / 1e6
        self.lock = threading.RLock()
        self.holds = self.done = False

    def try_complete(self, process: str) -> bool:
        """Complete the operation if its predicate holds; called with the lock."""
        self._recorder.op(process, "invoke", "try_complete", {"operation": self.name})
        found = self.holds
        # Where a predicate is tested, callbacks take their time after it was read.
        self._linger()
        completed = found and self.complete(process)
        self._recorder.op(process, "ok", "try_complete", {})
        return completed

    def complete(self, process: str) -> bool:
        """Complete the operation, if nobody has; called with the lock."""
        if self.done:
            return False
        self.done = True
        self._recorder.op(process, "invoke", "on_complete", {"operation": self.name})
        self._linger()
        self._recorder.op(process, "ok", "on_complete", {})
        return True

    def _linger(self) -> None:
        if self._lasts_s:
            time.sleep(self._lasts_s)

    def expire(self) -> None:
        """Complete the operation, since its time is out."""
        with self.lock:
            if self.complete("timer"):
                self._recorder.op("timer", "invoke", "on_expiration", {"operation": self.name})


class MyPurgatory:
    """Your purgatory."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.timer = MyTimer(config)
        self._lists = threading.Lock()
        self._watched: dict[str, list[Operation]] = {}

    def try_complete_else_watch(
        self, process: str, operation: Operation, keys: list[str], delay_ms: int
    ) -> bool:
        """Tell whether this call has completed the operation; if nobody has, it waits."""
        with operation.lock:
            if operation.try_complete(process):
                return True
        with self._lists:
            for key in keys:
                self._watched.setdefault(key, []).append(operation)
        with operation.lock:
            # Once more: what came before the watch has found nobody to wake.
            if operation.done:
                return False
            if operation.try_complete(process):
                return True
        self.timer.add(operation.name, delay_ms, operation.expire)
        if operation.done:
            self.timer.cancel(operation.name)
        return False

    def check_and_complete(self, process: str, key: str) -> int:
        """Return how many operations of the key this call has completed."""
        with self._lists:
            waiting = list(self._watched.get(key, ()))
        completed = 0
        for operation in waiting:
            with operation.lock:
                if not operation.done and operation.try_complete(process):
                    completed += 1
                    self.timer.cancel(operation.name)
        with self._lists:
            left = [one for one in self._watched.get(key, ()) if not one.done]
            self._watched[key] = left
        return completed


class LoadedPurgatory:
    """MyPurgatory, as the load calls it."""

    HELLO: ClassVar[dict[str, Any]] = {
        "impl": "my-purgatory",
        "version": "1",
        "components": ["purgatory"],
        "capabilities": [
            "try_complete_else_watch",
            "satisfy",
            "force_complete",
            "check_and_complete",
        ],
        "profiles": {"purgatory": "kafka"},
    }
    CLAIMS: ClassVar[dict[str, Any]] = {"attempts": "exclusive", "triggers": "complete"}

    def __init__(
        self, config: dict[str, Any], recorder: Recorder, _serving: list[dict[str, Any]]
    ) -> None:
        self._purgatory = MyPurgatory(config)
        self._recorder = recorder
        self._operations: dict[str, Operation] = {}

    def call(self, caller: str, step: dict[str, Any]) -> None:
        """Make one call between its two lines."""
        name, args = step["op"], step["args"]
        if name == "try_complete_else_watch":
            operation = Operation(args["operation"], step.get("lasts_us", 0), self._recorder)
        elif name == "check_and_complete":
            operation = None
        else:
            operation = self._operations.get(args["operation"])
            if operation is None:
                return  # It has not been handed in yet.
        self._recorder.call(caller, name, args, lambda: self._made(caller, name, args, operation))

    def _made(
        self, caller: str, name: str, args: dict[str, Any], operation: Operation | None
    ) -> dict[str, Any]:
        if operation is None:
            return {"count": self._purgatory.check_and_complete(caller, args["key"])}
        if name == "try_complete_else_watch":
            # Known within the call: others may complete it while it is handed in.
            self._operations[operation.name] = operation
            watch = self._purgatory.try_complete_else_watch
            return {"completed": watch(caller, operation, args["keys"], args["delay_ms"])}
        if name == "satisfy":
            operation.holds = True
            return {}
        with operation.lock:
            completed = operation.complete(caller)
        self._purgatory.timer.cancel(operation.name)
        return {"completed": completed}

    def rests(self) -> bool:
        """Tell whether nothing waits any more."""
        return self._purgatory.timer.size() == 0

    def end(self) -> None:
        """End the timer's thread."""
        self._purgatory.timer.end()


if __name__ == "__main__":
    serve(LoadedPurgatory)
