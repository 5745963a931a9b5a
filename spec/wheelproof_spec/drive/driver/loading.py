"""A program that does the work of a load in threads of its own, and records what happened.

After `hello` and `reset`, as in the driver protocol, come the lines of the work, which nobody
answers, then `run`. Only then the program starts its threads: while they call, nothing is read or
written, so that no pipe keeps apart two calls that would have met. Then it prints an event a line,
in any order, and answers.

    > {"id":1,"op":"hello","schema":"wheelproof.load/1"}
    < {"id":1,"ok":{"impl":"my-timer","version":"1","components":["timer"],"capabilities":["add"]}}
    > {"id":2,"op":"reset","component":"timer","config":{"tick_ms":1,"wheel_size":20,"start_ms":0}}
    < {"id":2,"ok":{}}
    > {"op":"meet"}
    > {"caller":0,"op":"add","args":{"task":"t0","delay_ms":9}}
    > {"caller":1,"op":"pause","args":{"us":700}}
    > {"id":3,"op":"run","callers":2}
    < {"index":0,"process":"c0","type":"invoke","f":"add","value":{...},"time_ns":12}
    < {"id":3,"ok":{"quiet":true}}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.bounds import outside
from wheelproof_spec.base.codec.vocabulary import Wire
from wheelproof_spec.base.codec.writer import plain_fields
from wheelproof_spec.base.component import Config
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.base.history.lines import HISTORY
from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    as_object,
    format_object,
    integer,
    require_fields,
)
from wheelproof_spec.drive.driver.messages import Hello, Introduction, parse_introduction
from wheelproof_spec.drive.driver.session import DriverSession
from wheelproof_spec.history.recording.work import Make, Step, Work

SCHEMA = "wheelproof.load/1"

_EVENT = ("index", "process", "type", "f", "value", "time_ns")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """The work is complete: do it."""

    callers: int

    def name_on_the_wire(self) -> str:
        return "run"

    def fields(self) -> Mapping[str, object]:
        return {"callers": self.callers}


class LoadedProgram:
    """A program that is loaded; it may do the work of several histories, one after the other."""

    def __init__(self, session: DriverSession, component: str) -> None:
        """Let it introduce itself. Raises UsageError if it does not have the component."""
        self._session = session
        self._component = component
        self.introduction: Introduction = session.ask(Hello(schema=SCHEMA), parse_introduction)
        if component not in self.introduction.components:
            known = ", ".join(self.introduction.components) or "none"
            raise UsageError(f"the program does not have the component {component}; it has {known}")

    def can_make(self, step: Step) -> bool:
        """Tell whether the program can be asked for this step, by its capabilities and bounds."""
        if not isinstance(step, Make):
            return True
        bounds = self.introduction.bounds.get(self._component, {})
        return step.capability in self.introduction.capabilities and not outside(
            bounds, (step.call,)
        )

    def record(self, stream: BinaryIO, history: str, callers: int, work: Work) -> int:
        """Let it do the work, write its history, and return the number of events.

        Raises DriverFailedError if it fails, UsageError if it can make no call of the work.
        """
        steps = [step for step in (*work.steps, *work.serving) if self.can_make(step)]
        if not any(isinstance(step, Make) for step in steps):
            raise UsageError(
                "the program names no call of the load among its capabilities; there are "
                + ", ".join(sorted({s.capability for s in work.steps if isinstance(s, Make)}))
            )
        said = self._session.ask(Reset(config=work.config), _parse_claims)
        lines = b"".join(format_object(step.line()) for step in steps)
        events: list[JsonObject] = []

        def take(event: JsonObject) -> None:
            error = ("error",) if "error" in event else ()
            require_fields(event, (*_EVENT, *error))
            integer(event, "index")
            events.append(event)

        ending = self._session.collect(lines, _Run(callers=callers), take, _parse_ending)
        events.sort(key=lambda event: integer(event, "index"))
        stream.write(format_object(self._header(history, work.config, said)))
        for event in events:
            stream.write(format_object({"kind": "op", "history": history, **event}))
        stream.write(
            format_object({"kind": "end", "history": history, "ops": len(events), **ending})
        )
        return len(events)

    def _header(self, history: str, config: Config, said: JsonObject) -> JsonObject:
        """Return the header; what the program has said goes before what the work knows."""
        said_first = self.introduction
        profile = said_first.profiles.get(self._component)
        claims = as_object(said.get("config", {}), "")
        resolution = "clock_resolution_ns"
        return {
            "schema": HISTORY,
            "kind": "header",
            "history": history,
            "component": self._component,
            "impl": {
                "name": self.introduction.implementation,
                "version": self.introduction.version,
            },
            "config": {**plain_fields(config, Wire.RECORDED), **claims},
            "clock": "monotonic_ns",
            **({} if profile is None else {"profile": profile}),
            **({resolution: said[resolution]} if resolution in said else {}),
        }


def _parse_claims(fields: JsonObject) -> JsonObject:
    """Return the answer to `reset`: what the program adds to the header."""
    known = ("config", "clock_resolution_ns")
    require_fields(fields, tuple(name for name in known if name in fields))
    as_object(fields.get("config", {}), "has 'config' that is")
    return fields


def _parse_ending(fields: JsonObject) -> JsonObject:
    """Return the answer to `run`: what the end of the history says."""
    stuck = ("stuck",) if "stuck" in fields else ()
    require_fields(fields, ("quiet", *stuck))
    if not all(isinstance(value, bool) for value in fields.values()):
        raise MalformedError("has 'quiet' or 'stuck' that is neither true nor false")
    return fields
