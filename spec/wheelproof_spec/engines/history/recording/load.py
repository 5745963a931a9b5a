"""What a load is, and what all of them share."""

import time
from collections.abc import Callable
from typing import Protocol

from wheelproof_spec.base.component import Config
from wheelproof_spec.engines.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.engines.history.recording.load_recorder import LoadRecorder

LATENESS_MS = 1_000
"""How late what is due may be on a busy machine, in milliseconds."""
RECENT = 64
"""How many tasks, or operations, callers remember together."""

_POLL_S = 0.005
_MOST_S = 60


class Load(Protocol):
    """Work for one kind of component; made new for each history."""

    @property
    def config(self) -> Config:
        """What the header of the history says of the configuration."""
        ...

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the component until all is quiet and nothing runs any more."""
        ...


def wait_until_quiet(condition: Callable[[], bool]) -> None:
    """Look again and again, with pauses, until something holds; raises LoadFailedError if never."""
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise LoadFailedError(f"what was loaded has not come to rest within {_MOST_S} s")
        time.sleep(_POLL_S)
