"""What a load is, and what all of them share."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from wheelproof.errors import IllegalArgumentError, WheelproofError
from wheelproof.producer import BufferExhaustedError, ProducerClosedError
from wheelproof_spec.engines.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.engines.history.recording.load_recorder import LoadRecorder

LATENESS_MS = 1_000
"""How late what is due may be on a busy machine, in milliseconds."""
RECENT = 64
"""How many tasks, or operations, callers remember together."""

_POLL_S = 0.005
_MOST_S = 60
_REFUSALS: Mapping[type[Exception], str] = {
    BufferExhaustedError: "Exhausted",
    ProducerClosedError: "Closed",
    IllegalArgumentError: "IllegalArgument",
}


class Load(Protocol):
    """Work for one kind of component; made new for each history."""

    @property
    def config(self) -> object:
        """What the header of the history says of the configuration."""
        ...

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the component until all is quiet and nothing runs any more."""
        ...


def refusal_of(error: Exception) -> str | None:
    """Return the error of a history for an exception that refuses a call."""
    if not isinstance(error, WheelproofError):
        return None
    return next((name for cls, name in _REFUSALS.items() if isinstance(error, cls)), None)


def wait_until_quiet(condition: Callable[[], bool]) -> None:
    """Look again and again, with pauses, until something holds; raises LoadFailedError if never."""
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise LoadFailedError(f"what was loaded has not come to rest within {_MOST_S} s")
        time.sleep(_POLL_S)
