#!/usr/bin/env python3
"""A timer made of a heap, as a driver: the smallest complete adapter (schema wheelproof.driver/1).

It needs only Python's standard library. Deadlines are rounded down to the tick, as in Kafka.
"""

import heapq
import json
import platform
import sys

SCHEMA = "wheelproof.driver/1"


class HeapTimer:
    """The timer under test; times in milliseconds."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        if tick_ms < 1 or wheel_size < 1 or start_ms < 0:
            raise ValueError("tick_ms and wheel_size begin at 1, start_ms at 0")
        self.tick_ms = tick_ms
        self.now_ms = start_ms
        self.adds = 0
        self.add_of_task: dict[str, int] = {}
        self.heap: list[tuple[int, int, str]] = []

    def add(self, task: str, delay_ms: int) -> dict[str, object]:
        """Add the task, and drop an earlier add of it."""
        self.adds += 1
        self.add_of_task[task] = self.adds
        due_ms = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        heapq.heappush(self.heap, (due_ms, self.adds, task))
        return {}

    def cancel(self, task: str) -> dict[str, object]:
        """Cancel the task."""
        return {"cancelled": self.add_of_task.pop(task, None) is not None}

    def advance(self, to_ms: int) -> dict[str, object]:
        """Move the clock and run the due tasks."""
        if to_ms < self.now_ms:
            raise ValueError(f"the clock shows {self.now_ms} ms and cannot go back")
        self.now_ms = to_ms
        fired: list[str] = []
        while self.heap and self.heap[0][0] <= self.now_ms:
            _, number, task = heapq.heappop(self.heap)
            if self.add_of_task.get(task) == number:
                del self.add_of_task[task]
                fired.append(task)
        return {"fired": fired}

    def size(self) -> dict[str, object]:
        """Count the waiting tasks."""
        return {"size": len(self.add_of_task)}


def hello(schema: str) -> dict[str, object]:
    """Return the driver's name, version, components and capabilities."""
    if schema != SCHEMA:
        raise ValueError(f"this driver speaks {SCHEMA}")
    who: dict[str, object] = {"impl": "python-heapq", "version": platform.python_version()}
    capabilities = ["virtual_time", "several_processes"]
    return {**who, "components": ["timer"], "capabilities": capabilities}


def main() -> None:
    """Answer each line of standard input with one line, until `bye` or the end."""
    timer = HeapTimer(1, 20, 0)
    for line in sys.stdin:
        request = json.loads(line)
        operation, answer = request["op"], {"id": request["id"]}
        try:
            if operation == "hello":
                answer["ok"] = hello(request["schema"])
            elif operation == "reset":
                timer, answer["ok"] = HeapTimer(**request["config"]), {}
            elif operation in ("add", "cancel", "advance", "size"):
                answer["ok"] = getattr(timer, operation)(**request.get("args", {}))
            elif operation == "bye":
                answer["ok"] = {}
            else:
                raise ValueError(f"{operation} is no operation")
        except (KeyError, TypeError, ValueError) as error:
            answer["error"] = {"kind": "IllegalArgument", "message": str(error)}
        print(json.dumps(answer), flush=True)
        if operation == "bye":
            return


if __name__ == "__main__":
    main()
