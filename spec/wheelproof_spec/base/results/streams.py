"""Standard input, output and error, which may be closed, full, or no match for every character."""

import io
import os
import sys
from typing import TextIO

from wheelproof_spec.base.errors import UnwritableError


def make_streams_safe() -> None:
    """Put nothing in the place of streams that are closed; write strange characters as escapes."""
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
    """Return that standard output cannot be written; what still comes goes nowhere.

    Otherwise Python would try again when it ends, and end with a message of its own. Whoever closes
    a pipe, as `head` does, has all that was wanted: this is no error, and None.
    """
    _send_nowhere(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return None
    return UnwritableError("standard output", error.strerror or str(error))


def flush_output() -> UnwritableError | None:
    """Write what is left for both streams; return what is against the output, if anything is."""
    try:
        sys.stderr.flush()
    except OSError:
        # Nobody is left to be told.
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
        # A stream without a file has nothing to be tried again.
        pass


def _nothing(mode: str) -> io.TextIOWrapper:
    raw = io.FileIO(os.devnull, mode)
    return io.TextIOWrapper(
        io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw), encoding="utf-8"
    )
