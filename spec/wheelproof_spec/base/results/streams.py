"""Standard input, output and error, which may be closed, full, or unable to encode a character."""

import io
import os
import sys
from typing import TextIO

from wheelproof_spec.base.errors import UnwritableError


def make_streams_safe() -> None:
    """Replace closed streams by the null device; write characters as escapes if necessary."""
    if sys.stdin is None:
        sys.stdin = _nothing("r")
    if sys.stdout is None:
        sys.stdout = _nothing("w")
    if sys.stderr is None:
        sys.stderr = _nothing("w")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def lost_output(error: OSError) -> UnwritableError | None:
    """Return the error of a standard output that cannot be written; discard later output.

    Otherwise Python would try again when it ends, and print a message of its own. A reader that
    closes the pipe, as `head` does, has all that it wanted: this is no error, and None.
    """
    _send_nowhere(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return None
    return UnwritableError("standard output", error.strerror or str(error))


def flush_output() -> UnwritableError | None:
    """Flush both streams; return the error of standard output, if any."""
    try:
        sys.stderr.flush()
    except OSError:
        # No stream is left for an error message.
        _send_nowhere(sys.stderr)
    try:
        sys.stdout.flush()
    except OSError as error:
        return lost_output(error)
    return None


def _send_nowhere(stream: TextIO) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        # A stream without a file is not written again at the end.
        pass


def _nothing(mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(os.devnull, mode)
    return io.TextIOWrapper(
        io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw), encoding="utf-8"
    )
