"""Errors that end a verb of the pipeline with one sentence."""

from wheelproof_spec.errors import WheelproofSpecError


class PipelineError(WheelproofSpecError):
    """A job failed; nothing of it was committed, and the tables are what they were before."""
