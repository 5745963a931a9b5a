#!/usr/bin/env python3
"""An adapter to start from: put calls of your own into Mine, at the end, and leave the rest.

    wheelproof conform --driver "python3 adapter.py" --component COMPONENT

Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
`advance` may let time pass: give your implementation a clock that shows what `advance` has set.
Leave out of an answer what yours does not tell. What raises is a refusal.
"""

import json
import sys
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
    for line in sys.stdin:
        request = json.loads(line)
        operation = request["op"]
        reply: dict[str, object] = {"id": request["id"]}
        try:
            if operation == "hello":
                reply["ok"] = hello
            elif operation == "reset":
                mine = make(**request["config"])
                reply["ok"] = {}
            elif operation == "bye":
                reply["ok"] = {}
            elif mine is not None:
                told = getattr(mine, operation)(**request.get("args", {}))
                reply["ok"] = {**(told or {}), **mine.happened()}
        except Exception as error:  # Within the domain, a refusal counts as a failure.
            reply["error"] = {"kind": type(error).__name__, "message": str(error)}
        print(json.dumps(reply), flush=True)
        if operation == "bye":
            return
