"""Splits TLC's output under ``-tool`` into its messages, in bounded memory.

A message stands between ``@!@!@STARTMSG code:severity @!@!@`` and ``@!@!@ENDMSG code @!@!@``.
Messages nest (an evaluation error inside "evaluating the invariant failed"), a start may follow
text on its line, and the specification's own output stands between messages.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum

from wheelproof_spec.tlc.running.witnesses import REACHED

FRAME_LIMIT = 16 * 1024 * 1024
"""The most characters kept of one message; the rest is dropped and the message marked."""
TAIL_LINES = 40
"""How many of the last lines outside messages are kept, for the report of a crash."""
PRINTED = -1
"""The code of a line outside messages that reports a witness; TLC's own codes are positive."""
_TAIL_LINE_LIMIT = 500

_START = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@")
_END = re.compile(r"@!@!@ENDMSG (\d+) @!@!@")


class Severity(IntEnum):
    """The severity that TLC gives a message."""

    NONE = 0
    ERROR = 1
    BUG = 2
    WARNING = 3
    STATE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One message of TLC; `code` is its number, `text` its lines without the markers.

    ``truncated`` is whether the text was longer than `FRAME_LIMIT`.
    """

    code: int
    severity: int
    text: str
    truncated: bool = False


class FrameReader:
    """Takes TLC's lines one by one and yields each message when it ends.

    A nested message is yielded before the one around it.
    """

    def __init__(self) -> None:
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._open: list[_OpenFrame] = []

    def read(self, lines: Iterable[str]) -> Iterator[Frame]:
        """Yield the messages in `lines`, which need not fit in memory together."""
        for line in lines:
            yield from self._line(line.rstrip("\r\n"))

    def _line(self, line: str) -> Iterator[Frame]:
        start = _START.search(line)
        if start is not None:
            self._text(line[: start.start()])
            self._open.append(_OpenFrame(int(start[1]), int(start[2])))
            return
        end = _END.search(line)
        if not self._open and line.startswith(REACHED):
            yield Frame(code=PRINTED, severity=Severity.NONE, text=line)
            return
        if end is None or not self._open:
            self._text(line)
            return
        self._text(line[: end.start()])
        yield self._open.pop().close()

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].add(text)
        elif text.strip():
            self.tail.append(text[:_TAIL_LINE_LIMIT])


class _OpenFrame:
    def __init__(self, code: int, severity: int) -> None:
        self._code = code
        self._severity = severity
        self._lines: list[str] = []
        self._room = FRAME_LIMIT
        self._truncated = False

    def add(self, text: str) -> None:
        if len(text) >= self._room:
            self._truncated = True
            text = text[: self._room]
        if self._room:
            self._room = max(0, self._room - len(text) - 1)
            self._lines.append(text)

    def close(self) -> Frame:
        return Frame(
            code=self._code,
            severity=self._severity,
            text="\n".join(self._lines).strip("\n"),
            truncated=self._truncated,
        )
