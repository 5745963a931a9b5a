"""How the calls of the record accumulator, and what they show, are written on the wire."""

from wheelproof_spec.base.calls import arguments_of, config_of, no_arguments, unknown_operation
from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    as_object,
    boolean,
    choice,
    integer,
    integers,
    objects,
    require_fields,
    text,
    texts,
)
from wheelproof_spec.components.accumulator.calls import (
    Abort,
    AccumulatorCall,
    AccumulatorConfig,
    AccumulatorObservation,
    Advance,
    Append,
    AppendFault,
    CallbackFault,
    Close,
    Drain,
    Expire,
    Fail,
    Flush,
    Interrupt,
    Ready,
    Reset,
    Retry,
    Split,
    Store,
)
from wheelproof_spec.components.accumulator.oracle import (
    Appended,
    AppendOutcome,
    RecordOutcome,
    Told,
)

_CONFIG = (
    "total_memory",
    "batch_size",
    "linger_ms",
    "retry_backoff_ms",
    "retry_backoff_max_ms",
    "delivery_timeout_ms",
    "start_ms",
)
_EVENTS = ("told", "appended", "flushed")


def parse_accumulator_call(operation: str, message: JsonObject) -> AccumulatorCall:
    """Return the call that a request makes; raises MalformedError."""
    match operation:
        case "reset":
            config = config_of(message, *_CONFIG)
            numbers = {name: integer(config, name) for name in _CONFIG}
            return Reset(config=AccumulatorConfig(**numbers))
        case "append":
            return _append(message)
        case "ready":
            given = arguments_of(message, "leaders")["leaders"]
            leaders = as_object(given, "has 'leaders' that is")
            return Ready(leaders={_partition(name): integer(leaders, name) for name in leaders})
        case "drain":
            arguments = arguments_of(message, "node", "partitions", "most")
            return Drain(
                node=integer(arguments, "node"),
                partitions=integers(arguments, "partitions"),
                most=integer(arguments, "most"),
            )
        case "store" | "fail" | "retry" | "split":
            return _response(operation, message)
        case "flush":
            return Flush(flush=text(arguments_of(message, "flush"), "flush"))
        case "interrupt":
            return Interrupt(name=text(arguments_of(message, "name"), "name"))
        case "advance":
            return Advance(to_ms=integer(arguments_of(message, "to_ms"), "to_ms"))
        case _:
            return _bare_call(operation, message)


def accumulator_answer(call: AccumulatorCall, seen: AccumulatorObservation) -> JsonObject:
    """Return the fields that answer `call`."""
    if isinstance(call, Reset):
        return {}
    answer: dict[str, object] = {
        "told": [_told_fields(told) for told in seen.told],
        "appended": [_appended_fields(appended) for appended in seen.appended],
        "flushed": dict(seen.flushed),
    }
    match call:
        case Ready():
            answer["ready_nodes"] = sorted(seen.ready_nodes)
            answer["unknown_leaders"] = seen.unknown_leaders
        case Drain():
            answer["drained"] = [
                {"batch": batch, "records": records} for batch, records in seen.drained.items()
            ]
        case Split():
            answer["children"] = seen.children
        case _:
            pass
    return answer | {name: value for name, value in _gauges(seen).items() if value is not None}


def parse_accumulator_answer(fields: JsonObject, call: AccumulatorCall) -> AccumulatorObservation:
    """Return what an answer of the accumulator shows; raises MalformedError."""
    if isinstance(call, Reset):
        require_fields(fields, ())
        return AccumulatorObservation()
    own = _own_fields(call)
    require_fields(fields, own, (*_EVENTS, *_gauges(AccumulatorObservation())))
    flushed = as_object(fields.get("flushed", {}), "has 'flushed' that is")
    drained = [_drained(batch) for batch in _listed(fields, "drained")]
    if len(dict(drained)) != len(drained):
        raise MalformedError("has 'drained' that names a batch twice")
    return AccumulatorObservation(
        told=tuple(_told(told) for told in _listed(fields, "told")),
        appended=tuple(_appended(appended) for appended in _listed(fields, "appended")),
        flushed={name: boolean(flushed, name) for name in flushed},
        drained=dict(drained),
        ready_nodes=frozenset(integers(fields, "ready_nodes") if "ready_nodes" in own else ()),
        unknown_leaders="unknown_leaders" in own and boolean(fields, "unknown_leaders"),
        children=integer(fields, "children") if "children" in own else 0,
        available=integer(fields, "available") if "available" in fields else None,
        overwritten=texts(fields, "overwritten") if "overwritten" in fields else None,
        undrained=_flag(fields, "undrained"),
        incomplete=_flag(fields, "incomplete"),
        flushing=_flag(fields, "flushing"),
        in_flight_ended=_flag(fields, "in_flight_ended"),
    )


def _gauges(seen: AccumulatorObservation) -> JsonObject:
    return {
        "available": seen.available,
        "undrained": seen.undrained,
        "incomplete": seen.incomplete,
        "flushing": seen.flushing,
        "in_flight_ended": seen.in_flight_ended,
        "overwritten": seen.overwritten,
    }


def _flag(fields: JsonObject, name: str) -> bool | None:
    return boolean(fields, name) if name in fields else None


def _bare_call(operation: str, message: JsonObject) -> Expire | Close | Abort:
    bare: dict[str, type[Expire | Close | Abort]] = {
        "expire": Expire,
        "close": Close,
        "abort": Abort,
    }
    if operation not in bare:
        raise unknown_operation(operation)
    no_arguments(message)
    return bare[operation]()


def _append(message: JsonObject) -> Append:
    arguments = arguments_of(
        message,
        "record",
        "partition",
        "size",
        "timeout_ms",
        optional=("fault", "callback"),
    )
    fault, callback = "fault" in arguments, "callback" in arguments
    return Append(
        record=text(arguments, "record"),
        partition=integer(arguments, "partition"),
        size=integer(arguments, "size"),
        timeout_ms=integer(arguments, "timeout_ms"),
        fault=choice(arguments, "fault", AppendFault) if fault else None,
        callback=choice(arguments, "callback", CallbackFault) if callback else None,
    )


def _response(operation: str, message: JsonObject) -> Store | Fail | Retry | Split:
    names = {"store": ("offset",), "split": ("size",)}.get(operation, ())
    arguments = arguments_of(message, "batch", *names)
    batch = text(arguments, "batch")
    match operation:
        case "store":
            return Store(batch=batch, offset=integer(arguments, "offset"))
        case "split":
            return Split(batch=batch, size=integer(arguments, "size"))
        case "retry":
            return Retry(batch=batch)
        case _:
            return Fail(batch=batch)


def _own_fields(call: AccumulatorCall) -> tuple[str, ...]:
    match call:
        case Ready():
            return "ready_nodes", "unknown_leaders"
        case Drain():
            return ("drained",)
        case Split():
            return ("children",)
        case _:
            return ()


def _listed(fields: JsonObject, name: str) -> tuple[JsonObject, ...]:
    return objects(fields, name) if name in fields else ()


def _partition(name: str) -> int:
    if not (name.isascii() and name.isdecimal()):
        raise MalformedError(f"has 'leaders' with the partition {name!r}, which is no number")
    return int(name)


def _told_fields(told: Told) -> JsonObject:
    fields: JsonObject = {"record": told.record, "outcome": told.outcome.value}
    return fields if told.offset is None else {**fields, "offset": told.offset}


def _told(fields: JsonObject) -> Told:
    require_fields(fields, ("record", "outcome"), ("offset",))
    return Told(
        text(fields, "record"),
        choice(fields, "outcome", RecordOutcome),
        integer(fields, "offset") if "offset" in fields else None,
    )


def _appended_fields(appended: Appended) -> JsonObject:
    fields: JsonObject = {"record": appended.record, "outcome": appended.outcome.value}
    if appended.outcome is not AppendOutcome.ACCEPTED:
        return fields
    return {**fields, "full": appended.full, "new_batch": appended.new_batch}


def _appended(fields: JsonObject) -> Appended:
    require_fields(fields, ("record", "outcome"), ("full", "new_batch"))
    record, outcome = text(fields, "record"), choice(fields, "outcome", AppendOutcome)
    if outcome is not AppendOutcome.ACCEPTED:
        require_fields(fields, ("record", "outcome"))
        return Appended(record, outcome)
    require_fields(fields, ("record", "outcome", "full", "new_batch"))
    return Appended(record, outcome, boolean(fields, "full"), boolean(fields, "new_batch"))


def _drained(fields: JsonObject) -> tuple[str, tuple[str, ...]]:
    require_fields(fields, ("batch", "records"))
    return text(fields, "batch"), texts(fields, "records")
