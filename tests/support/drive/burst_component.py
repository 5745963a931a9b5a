"""A component whose bursts behave as named; without a burst it is right.

`burst_component.py timer BEHAVIOUR`, or `purgatory`.

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


class Purgatory:
    """A purgatory that is right, and gives up what is cancelled."""

    def __init__(self, config: Mapping[str, int]) -> None:
        self.tick_ms, self.now_ms = config["tick_ms"], config["start_ms"]
        self.true = set[str]()
        self.waiting: dict[str, Fields] = {}
        self.completed: list[str] = []
        self.expired: list[str] = []

    def try_complete_else_watch(
        self, operation: str, delay_ms: int, keys: list[str], conditions: list[str]
    ) -> Fields:
        due_ms = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        one = {"keys": keys, "conditions": conditions, "due_ms": due_ms}
        self.waiting[operation] = one
        done = self.can_end(operation) and self.complete(operation)
        if due_ms <= self.now_ms and not done:
            self.advance(self.now_ms)
        return {"completed": done}

    def set_condition(self, condition: str) -> Fields:
        self.true.add(condition)
        return {}

    def check_and_complete(self, key: str) -> Fields:
        return {"count": sum(self.can_end(one) and self.complete(one) for one in self.under(key))}

    def force_complete(self, operation: str) -> Fields:
        return {"completed": self.complete(operation)}

    def cancel_for_key(self, key: str) -> Fields:
        cancelled = self.under(key)
        for name in cancelled:
            del self.waiting[name]
        return {"cancelled": cancelled}

    def advance(self, to_ms: int) -> Fields:
        self.now_ms = to_ms
        for name, one in sorted(self.waiting.items(), key=lambda item: item[1]["due_ms"]):
            if one["due_ms"] <= to_ms:
                self.complete(name)
                self.expired.append(name)
        return {}

    def ask_gauges(self) -> Fields:
        return {"num_delayed": len(self.waiting)}

    def under(self, key: str) -> list[str]:
        return [name for name, one in self.waiting.items() if key in one["keys"]]

    def can_end(self, name: str) -> bool:
        return not self.true.isdisjoint(self.waiting[name]["conditions"])

    def complete(self, name: str) -> bool:
        if self.waiting.pop(name, None) is None:
            return False
        self.completed.append(name)
        return True

    def perform(self, request: Fields) -> Fields:
        call: Callable[..., Fields] = getattr(self, request["op"])
        return call(**request.get("args", {}))

    def told(self) -> Fields:
        told = {"on_complete": self.completed, "on_expiration": self.expired}
        self.completed, self.expired = [], []
        return told


AnyOf = Timer | Purgatory


def say(number: object, fields: Fields) -> None:
    print(json.dumps({"id": number, "ok": fields}), flush=True)


def programs(burst: list[Fields]) -> list[list[Fields]]:
    """Return the calls of each caller."""
    found: dict[str, list[Fields]] = {}
    for request in burst:
        found.setdefault(request["caller"], []).append(request)
    return list(found.values())


def made(timer: AnyOf, requests: list[Fields]) -> list[tuple[Fields, Fields]]:
    return [(request, timer.perform(request)) for request in requests]


def answer(timer: AnyOf, answers: list[tuple[Fields, Fields]]) -> None:
    for request, fields in answers:
        say(request["id"], {**timer.told(), **fields})


def rounds(burst: list[Fields]) -> list[list[Fields]]:
    """Return the first calls of all callers, then the second calls, and so on."""
    found = zip_longest(*programs(burst))
    return [[one for one in together if one is not None] for together in found]


def in_order(timer: AnyOf, burst: list[Fields]) -> None:
    for request in burst:
        answer(timer, made(timer, [request]))


def reversed_callers(timer: AnyOf, burst: list[Fields]) -> None:
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


def one_by_one(timer: AnyOf, burst: list[Fields]) -> None:
    """The caller that was asked last makes all of its calls before another one begins."""
    for requests in reversed(programs(burst)):
        in_order(timer, requests)


def completes_twice(purgatory: Purgatory, burst: list[Fields]) -> None:
    """To look whether an operation waits is one step, to complete it another: all look first."""
    for together in rounds(burst):
        waited, ended, done = dict(purgatory.waiting), set[str](), list[tuple[Fields, Fields]]()
        for request in together:
            purgatory.waiting = {**waited, **purgatory.waiting}
            done += made(purgatory, [request])
            ended |= waited.keys() - purgatory.waiting.keys()
        for name in ended:
            purgatory.waiting.pop(name, None)
        answer(purgatory, done)


def no_second_try(purgatory: Purgatory, burst: list[Fields]) -> None:
    """An operation is tried, and watched when all others have called: what they trigger is lost."""
    handed_in = [one for one in burst if one["op"] == "try_complete_else_watch"]
    done = made(purgatory, handed_in)
    names = [one["args"]["operation"] for one in handed_in]
    watched_later = {name: purgatory.waiting.pop(name, None) for name in names}
    in_order(purgatory, [one for one in burst if one not in handed_in])
    purgatory.waiting |= {name: one for name, one in watched_later.items() if one is not None}
    answer(purgatory, done)


def both_force(purgatory: Purgatory, burst: list[Fields]) -> None:
    """Of two callers that force an operation both are told that they completed it."""
    for together in rounds(burst):
        waited = set(purgatory.waiting)
        done = made(purgatory, together)
        for request, fields in done:
            if request["op"] == "force_complete":
                fields["completed"] |= request["args"]["operation"] in waited
        answer(purgatory, done)


def no_expiry(purgatory: Purgatory, burst: list[Fields]) -> None:
    """What is due when an advance meets others is dropped, and never expires."""
    for together in rounds(burst):
        meets = len(together) > 1 and any(one["op"] == "advance" for one in together)
        done = made(purgatory, together)
        if meets:
            dropped, purgatory.expired = purgatory.expired, []
            purgatory.completed = [one for one in purgatory.completed if one not in dropped]
        answer(purgatory, done)


def drops(timer: AnyOf, burst: list[Fields]) -> None:
    answer(timer, made(timer, burst)[1:])


def hangs(timer: AnyOf, burst: list[Fields]) -> None:
    del timer, burst
    time.sleep(FOREVER_S)


def dies(timer: AnyOf, burst: list[Fields]) -> None:
    del timer, burst
    sys.exit(3)


def swaps(timer: AnyOf, burst: list[Fields]) -> None:
    """One caller's answers come in the wrong order."""
    answer(timer, list(reversed(made(timer, burst))))


def invents(timer: AnyOf, burst: list[Fields]) -> None:
    in_order(timer, burst)
    say(10_000_000, timer.told())


def refuses(timer: AnyOf, burst: list[Fields]) -> None:
    del timer
    for request in burst:
        error = {"kind": "Busy", "message": "somebody else calls"}
        print(json.dumps({"id": request["id"], "error": error}), flush=True)


def main() -> None:
    component = sys.argv[1]
    make: Callable[[Mapping[str, int]], AnyOf] = Timer if component == "timer" else Purgatory
    behaviour: Callable[[AnyOf, list[Fields]], None] = globals()[sys.argv[2]]
    capabilities = ["virtual_time", "concurrent", "cancel_for_key"]
    called, burst = make({"tick_ms": 1, "start_ms": 0}), list[Fields]()
    for line in sys.stdin:
        request: Fields = json.loads(line)
        if "caller" in request:
            burst.append(request)
            continue
        if burst:
            behaviour(called, burst)
            burst = []
        match request["op"]:
            case "hello":
                who = {"impl": "bursts", "version": "1", "components": [component]}
                say(request["id"], {**who, "capabilities": capabilities})
            case "reset":
                called = make(request["config"])
                say(request["id"], {})
            case "bye":
                say(request["id"], {})
                return
            case _:
                fields = called.perform(request)
                say(request["id"], {**called.told(), **fields})


if __name__ == "__main__":
    main()
