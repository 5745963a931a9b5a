"""The messages of the driver protocol: what is written is read back, all else is refused."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelproof_spec.base.calls import Advance, Reset
from wheelproof_spec.base.codec.driven import DrivenWire
from wheelproof_spec.base.strict_json import MalformedError, parse_object
from wheelproof_spec.components.timer.component import (
    DEFINITION,
    Add,
    Cancel,
    Size,
    TimerCall,
    TimerConfig,
    TimerObservation,
)
from wheelproof_spec.drive.driver.messages import (
    Hello,
    Introduction,
    Refusal,
    format_answer,
    format_introduction,
    format_refusal,
    format_request,
    parse_answer,
    parse_done,
    parse_hello,
    parse_introduction,
    parse_request,
)

pytestmark = pytest.mark.slow

_WIRE = DrivenWire(DEFINITION)

names = st.text(min_size=1, max_size=20)
numbers = st.integers(-(2**62) + 1, 2**62 - 1)
positive = st.integers(1, 2**62)
configs = st.builds(TimerConfig, tick_ms=positive, wheel_size=positive, start_ms=numbers)
calls: st.SearchStrategy[TimerCall] = st.one_of(
    st.builds(Reset, config=configs),
    st.builds(Add, task=names, delay_ms=numbers),
    st.builds(Cancel, task=names),
    st.builds(Advance, to_ms=numbers),
    st.just(Size()),
)
fired = st.lists(names).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(number=numbers, call=calls)
def test_a_call_is_read_back(number: int, call: TimerCall) -> None:
    assert _read_call(format_request(number, call)) == (number, call)


@given(number=numbers, schema=names)
def test_a_greeting_is_read_back(number: int, schema: str) -> None:
    hello = Hello(schema=schema)
    found, operation, fields = parse_request(format_request(number, hello))
    assert (found, operation, parse_hello(fields)) == (number, "hello", hello)


@given(number=numbers, seen=st.builds(TimerObservation, fired=fired))
def test_what_ran_is_read_back(number: int, seen: TimerObservation) -> None:
    assert _read_timer(_answer(number, Advance(to_ms=1), seen), number, Advance(to_ms=1)) == seen


@given(
    seen=st.builds(TimerObservation, fired=fired, cancelled=st.booleans()),
)
def test_the_answer_to_a_cancel_is_read_back(seen: TimerObservation) -> None:
    assert _read_timer(_answer(1, Cancel(task="a"), seen), 1, Cancel(task="a")) == seen


@given(seen=st.builds(TimerObservation, fired=fired, size=numbers))
def test_the_answer_to_size_is_read_back(seen: TimerObservation) -> None:
    assert _read_timer(_answer(1, Size(), seen), 1, Size()) == seen


@given(
    introduction=st.builds(
        Introduction,
        implementation=names,
        version=names,
        components=fired,
        capabilities=fired,
        profiles=st.dictionaries(names, names, max_size=2),
    )
)
def test_an_introduction_is_read_back(introduction: Introduction) -> None:
    fields = parse_answer(format_introduction(1, introduction), 1)
    assert not isinstance(fields, Refusal)
    assert parse_introduction(fields) == introduction


@given(refusal=st.builds(Refusal, kind=names, message=names))
def test_a_refusal_is_read_back(refusal: Refusal) -> None:
    assert parse_answer(format_refusal(7, refusal), 7) == refusal


def test_an_absent_field_means_not_observed() -> None:
    assert _read_timer(format_answer(1, {}), 1, Cancel(task="a")) == TimerObservation()


@given(line=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(line: bytes) -> None:
    with contextlib.suppress(MalformedError):
        assert isinstance(parse_object(line), dict)


@given(value=json_values)
def test_any_json_is_a_request_or_refused(value: object) -> None:
    _refused_or_read(json.dumps(value).encode())


@given(call=calls, field=st.sampled_from(["id", "op", "args", "config"]), value=json_values)
def test_a_request_with_one_field_changed_is_read_or_refused(
    call: TimerCall, field: str, value: object
) -> None:
    message = dict(parse_object(format_request(1, call)))
    message[field] = value
    _refused_or_read(json.dumps(message).encode())


def _refused_or_read(line: bytes) -> None:
    try:
        number, call = _read_call(line)
    except MalformedError:
        return
    assert _read_call(format_request(number, call)) == (number, call)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "is not JSON"),
        (b"[1]", "is no JSON object"),
        (b'{"id":1,"ok":{}', "is not JSON"),
        (b'{"id":1,"ok":{}} x', "is not JSON"),
        (b'{"id":1,"ok":NaN}', "is not JSON: NaN is no number"),
        (b'{"id":1,"ok":' + b"[" * 100_000, "a nesting is far too long"),
        (b'{"id":' + b"9" * 10_000 + b',"ok":{}}', "a number or"),
        (b'{"id":1,"ok":{"fired":["\xc3"]}}', "is not UTF-8: byte 24"),
        (b'{"id":1,"id":1,"ok":{}}', "names a field twice"),
        (b'{"id":1}', "lacks the field 'ok'"),
        (b'{"ok":{}}', "lacks the field 'id'"),
        (b'{"id":1,"ok":{},"x":1}', "has the unknown field 'x'"),
        (b'{"id":1,"ok":{},"error":{}}', "has the unknown field 'ok'"),
        (b'{"id":true,"ok":{}}', "has 'id' that is no integer"),
        (b'{"id":1.0,"ok":{}}', "has 'id' that is no integer"),
        (b'{"id":2,"ok":{}}', "carries the id 2 where 1 is due: it is out of order"),
        (b'{"id":1,"ok":null}', "has 'ok' that is no JSON object"),
        (b'{"id":1,"ok":{"fired":null}}', "has 'fired' that is not a list"),
        (b'{"id":1,"ok":{"fired":[1]}}', r"has 'fired\[0\]' that is no string"),
        (b'{"id":1,"ok":{"fired":["\\ud800"]}}', "half a surrogate pair"),
        (b'{"id":1,"ok":{"cancelled":1}}', "neither true nor false"),
        (b'{"id":1,"ok":{"size":1}}', "has the unknown field 'size'"),
        (b'{"id":1,"error":"no"}', "has 'error' that is no JSON object"),
        (b'{"id":1,"error":{"kind":"K"}}', "lacks the field 'message'"),
    ],
)
def test_a_line_that_is_no_answer_is_refused_in_words(line: bytes, problem: str) -> None:
    with pytest.raises(MalformedError, match=problem.replace("(", r"\(")):
        _read_timer(line, 1, Cancel(task="a"))


def test_a_timer_that_does_not_count_need_not_tell_its_size() -> None:
    assert _read_timer(format_answer(1, {}), 1, Size()) == TimerObservation()


@pytest.mark.parametrize("operation", ["sizes", "Size", ""])
def test_an_unknown_operation_is_refused(operation: str) -> None:
    known = r"\(known: add, advance, cancel, reset, size\)"
    with pytest.raises(MalformedError, match=f"the unknown operation '{operation}' {known}"):
        _read_call(json.dumps({"id": 1, "op": operation}).encode())


def test_the_answers_to_reset_and_bye_are_empty() -> None:
    with pytest.raises(MalformedError, match="unknown field 'fired'"):
        parse_done({"fired": []})
    with pytest.raises(MalformedError, match="unknown field 'fired'"):
        _WIRE.parse_answer({"fired": []}, Reset(config=TimerConfig()))


def _read_timer(line: bytes, number: int, call: TimerCall) -> TimerObservation:
    fields = parse_answer(line, number)
    assert not isinstance(fields, Refusal)
    return _WIRE.parse_answer(fields, call)


def _read_call(line: bytes) -> tuple[int, TimerCall]:
    number, operation, fields = parse_request(line)
    return number, _WIRE.parse_call(operation, fields)


def _answer(number: int, call: TimerCall, seen: TimerObservation) -> bytes:
    return format_answer(number, _WIRE.answer(call, seen))
