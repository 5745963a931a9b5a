"""Long histories for the linearizability check: porcupine's, and generated ones of their shape."""

import random
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from wheelproof_spec.history.linearizability.calls import (
    Event,
    Failed,
    Invoked,
    Lost,
    Returned,
)
from wheelproof_spec.history.linearizability.model import Sequential
from wheelproof_spec.history.linearizability.models import (
    CompareAndSet,
    Do,
    Read,
    RegisterOperation,
    Write,
)

_ETCD = re.compile(r"^INFO\s+jepsen\.util - (\d+)\s+:(\w+)\s+:(\w+)\s+(.*)$", re.MULTILINE)
_KV = re.compile(r'\{:process (\d+), :type :(\w+), :f :(\w+), :key "(.*)", :value (?:nil|"(.*)")\}')


def etcd_log(text: str) -> list[Event[RegisterOperation, Hashable]]:
    """Return a log of reads, writes and compare-and-sets of one register of etcd."""
    events: list[Event[RegisterOperation, Hashable]] = []
    for process, kind, name, rest in _ETCD.findall(text):
        values = [int(digits) for digits in re.findall(r"\d+", rest)]
        match kind, name:
            case "invoke", "read":
                events.append(Invoked(process, Read()))
            case "invoke", "write":
                events.append(Invoked(process, Write(values[0])))
            case "invoke", _:
                events.append(Invoked(process, CompareAndSet(values[0], values[1])))
            case "ok", "read":
                events.append(Returned(process, values[0] if values else None))
            case "fail", "read":
                events.append(Failed(process))
            case "info", _:
                events.append(Lost(process))
            case _, "cas":
                events.append(Returned(process, kind == "ok"))
            case _:
                events.append(Returned(process, None))
    return events


def kv_log(text: str) -> list[Event[Do, Hashable]]:
    """Return a log of gets, puts and appends by many clients of a store."""
    return [
        Invoked(process, Do(f, value, key))
        if kind == "invoke"
        else Returned(process, value if f == "get" else None)
        for process, kind, f, key, value in _KV.findall(text)
    ]


@dataclass(slots=True)
class Workload:
    """Clients that call one object, whose effects come somewhere within their calls.

    With `spoilt` the last value that somebody got is replaced by one that nobody has written.
    """

    model: Sequential[Any, Do, Hashable]
    draw: Callable[[random.Random, int], Do]
    clients: int
    calls: int
    lost: float = 0.02
    spoilt: bool = False
    _states: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])

    def history(self, seed: int) -> list[Event[Do, Hashable]]:
        """Return a history; without `spoilt` it is linearizable."""
        draws, events = random.Random(seed), list[Event[Do, Hashable]]()
        self._states.clear()
        # A client: nothing under way, a call without its effect, or an answer that has to return.
        idle = [f"p{number}" for number in range(self.clients)]
        asked: list[tuple[str, Do]] = []
        answers: list[tuple[str, Hashable]] = []
        number = 0
        while number < self.calls or asked or answers:
            choices = [kind for kind, some in (("a", asked), ("r", answers)) if some]
            if number < self.calls and idle:
                choices += ["i"] * 2
            match draws.choice(choices):
                case "i":
                    process = idle.pop(draws.randrange(len(idle)))
                    asked.append((process, self.draw(draws, number)))
                    events.append(Invoked(*asked[-1]))
                    number += 1
                case "a":
                    process, operation = asked.pop(draws.randrange(len(asked)))
                    if draws.random() < self.lost:
                        events.append(Lost(process))
                        idle.append(process)
                        if draws.random() < 0.5:
                            continue
                        self._take(operation)
                    else:
                        answers.append((process, self._take(operation)))
                case _:
                    process, answer = answers.pop(draws.randrange(len(answers)))
                    events.append(Returned(process, answer))
                    idle.append(process)
        return self._spoil(events) if self.spoilt else events

    def _take(self, operation: Do) -> Hashable:
        before = self._states.get(operation.name, self.model.initial_state())
        self._states[operation.name], answer = self.model.apply(before, operation)
        return answer

    def _spoil(self, events: list[Event[Do, Hashable]]) -> list[Event[Do, Hashable]]:
        last = max(
            place
            for place, event in enumerate(events)
            if isinstance(event, Returned) and event.result not in (None, True, False)
        )
        return [*events[:last], Returned(events[last].process, "from nowhere"), *events[last + 1 :]]


def keys_and_values(keys: int) -> Callable[[random.Random, int], Do]:
    """Draw gets and appends, each of its own text, of so many keys."""

    def draw(draws: random.Random, number: int) -> Do:
        key = str(draws.randrange(keys))
        return Do("get", None, key) if draws.random() < 0.5 else Do("append", f"{number}.", key)

    return draw


def one_of(*operations: Do) -> Callable[[random.Random, int], Do]:
    """Draw one of these."""
    return lambda draws, _: draws.choice(operations)
