#!/usr/bin/env python3
"""An adapter to start from: put calls of your own into Mine, at the end, and leave the rest.

    wheelproof conform --driver "python3 adapter.py" --component COMPONENT

Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
`advance` may let time pass: give your implementation a clock that shows what `advance` has set.
Leave out of an answer what yours does not tell. What raises is a refusal. If several threads may
use yours, put "concurrent" into its capabilities: then each caller has a thread of its own, and
`alone` is its lock.
"""

import json
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

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
    With "concurrent" among them, the callers of a burst call at the same time.
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
    printing = threading.Condition()
    busy = 0  # The callers that can go on.
    # An allocation that has not ended, and what its caller asks then.
    open_calls: dict[str, list[Fields]] = {}

    def perform(request: Fields) -> Fields:
        nonlocal mine
        operation = request["op"]
        if operation == "hello":
            return hello
        if operation == "reset":
            mine = make(**request["config"])
            open_calls.clear()
        if mine is None or operation in ("reset", "bye"):
            return {}
        told: Fields | None = getattr(mine, operation)(**request.get("args", {}))
        return told or {}

    def answer(request: Fields, asks: list[Fields]) -> bool:
        """Make the call of a request and print what came of it; tell whether its caller goes on.

        `asks` is what its caller asks, this request first.
        """
        operation, name = request["op"], request.get("args", {}).get("buffer", "")
        waits = bool(asks) and operation == "allocate"
        if waits:
            with printing:
                open_calls[name] = asks
        try:
            told = perform(request)
        except Exception as error:  # Within the domain, a refusal counts as a failure.
            with printing:
                open_calls.pop(name, None)
                tell(request, error={"kind": type(error).__name__, "message": str(error)})
            return True
        with printing:
            if mine is not None and operation not in ("hello", "reset", "bye"):
                happened: Fields = mine.happened()
                end(happened.get("ended", {}))
                told = {**told, **happened}
            if not waits:
                tell(request, ok=told)
        return not waits

    def end(ended: Fields) -> None:
        """Answer the allocations of callers that have ended, which a pool tells; those go on."""
        nonlocal busy
        for name in ended.keys() & open_calls.keys():
            first, *more = open_calls.pop(name)
            tell(first, ok={"ended": {name: ended.pop(name)}})
            busy += 1
            threading.Thread(target=work, args=(more,)).start()

    def tell(request: Fields, **outcome: Fields) -> None:
        print(json.dumps({"id": request["id"], **outcome}), flush=True)

    def work(asks: list[Fields]) -> None:
        """Make the calls of one caller, one after the other."""
        nonlocal busy
        all(answer(request, asks[place:]) for place, request in enumerate(asks))
        with printing:
            busy -= 1
            printing.notify_all()

    def together(programs: list[list[Fields]]) -> None:
        """Make the calls of several callers at the same time, until none of them can go on."""
        nonlocal busy
        start = threading.Barrier(len(programs) or 1)

        def begin(asks: list[Fields]) -> None:
            start.wait()
            work(asks)

        with printing:
            busy += len(programs)
        for asks in programs:
            threading.Thread(target=begin, args=(asks,)).start()
        with printing:
            printing.wait_for(lambda: not busy)

    callers: dict[str, list[Fields]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "caller" in request:
            callers.setdefault(request["caller"], []).append(request)
            continue
        # A request without a caller comes behind a burst, and is made when that is over.
        together(list(callers.values()))
        callers.clear()
        answer(request, [])
        if request["op"] == "bye":
            return


Told = TypeVar("Told")
ALONE = threading.RLock()


def alone(method: Callable[..., Told]) -> Callable[..., Told]:
    """Let one thread at a time into the methods of Mine; leave it out if yours has its own lock."""

    def locked(*args: object, **kwargs: object) -> Told:
        with ALONE:
            return method(*args, **kwargs)

    return locked
