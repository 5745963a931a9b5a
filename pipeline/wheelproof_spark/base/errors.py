"""Errors that end a verb of the pipeline with one sentence."""

import re

from wheelproof_spec.base.errors import WheelproofSpecError


class PipelineError(WheelproofSpecError):
    """A job failed; nothing of it was committed, and the tables are what they were before."""


def first_line(error: Exception) -> str:
    """Return what an error of Spark says, without the traces of two languages.

    Spark wraps errors in errors; the last one with something to say is the reason.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = [found[1] for line in lines if (found := _REASON.match(line)) is not None]
    if said:
        return said[-1]
    return lines[0] if lines else type(error).__name__


_REASON = re.compile(r"(?:Caused by: |: )?(?:[a-zA-Z]\w*[.$])*\w*(?:Exception|Error): (.+)")
"""An error of Java or Python and what it says, at the beginning of a line."""
