#!/usr/bin/env python3
"""An adapter to start from: put calls of your timer into MyTimer, and leave the rest as it is.

    wheelproof conform --driver "python3 adapter.py"

MyTimer is a complete timer as it is, so your first verdict is a pass. Times are whole
milliseconds. Only `advance` may let time pass: give your timer a clock that shows `now_ms`.
If several threads may use your timer, add "concurrent" to CAPABILITIES: each caller of a burst then
has a thread of its own. MyTimer has a lock for that.
"""

import json
import sys
import threading
from collections.abc import Iterable
from typing import Any

CAPABILITIES = ["virtual_time"]
PRINTING = threading.Lock()
Request = dict[str, Any]


class MyTimer:
    """Your timer, seen from outside; each test case makes a new one."""

    NAME, VERSION = "my-timer", "0.1"

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        """Make a timer whose clock shows `start_ms`."""
        self.ran: list[str] = []  # Each task appends its name when it runs, in that order.
        self.tick_ms, self.wheel_size, self.now_ms = tick_ms, wheel_size, start_ms
        self.due_ms: dict[str, int] = {}
        self.lock = threading.Lock()

    def add(self, task: str, delay_ms: int) -> None:
        """Schedule the task in `delay_ms`, and drop an earlier add of the same name."""
        with self.lock:
            self.due_ms[task] = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms

    def cancel(self, task: str) -> bool | None:
        """Cancel the task; return whether it was waiting, or None if your timer does not tell."""
        with self.lock:
            return self.due_ms.pop(task, None) is not None

    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; return when all due tasks have run."""
        with self.lock:
            self.now_ms = to_ms
            for task, due_ms in sorted(self.due_ms.items(), key=lambda item: item[1]):
                if due_ms <= to_ms:
                    del self.due_ms[task]
                    self.ran.append(task)

    def size(self) -> int:
        """Return how many tasks wait; count them here if your timer does not."""
        return len(self.due_ms)


def refusal(error: Exception) -> dict[str, str]:
    """Return how a call is refused. That is a failure if the profile allows the request."""
    return {"kind": type(error).__name__, "message": str(error)}


def answer(timer: MyTimer, request: Request) -> None:
    """Make a call and print its answer; what ran since the last answer is taken as it is told."""
    told, error = None, None
    try:
        told = getattr(timer, request["op"])(**request.get("args", {}))
    except Exception as raised:
        error = raised
    with PRINTING:
        if error is not None:
            print(json.dumps({"id": request["id"], "error": refusal(error)}), flush=True)
            return
        ran = timer.ran[:]
        del timer.ran[: len(ran)]
        named = {"cancel": "cancelled", "size": "size"}.get(request["op"])
        more = {} if named is None or told is None else {named: told}
        print(json.dumps({"id": request["id"], "ok": {"fired": ran, **more}}), flush=True)


def together(timer: MyTimer, callers: Iterable[list[Request]]) -> None:
    """Make the calls of several callers at the same time, each on its own thread."""

    def work(requests: list[Request]) -> None:
        start.wait()
        for request in requests:
            answer(timer, request)

    threads = [threading.Thread(target=work, args=(requests,)) for requests in callers]
    start = threading.Barrier(len(threads) or 1)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Answer each line of standard input (schema wheelproof.driver/1), until `bye` or its end."""
    timer = MyTimer(1, 20, 0)
    callers: dict[str, list[Request]] = {}
    for line in sys.stdin:
        request: Request = json.loads(line)
        operation = request["op"]
        if "caller" in request:
            callers.setdefault(request["caller"], []).append(request)
            continue
        # A request without a caller comes behind a burst, and is made when that is over.
        together(timer, callers.values())
        callers.clear()
        if operation in ("add", "cancel", "advance", "size"):
            answer(timer, request)
            continue
        reply: dict[str, object] = {"id": request["id"], "ok": {}}
        try:
            if operation == "hello":
                who = {"impl": MyTimer.NAME, "version": MyTimer.VERSION}
                reply["ok"] = {**who, "components": ["timer"], "capabilities": CAPABILITIES}
            elif operation == "reset":
                timer = MyTimer(**request["config"])
        except Exception as error:
            reply = {"id": request["id"], "error": refusal(error)}
        print(json.dumps(reply), flush=True)
        if operation == "bye":
            return


if __name__ == "__main__":
    main()
