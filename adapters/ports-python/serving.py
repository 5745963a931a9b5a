"""The loop of the protocol wheelproof.driver/1, which the ports in Python share."""

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

Port = TypeVar("Port")
Fields = dict[str, object]
Request = dict[str, Any]
Together = Callable[[Port, list[list[Request]], Callable[[Request, Fields], None]], None]
"""Makes the calls of several callers at the same time, and tells each answer when it comes."""


def serve(
    hello: Fields,
    make: Callable[[dict[str, int]], Port],
    perform: Callable[[Port, str, dict[str, int]], Fields],
    together: "Together[Port] | None" = None,
) -> None:
    """Answer each line of standard input, until `bye` or its end.

    `make` takes the configuration of a reset. `perform` takes what `make` returned, an operation
    and its arguments. An exception is a refusal. `together` gets the requests that have a caller,
    when the one without a caller behind them has come.
    """
    port: Port | None = None
    callers: dict[str, list[Request]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if "caller" in request:
            callers.setdefault(request["caller"], []).append(request)
            continue
        if callers and port is not None and together is not None:
            together(port, list(callers.values()), tell)
            callers.clear()
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


def tell(request: Request, fields: Fields) -> None:
    """Print the answer to a request."""
    print(json.dumps({"id": request["id"], "ok": fields}), flush=True)
