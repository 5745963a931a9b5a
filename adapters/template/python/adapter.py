#!/usr/bin/env python3
"""An adapter to start from: put calls of your own into Mine, at the end, and leave the rest.

    wheelproof conform --driver "python3 adapter.py" --component COMPONENT

Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
`advance` may let time pass: give your implementation a clock that shows what `advance` has set.
Leave out of an answer what yours does not tell. What raises is a refusal. If several threads may
use yours, add "concurrent" to its capabilities, and take a lock in `happened` where it needs one.
"""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

Fields = dict[str, Any]
"""The fields of a JSON object."""


class Happens(Protocol):
    """An implementation that tells what has happened since it was last asked."""

    def happened(self) -> dict[str, object]:
        """Return what has happened."""
        ...


def serve(
    name: str, component: str, profile: str, able: list[str], make: Callable[..., Happens]
) -> None:
    """Answer each line of standard input (schema wheelproof.driver/1), until `bye` or its end.

    `name` has the version behind it. `able` has the capabilities: what is not there is not asked.
    With "concurrent" among them, each caller of a burst has a thread of its own.
    """
    impl, version = name.rsplit(maxsplit=1)
    hello = {
        "impl": impl,
        "version": version,
        "components": [component],
        "capabilities": ["virtual_time", *able],
        "profiles": {component: profile},
    }
    mine: Happens | None = None
    printing = threading.Lock()

    def answer(request: Fields) -> None:
        """Make the call of a request and print what came of it."""
        nonlocal mine
        operation, told = request["op"], None
        error: Exception | None = None
        try:
            if operation == "hello":
                told = hello
            elif operation == "reset":
                mine = make(**request["config"])
            elif operation != "bye":
                told = getattr(mine, operation)(**request.get("args", {}))
        except Exception as raised:  # Within the domain, a refusal counts as a failure.
            error = raised
        with printing:
            reply: Fields = {"id": request["id"]}
            if error is not None:
                reply["error"] = {"kind": type(error).__name__, "message": str(error)}
            elif mine is None or operation in ("hello", "reset", "bye"):
                reply["ok"] = told or {}
            else:
                reply["ok"] = {**(told or {}), **mine.happened()}
            print(json.dumps(reply), flush=True)

    callers: dict[str, list[Fields]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "caller" in request:
            callers.setdefault(request["caller"], []).append(request)
            continue
        # A request without a caller comes behind a burst, and is made when that is over.
        together(answer, callers)
        callers.clear()
        answer(request)
        if request["op"] == "bye":
            return


def together(answer: Callable[[Fields], None], callers: dict[str, list[Fields]]) -> None:
    """Make the calls of several callers at the same time, each on its own thread."""
    start = threading.Barrier(len(callers) or 1)

    def work(requests: list[Fields]) -> None:
        start.wait()
        for request in requests:
            answer(request)

    threads = [threading.Thread(target=work, args=(requests,)) for requests in callers.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
