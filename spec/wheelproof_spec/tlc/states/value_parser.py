"""Reads TLA+ values and states as TLC prints them.

TLC breaks long values over lines, so white space has no meaning here. The text of values that TLC
has not enumerated (``SUBSET S``, ``[S -> T]``) is refused: a state must be explicit.
"""

import re
from typing import NoReturn

from wheelproof_spec.base.errors import WheelproofSpecError
from wheelproof_spec.tlc.states.values import ModelValue, Value, make_function

INTERVAL_LIMIT = 1_000_000
"""The most elements that an interval may have; a larger one is refused, not enumerated."""

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<name>[0-9]*[A-Za-z_][A-Za-z0-9_!]*)
    | (?P<number>-?[0-9]+)
    | (?P<symbol><<|>>|\|->|:>|@@|\.\.|/\\|[{}\[\](),=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_SHOWN_OF_BAD_INPUT = 60


class ValueSyntaxError(WheelproofSpecError):
    """A text is not a value, or not a state, as TLC prints them."""


def parse_value(text: str) -> Value:
    """Return the value that `text` denotes; raises ValueSyntaxError."""
    reader = _Reader(text)
    value = reader.value()
    reader.end()
    return value


def parse_state(text: str) -> dict[str, Value]:
    r"""Return the variables of a state: ``/\ x = 1 /\ y = 2``, or ``x = 1`` when it has one.

    Raises ValueSyntaxError.
    """
    reader = _Reader(text)
    reader.accept("/\\")
    state: dict[str, Value] = {}
    while True:
        name = reader.name()
        if name in state:
            raise ValueSyntaxError(f"the variable {name} occurs twice in a state")
        reader.expect("=")
        state[name] = reader.value()
        if not reader.accept("/\\"):
            break
    reader.end()
    return state


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._kind: str | None = None
        self._token = ""
        self._advance()

    def _advance(self) -> None:
        match = _TOKEN.match(self._text, self._position)
        if match is None:
            if self._text[self._position :].strip():
                self._fail("an unknown symbol")
            self._kind, self._token = None, ""
            self._position = len(self._text)
            return
        self._kind = match.lastgroup
        self._token = match.group(match.lastgroup or 0)
        self._position = match.end()

    def _fail(self, problem: str) -> NoReturn:
        start = max(0, self._position - len(self._token))
        place = self._text[start : start + _SHOWN_OF_BAD_INPUT].replace("\n", " ").strip()
        raise ValueSyntaxError(f"no TLA+ value: {problem} at {place or 'the end'!r}")

    def accept(self, symbol: str) -> bool:
        if self._kind == "symbol" and self._token == symbol:
            self._advance()
            return True
        return False

    def expect(self, symbol: str) -> None:
        if not self.accept(symbol):
            self._fail(f"{symbol} expected")

    def name(self) -> str:
        if self._kind not in ("name", "number"):
            self._fail("a name expected")
        name = self._token
        self._advance()
        return name

    def end(self) -> None:
        if self._kind is not None:
            self._fail("the end expected")

    def value(self) -> Value:
        kind, token = self._kind, self._token
        if kind is None or (kind == "symbol" and token not in ("{", "<<", "[", "(")):
            self._fail("a value expected")
        self._advance()
        match kind, token:
            case "string", _:
                return _unescape(token)
            case "number", _:
                return self._number(int(token))
            case "name", "TRUE" | "FALSE":
                return token[0] == "T"
            case "name", _:
                return ModelValue(name=token)
            case "symbol", "{":
                return frozenset(self._items("}"))
            case "symbol", "<<":
                return tuple(self._items(">>"))
            case "symbol", "[":
                return self._function("|->", ",", "]")
            case _:
                return self._function(":>", "@@", ")")

    def _number(self, first: int) -> Value:
        if not self.accept(".."):
            return first
        if self._kind != "number":
            self._fail("the end of an interval expected")
        last = int(self._token)
        self._advance()
        if last - first >= INTERVAL_LIMIT:
            self._fail(f"an interval of more than {INTERVAL_LIMIT} elements")
        return frozenset(range(first, last + 1))

    def _items(self, close: str) -> list[Value]:
        items: list[Value] = []
        if self.accept(close):
            return items
        items.append(self.value())
        while not self.accept(close):
            self.expect(",")
            items.append(self.value())
        return items

    def _function(self, arrow: str, separator: str, close: str) -> Value:
        pairs: list[tuple[Value, Value]] = []
        while not pairs or not self.accept(close):
            if pairs:
                self.expect(separator)
            argument = self.name() if arrow == "|->" else self.value()
            self.expect(arrow)
            pairs.append((argument, self.value()))
        try:
            return make_function(pairs)
        except ValueError as error:
            raise ValueSyntaxError(str(error)) from error


def _unescape(token: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), token[1:-1])
