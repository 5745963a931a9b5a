"""The interface of a load, and what all loads share."""

import time
from collections.abc import Callable
from typing import Protocol

from wheelproof_spec.base.component import Config
from wheelproof_spec.history.recording.callers import Callers, LoadFailedError
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

LATENESS_MS = 1_000
"""How late a due event may be on a busy machine, in milliseconds."""
RECENT = 64
"""How many tasks or operations all callers together remember."""

_POLL_S = 0.005
_MOST_S = 60


class Load(Protocol):
    """The work for one kind of component; each history has a new load."""

    @property
    def config(self) -> Config:
        """The configuration in the header of the history."""
        ...

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the component until it is quiescent and no thread runs any more."""
        ...


MakeLoad = Callable[[Callers], Load]
"""Makes the load of a history."""


def wait_until_quiet(condition: Callable[[], bool]) -> None:
    """Poll until `condition` holds; raises LoadFailedError if it does not within a time limit."""
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise LoadFailedError(f"what was loaded has not come to rest within {_MOST_S} s")
        time.sleep(_POLL_S)
