"""A timer whose bursts behave as named: `burst_timer.py BEHAVIOUR`. Without a burst it is right.

A burst is made when the request behind it comes, so all of its calls overlap, and what happens is
the same in every run. It knows nothing of the project.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any

Fields = dict[str, Any]
FOREVER_S = 10_000


class Timer:
    """A timer that is right, by the profile kafka."""

    def __init__(self, config: Mapping[str, int]) -> None:
        self.tick_ms, self.now_ms = config["tick_ms"], config["start_ms"]
        self.due_ms: dict[str, int] = {}
        self.ran: list[str] = []

    def add(self, task: str, delay_ms: int) -> Fields:
        self.due_ms[task] = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        return {}

    def cancel(self, task: str) -> Fields:
        return {"cancelled": self.due_ms.pop(task, None) is not None}

    def advance(self, to_ms: int) -> Fields:
        self.now_ms = to_ms
        for task, due_ms in sorted(self.due_ms.items(), key=lambda item: item[1]):
            if due_ms <= to_ms:
                del self.due_ms[task]
                self.ran.append(task)
        return {}

    def size(self) -> Fields:
        return {"size": len(self.due_ms)}

    def perform(self, request: Fields) -> Fields:
        call: Callable[..., Fields] = getattr(self, request["op"])
        return call(**request.get("args", {}))

    def told(self) -> Fields:
        ran, self.ran = self.ran, []
        return {"fired": ran}


def say(number: object, fields: Fields) -> None:
    print(json.dumps({"id": number, "ok": fields}), flush=True)


def programs(burst: list[Fields]) -> list[list[Fields]]:
    """Return the calls of each caller."""
    found: dict[str, list[Fields]] = {}
    for request in burst:
        found.setdefault(request["caller"], []).append(request)
    return list(found.values())


def made(timer: Timer, requests: list[Fields]) -> list[tuple[Fields, Fields]]:
    return [(request, timer.perform(request)) for request in requests]


def answer(timer: Timer, answers: list[tuple[Fields, Fields]]) -> None:
    for request, fields in answers:
        say(request["id"], {**timer.told(), **fields})


def rounds(burst: list[Fields]) -> list[list[Fields]]:
    """Return the first calls of all callers, then the second calls, and so on."""
    found = zip_longest(*programs(burst))
    return [[one for one in together if one is not None] for together in found]


def in_order(timer: Timer, burst: list[Fields]) -> None:
    for request in burst:
        answer(timer, made(timer, [request]))


def reversed_callers(timer: Timer, burst: list[Fields]) -> None:
    """The calls of a round are made before the first of them is answered, the last one first."""
    for together in rounds(burst):
        answer(timer, list(reversed(made(timer, together))))


def lost_add(timer: Timer, burst: list[Fields]) -> None:
    """Of two adds at the same time the second is lost, as if both wrote one list."""
    for together in rounds(burst):
        adds = [request for request in together if request["op"] == "add"]
        answer(timer, [(one, {} if one in adds[1:] else timer.perform(one)) for one in together])


def runs_twice(timer: Timer, burst: list[Fields]) -> None:
    """What is due when two callers meet is run by both."""
    for together in rounds(burst):
        done = made(timer, together)
        timer.ran *= min(len(together), 2)
        answer(timer, done)


def early(timer: Timer, burst: list[Fields]) -> None:
    """What waits when two callers meet runs at once."""
    for together in rounds(burst):
        done = made(timer, together)
        if len(together) > 1:
            timer.ran += sorted(timer.due_ms)
            timer.due_ms.clear()
        answer(timer, done)


def both_cancel(timer: Timer, burst: list[Fields]) -> None:
    """Of two callers that cancel a task both are told that they prevented its run."""
    for together in rounds(burst):
        waited = set(timer.due_ms)
        done = made(timer, together)
        for request, fields in done:
            if "cancelled" in fields:
                fields["cancelled"] = fields["cancelled"] or request["args"]["task"] in waited
        answer(timer, done)


def drops(timer: Timer, burst: list[Fields]) -> None:
    answer(timer, made(timer, burst)[1:])


def hangs(timer: Timer, burst: list[Fields]) -> None:
    del timer, burst
    time.sleep(FOREVER_S)


def dies(timer: Timer, burst: list[Fields]) -> None:
    del timer, burst
    sys.exit(3)


def swaps(timer: Timer, burst: list[Fields]) -> None:
    """One caller's answers come in the wrong order."""
    answer(timer, list(reversed(made(timer, burst))))


def invents(timer: Timer, burst: list[Fields]) -> None:
    in_order(timer, burst)
    say(10_000_000, timer.told())


def refuses(timer: Timer, burst: list[Fields]) -> None:
    del timer
    for request in burst:
        error = {"kind": "Busy", "message": "somebody else calls"}
        print(json.dumps({"id": request["id"], "error": error}), flush=True)


def main() -> None:
    behaviour: Callable[[Timer, list[Fields]], None] = globals()[sys.argv[1]]
    capabilities = ["virtual_time", "concurrent"]
    timer, burst = Timer({"tick_ms": 1, "start_ms": 0}), list[Fields]()
    for line in sys.stdin:
        request: Fields = json.loads(line)
        if "caller" in request:
            burst.append(request)
            continue
        if burst:
            behaviour(timer, burst)
            burst = []
        match request["op"]:
            case "hello":
                who = {"impl": "bursts", "version": "1", "components": ["timer"]}
                say(request["id"], {**who, "capabilities": capabilities})
            case "reset":
                timer = Timer(request["config"])
                say(request["id"], {})
            case "bye":
                say(request["id"], {})
                return
            case _:
                fields = timer.perform(request)
                say(request["id"], {**timer.told(), **fields})


if __name__ == "__main__":
    main()
