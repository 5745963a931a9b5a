"""The reference's purgatory under the work that every purgatory is given."""

import time
from dataclasses import replace
from functools import partial

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.calls import NumDelayed, NumKeys, Watched
from wheelproof_spec.base.component import Config
from wheelproof_spec.components.purgatory.component import (
    PREDICATES_TOO,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryConfig,
    Satisfy,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.recording.calls import RecordedCalls, RecordedOperation
from wheelproof_spec.components.purgatory.recording.work import work
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load import wait_until_quiet
from wheelproof_spec.history.recording.load_recorder import LoadRecorder
from wheelproof_spec.history.recording.work import Make, do_work


class _Operation(RecordedOperation):
    """An operation whose callbacks take a while."""

    __slots__ = ("_lasts_s",)

    def __init__(self, asked: TryCompleteElseWatch, lasts_us: int, recorder: LoadRecorder) -> None:
        super().__init__(asked.operation, asked.delay_ms, asked.keys, recorder)
        self._lasts_s = lasts_us / 1e6

    def linger(self) -> None:
        """Let others come to this operation meanwhile."""
        if self._lasts_s:
            time.sleep(self._lasts_s)


class PurgatoryLoad:
    """A purgatory with its reaper, over a SystemTimer."""

    def __init__(self, callers: Callers) -> None:
        self._work = work(callers)
        assert isinstance(self._work.config, PurgatoryConfig)
        self._settings = self._work.config
        self._purgatory = DelayedOperationPurgatory[DelayedOperation](
            "load",
            SystemTimer("load", tick_ms=self._settings.tick_ms),
            purge_interval=self._settings.purge_interval,
        )
        self._operations: dict[str, _Operation] = {}

    @property
    def config(self) -> Config:
        """The settings of the purgatory, and what it claims."""
        return replace(
            PREDICATES_TOO,
            tick_ms=self._settings.tick_ms,
            purge_interval=self._settings.purge_interval,
            lateness_ms=self._settings.lateness_ms,
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the purgatory until everything is completed, has expired or is cancelled."""
        for step in self._work.steps:
            if isinstance(step, Make) and isinstance(step.call, TryCompleteElseWatch):
                # Made first: others may satisfy or complete it while it is handed in.
                operation = _Operation(step.call, step.lasts_us, recorder)
                self._operations[step.call.operation] = operation
        calls = RecordedCalls(self._purgatory, recorder)
        try:
            do_work(self._work, callers, partial(self._make, calls))
            wait_until_quiet(lambda: self._purgatory.num_delayed() == 0)
        finally:
            self._purgatory.close()

    def _make(self, calls: RecordedCalls, step: Make) -> None:
        match step.call:
            case TryCompleteElseWatch(operation=name):
                calls.hand_in(self._operations[name])
            case Satisfy(operation=name):
                self._operations[name].satisfy()
            case ForceComplete(operation=name):
                self._operations[name].force()
            case CheckAndComplete(key=key):
                calls.check(key)
            case CancelForKey(key=key):
                calls.cancel(key)
            case Watched():
                calls.watched()
            case NumKeys():
                calls.num_keys()
            case _:
                assert isinstance(step.call, NumDelayed)
                calls.num_delayed()


def load(callers: Callers) -> PurgatoryLoad:
    """Return the load of one history."""
    return PurgatoryLoad(callers)
