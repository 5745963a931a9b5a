"""The loop of the protocol wheelproof.driver/1, which the ports in Python share."""

import json
import sys
from collections.abc import Callable
from typing import TypeVar

Port = TypeVar("Port")
Fields = dict[str, object]


def serve(
    hello: Fields,
    make: Callable[[dict[str, int]], Port],
    perform: Callable[[Port, str, dict[str, int]], Fields],
) -> None:
    """Answer each line of standard input, until `bye` or its end.

    `make` takes the configuration of a reset. `perform` takes what `make` returned, an operation
    and its arguments. An exception is a refusal.
    """
    port: Port | None = None
    for line in sys.stdin:
        request = json.loads(line)
        operation = request["op"]
        reply: dict[str, object] = {"id": request["id"], "ok": {}}
        try:
            if operation == "hello":
                reply["ok"] = hello
            elif operation == "reset":
                port = make(request["config"])
            elif port is not None and operation != "bye":
                reply["ok"] = perform(port, operation, request.get("args", {}))
        except Exception as error:
            del reply["ok"]
            reply["error"] = {"kind": type(error).__name__, "message": str(error)}
        print(json.dumps(reply), flush=True)
        if operation == "bye":
            return
