"""Serving a timer as a driver: the other end of `driver_session`, for implementations in Python."""

from typing import BinaryIO

from wheelproof_spec.conformance.driver_messages import (
    SCHEMA,
    TIMER,
    VIRTUAL_TIME,
    Add,
    Advance,
    Bye,
    Cancel,
    Hello,
    Introduction,
    Refusal,
    Request,
    Reset,
    Size,
    format_done,
    format_introduction,
    format_refusal,
    format_timer_answer,
    parse_request,
)
from wheelproof_spec.conformance.strict_json import MalformedError
from wheelproof_spec.conformance.timer_port import RefusedError, TimerPort
from wheelproof_spec.errors import InputRejectedError


def serve_timer(
    port: TimerPort, *, implementation: str, version: str, requests: BinaryIO, answers: BinaryIO
) -> None:
    """Answer the requests to `port` until `bye` or the end of the requests.

    Raises InputRejectedError at a line that is no request.
    """
    introduction = Introduction(
        implementation=implementation,
        version=version,
        components=(TIMER,),
        capabilities=(VIRTUAL_TIME,),
    )
    for place, line in enumerate(requests, start=1):
        try:
            number, request = parse_request(line)
        except MalformedError as error:
            raise InputRejectedError(
                "requests", place, f"the line {error}", f"follow the schema {SCHEMA}"
            ) from error
        answers.write(_answer(port, introduction, number, request))
        answers.flush()
        if isinstance(request, Bye):
            return


def _answer(port: TimerPort, introduction: Introduction, number: int, request: Request) -> bytes:
    try:
        match request:
            case Hello(schema=schema):
                _require_known("UnsupportedSchema", schema, SCHEMA)
                return format_introduction(number, introduction)
            case Reset(component=component, config=config):
                _require_known("UnsupportedComponent", component, TIMER)
                port.reset(config)
                return format_done(number)
            case Add(task=task, delay_ms=delay_ms):
                return format_timer_answer(number, port.add(task, delay_ms))
            case Cancel(task=task):
                return format_timer_answer(number, port.cancel(task))
            case Advance(to_ms=to_ms):
                return format_timer_answer(number, port.advance(to_ms))
            case Size():
                return format_timer_answer(number, port.size())
            case Bye():
                return format_done(number)
    except RefusedError as refusal:
        return format_refusal(number, Refusal(kind=refusal.kind, message=refusal.message))


def _require_known(kind: str, asked: str, known: str) -> None:
    if asked != known:
        raise RefusedError(kind, f"{asked!r} is not known here, {known!r} is")
