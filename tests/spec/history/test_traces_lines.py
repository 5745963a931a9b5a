"""Lines are parsed strictly; shortcut and explanation agree; nothing ends in a traceback."""

import random

import pytest

from support import seeds
from support.history.damaged_lines import damaged, good_line
from wheelproof_spec.app.recorded import (
    LINES,
    parse_line,
)
from wheelproof_spec.base.codec.writer import format_line
from wheelproof_spec.base.strict_json import MalformedError
from wheelproof_spec.history.line_parser import (
    LINE_LIMIT,
    Rejection,
)
from wheelproof_spec.history.reader import lines_of

SEED = seeds.seed(6)
DAMAGED = 20_000

ADD = (
    b'{"kind":"op","history":"h","index":0,"process":"p","type":"invoke","f":"add",'
    b'"value":{"task":"a","delay_ms":9}}\n'
)


def _explained(line: bytes) -> object:
    try:
        return LINES.explained(line)
    except MalformedError as error:
        return Rejection(str(error))


@pytest.mark.campaign
def test_good_lines_are_accepted_and_written_back() -> None:
    chance = random.Random(SEED)
    for _ in range(2_000):
        line = good_line(chance)
        event = parse_line(line)
        assert not isinstance(event, Rejection), (line, event)
        assert parse_line(format_line(event)) == event


@pytest.mark.campaign
def test_the_shortcut_says_what_the_explanation_says() -> None:
    chance = random.Random(SEED)
    taken = 0
    for _ in range(4_000):
        line = good_line(chance)
        line = damaged(line, chance) if chance.random() < 0.5 else line
        shortcut = LINES.shortcut(line)
        if shortcut is not None:
            taken += 1
            assert shortcut == _explained(line), line
    assert taken > 300


@pytest.mark.campaign
@pytest.mark.slow
def test_damaged_lines_are_accepted_or_rejected_with_a_reason() -> None:
    chance = random.Random(SEED)
    rejected = 0
    for _ in range(DAMAGED):
        event = parse_line(damaged(good_line(chance), chance))
        if isinstance(event, Rejection):
            rejected += 1
            assert event.problem
    assert DAMAGED // 2 < rejected < DAMAGED


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\n", "is empty"),
        (b"\xff\n", "is not UTF-8: byte 0 is wrong"),
        (b"[1]\n", "is no JSON object"),
        (ADD.replace(b'"index":0', b'"index":0,"index":1'), "names a field twice"),
        (ADD.replace(b'"index":0', b'"index" :0,"index":1'), "names a field twice"),
        (
            ADD.replace(b'"delay_ms":9', b'"delay_ms":9.0'),
            "has 'value.delay_ms' that is no integer",
        ),
        (
            ADD.replace(b'"delay_ms":9', b'"delay_ms":true'),
            "has 'value.delay_ms' that is no integer",
        ),
        (ADD.replace(b'"delay_ms":9', b'"delay":9'), "has the unknown field 'value.delay'"),
        (ADD.replace(b',"delay_ms":9', b""), "lacks the field 'value.delay_ms'"),
        (
            ADD.replace(b'"task":"a"', b'"task":""'),
            "has 'value.task' of 0 characters, not 1 to 256",
        ),
        (
            ADD.replace(b'"task":"a"', b'"task":"\\ud800"'),
            "has 'value.task' with half a surrogate pair",
        ),
        (
            ADD.replace(b"invoke", b"call"),
            "has a call 'add' of type 'call', not fail, info, invoke, ok",
        ),
        (ADD.replace(b'"add"', b'"addd"'), "has the unknown call 'addd' (did you mean add?)"),
        (ADD.replace(b'"add"', b'"x"'), "has the unknown call 'x' (known: abort, add, advance"),
        (ADD.replace(b'"op"', b'"oops"'), "has 'kind' 'oops', not header, op, event or end"),
        (b"[" * 100_000 + b"\n", "is not JSON: a number or a nesting is far too long"),
        (
            ADD.replace(b":0,", b":" + b"9" * 5_000 + b","),
            "is not JSON: a number or a nesting is far",
        ),
    ],
)
def test_each_problem_has_its_words(line: bytes, problem: str) -> None:
    event = parse_line(line)
    assert isinstance(event, Rejection)
    assert event.problem.startswith(problem)


class _Endless:
    """A line without an end, of which only so many bytes may ever be asked at once."""

    def __init__(self, size: int) -> None:
        self.left = size
        self.most = 0

    def readline(self, size: int, /) -> bytes:
        self.most = max(self.most, size)
        piece = b"x" * min(size, self.left)
        self.left -= len(piece)
        return piece


def test_a_line_of_a_gigabyte_is_rejected_in_pieces() -> None:
    stream = _Endless(1 << 30)
    assert list(lines_of(stream)) == [Rejection(f"has more than {LINE_LIMIT:,} bytes")]
    assert stream.most <= LINE_LIMIT + 1
