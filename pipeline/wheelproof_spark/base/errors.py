"""Errors that end a verb of the pipeline with one sentence."""

import re

from wheelproof_spec.base.errors import WheelproofSpecError


class PipelineError(WheelproofSpecError):
    """A failed job: it committed nothing, and the tables are as they were before."""


def first_line(error: Exception) -> str:
    """Return the message of a Spark error, without the stack traces of Java and Python.

    Spark nests errors; the last one with a message is the reason.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [found[1] for line in lines if (found := _REASON.match(line)) is not None]
    if said:
        return said[-1]
    return lines[0] if lines else type(error).__name__


_REASON = re.compile(r"(?:Caused by: |: )?(?:[a-zA-Z]\w*[.$])*\w*(?:Exception|Error): (.+)")
"""The name of a Java or Python error and its message, at the beginning of a line."""
