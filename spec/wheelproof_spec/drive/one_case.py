"""A case that somebody wrote or kept, as a failure shows it: one request a line."""

import sys
from collections.abc import Iterable
from pathlib import Path

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.component import Request
from wheelproof_spec.base.errors import InputRejectedError
from wheelproof_spec.base.results.publishing import STANDARD_OUTPUT
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.drive.driver.messages import parse_request

STANDARD_INPUT = STANDARD_OUTPUT
"""The name of the file whose lines come from standard input."""


def read_case(path: Path, wire: DrivenWire[Request, object]) -> tuple[Request, ...]:
    """Return the calls of a case; the ids of its requests do not matter, empty lines are left out.

    Raises InputRejectedError, also for a case that does not begin with a reset.
    """
    remedy = "give the requests of one case, a line each, as a failure shows them"
    calls: list[Request] = []
    for number, line in enumerate(_lines(path, remedy), start=1):
        if not line.strip():
            continue
        try:
            _, operation, content = parse_request(line.strip())
            call = wire.parse_call(operation, content)
        except MalformedError as error:
            raise InputRejectedError(str(path), number, f"the line {error}", remedy) from error
        if not calls and not isinstance(call, Reset):
            problem = "the case does not begin with a reset"
            raise InputRejectedError(str(path), number, problem, remedy)
        calls.append(call)
    if not calls:
        raise InputRejectedError(str(path), None, "there is no request", remedy)
    return tuple(calls)


def _lines(path: Path, remedy: str) -> Iterable[bytes]:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read().splitlines()
    try:
        return path.read_bytes().splitlines()
    except OSError as error:
        problem = f"cannot be read ({error.strerror})"
        raise InputRejectedError(str(path), None, problem, remedy) from error
