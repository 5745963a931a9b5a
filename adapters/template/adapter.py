#!/usr/bin/env python3
"""An adapter to start from: put calls of your timer into MyTimer, and leave the rest as it is.

    wheelproof conform --driver "python3 adapter.py"

MyTimer is a complete timer as it is, so your first verdict is a pass. Times are whole
milliseconds. Only `advance` may let time pass: give your timer a clock that shows `now_ms`.
"""

import json
import sys


class MyTimer:
    """Your timer, seen from outside; each test case makes a new one."""

    NAME, VERSION = "my-timer", "0.1"

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        """Make a timer whose clock shows `start_ms`."""
        self.ran: list[str] = []  # Each task appends its name when it runs, in that order.
        self.tick_ms, self.wheel_size, self.now_ms = tick_ms, wheel_size, start_ms
        self.due_ms: dict[str, int] = {}

    def add(self, task: str, delay_ms: int) -> None:
        """Schedule the task in `delay_ms`, and drop an earlier add of the same name."""
        self.due_ms[task] = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms

    def cancel(self, task: str) -> bool | None:
        """Cancel the task; return whether it was waiting, or None if your timer does not tell."""
        return self.due_ms.pop(task, None) is not None

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; return when all due tasks have run."""
        self.now_ms = to_ms
        for task, due_ms in sorted(self.due_ms.items(), key=lambda item: item[1]):
            if due_ms <= to_ms:
                del self.due_ms[task]
                self.ran.append(task)

    def size(self) -> int:
        """Return how many tasks wait; count them here if your timer does not."""
        return len(self.due_ms)


def answer(timer: MyTimer, operation: str, arguments: dict[str, object]) -> dict[str, object]:
    """Perform an operation and return the fields of its answer."""
    told = getattr(timer, operation)(**arguments)
    ran, timer.ran = timer.ran, []
    named = {"cancel": "cancelled", "size": "size"}.get(operation)
    return {"fired": ran} if named is None or told is None else {"fired": ran, named: told}


def main() -> None:
    """Answer each line of standard input (schema wheelproof.driver/1), until `bye` or its end."""
    timer = MyTimer(1, 20, 0)
    for line in sys.stdin:
        request = json.loads(line)
        operation = request["op"]
        reply: dict[str, object] = {"id": request["id"]}
        try:
            if operation == "hello":
                who = {"impl": MyTimer.NAME, "version": MyTimer.VERSION}
                reply["ok"] = {**who, "components": ["timer"], "capabilities": ["virtual_time"]}
            elif operation == "reset":
                timer = MyTimer(**request["config"])
                reply["ok"] = {}
            elif operation in ("add", "cancel", "advance", "size"):
                reply["ok"] = answer(timer, operation, request.get("args", {}))
            else:
                reply["ok"] = {}
        except Exception as error:
            # A refusal. It counts as a failure if the profile allows the request.
            reply["error"] = {"kind": type(error).__name__, "message": str(error)}
        print(json.dumps(reply), flush=True)
        if operation == "bye":
            return


if __name__ == "__main__":
    main()
