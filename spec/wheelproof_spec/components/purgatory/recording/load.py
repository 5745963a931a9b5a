"""Callers that hand in operations, trigger keys, complete by force; the rest expires."""

import random
from dataclasses import replace
from itertools import count

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import SystemTimer
from wheelproof_spec.components.purgatory.component import PREDICATES_TOO, PurgatoryConfig
from wheelproof_spec.components.purgatory.recording.calls import RecordedCalls, RecordedOperation
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import LATENESS_MS, RECENT, wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

_PURGE_INTERVAL = 100
_TICK_MS = 1
_KEYS = tuple(f"k{number}" for number in range(12))
_LONGEST_DELAY_MS = 300


class _Operation(RecordedOperation):
    """An operation that only one caller satisfies."""

    __slots__ = ("claimed",)

    def __init__(
        self, name: str, delay_ms: int, keys: tuple[str, ...], recorder: LoadRecorder
    ) -> None:
        super().__init__(name, delay_ms, keys, recorder)
        self.claimed = count()


class PurgatoryLoad:
    """A purgatory with its reaper, over a SystemTimer."""

    def __init__(self) -> None:
        self._purgatory = DelayedOperationPurgatory[DelayedOperation](
            "load", SystemTimer("load", tick_ms=_TICK_MS), purge_interval=_PURGE_INTERVAL
        )
        self._names = count()
        self._recent: list[_Operation | None] = [None] * RECENT

    @property
    def config(self) -> PurgatoryConfig:
        """The settings of the purgatory, and what it claims."""
        return replace(
            PREDICATES_TOO,
            purge_interval=_PURGE_INTERVAL,
            tick_ms=_TICK_MS,
            lateness_ms=LATENESS_MS,
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the purgatory until everything is completed, has expired or is cancelled."""
        calls = RecordedCalls(self._purgatory, recorder)
        try:
            callers.act(lambda dice, _: self._act(calls, recorder, dice))
            wait_until_quiet(lambda: self._purgatory.num_delayed() == 0)
        finally:
            self._purgatory.close()

    def _act(self, calls: RecordedCalls, recorder: LoadRecorder, dice: random.Random) -> None:
        choice, known = dice.randrange(100), dice.choice(self._recent)
        if choice < 45 or known is None:
            calls.hand_in(self._operation(recorder, dice))
        elif choice < 80:
            if next(known.claimed) == 0:
                known.satisfy()
            calls.check(known.keys[0])
        elif choice < 90:
            known.force()
        elif choice < 92:
            calls.cancel(dice.choice(_KEYS))
        elif choice < 95:
            calls.watched()
        elif choice < 97:
            calls.num_keys()
        else:
            calls.num_delayed()

    def _operation(self, recorder: LoadRecorder, dice: random.Random) -> _Operation:
        """Return a new operation; other threads may complete it while it is handed in."""
        keys = tuple(dice.sample(_KEYS, dice.randrange(1, 4)))
        delay_ms = dice.randrange(1, _LONGEST_DELAY_MS)
        operation = _Operation(f"op{next(self._names)}", delay_ms, keys, recorder)
        self._recent[dice.randrange(RECENT)] = operation
        return operation


def load(callers: Callers) -> PurgatoryLoad:
    """Return the load of one history."""
    del callers
    return PurgatoryLoad()
