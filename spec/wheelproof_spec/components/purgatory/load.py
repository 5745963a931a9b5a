"""Callers that hand in operations, trigger keys, complete by force; the rest expires."""

import random
from itertools import count

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.codec.definitions import CountAnswer
from wheelproof_spec.components.purgatory.events import (
    CancelledAnswer,
    CheckedAnswer,
    CompletedAnswer,
    KeyAsked,
    OperationAsked,
    PurgatorySettings,
    WatchAsked,
)
from wheelproof_spec.engines.history.recording.callers import Callers
from wheelproof_spec.engines.history.recording.load import LATENESS_MS, RECENT, wait_until_quiet
from wheelproof_spec.engines.history.recording.load_recorder import NOTHING, LoadRecorder

_PURGE_INTERVAL = 100
_TICK_MS = 1
_KEYS = tuple(f"k{number}" for number in range(12))
_LONGEST_DELAY_MS = 300


class _Operation(DelayedOperation):
    """An operation whose predicate holds from the moment that a caller satisfies it."""

    __slots__ = ("asked", "claimed", "holds", "keys", "recorder")

    def __init__(
        self, name: str, delay_ms: int, keys: tuple[str, ...], recorder: LoadRecorder
    ) -> None:
        super().__init__(delay_ms)
        self.asked = OperationAsked(op=name)
        self.keys = keys
        self.recorder = recorder
        self.claimed = count()
        self.holds = False

    def satisfy(self) -> None:
        """Make the predicate true."""
        self.holds = True

    def try_complete(self) -> bool:
        """Test the predicate."""
        self.recorder.begins("try_complete", self.asked)
        done = self.holds and self.force_complete()
        self.recorder.ends("try_complete")
        return done

    def on_complete(self) -> None:
        """Take note of it."""
        self.recorder.begins("on_complete", self.asked)
        self.recorder.ends("on_complete")

    def on_expiration(self) -> None:
        """Take note of it."""
        self.recorder.begins("on_expiration", self.asked)


class PurgatoryLoad:
    """A purgatory with its reaper, over a SystemTimer."""

    def __init__(self) -> None:
        self._purgatory = DelayedOperationPurgatory[_Operation](
            "load", SystemTimer("load", tick_ms=_TICK_MS), purge_interval=_PURGE_INTERVAL
        )
        self._names = count()
        self._recent: list[_Operation | None] = [None] * RECENT

    @property
    def config(self) -> PurgatorySettings:
        """The settings of the purgatory, and what it claims."""
        return PurgatorySettings(
            purge_interval=_PURGE_INTERVAL,
            tick_ms=_TICK_MS,
            lateness_ms=LATENESS_MS,
            predicates="recorded",
            attempts="exclusive",
            timeouts="end_with_operation",
            cancels="operation",
        )

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        """Use the purgatory until everything is completed, has expired or is cancelled."""
        try:
            callers.act(lambda dice, _: self._act(recorder, dice))
            wait_until_quiet(lambda: self._purgatory.num_delayed() == 0)
        finally:
            self._purgatory.shutdown()

    def _act(self, recorder: LoadRecorder, dice: random.Random) -> None:
        choice, known, purgatory = dice.randrange(100), dice.choice(self._recent), self._purgatory
        if choice < 45 or known is None:
            self._hand_in(recorder, dice)
        elif choice < 80:
            self._trigger(recorder, known)
        elif choice < 90:
            recorder.call(
                "force_complete",
                known.asked,
                lambda: CompletedAnswer(completed=known.force_complete()),
            )
        elif choice < 92:
            key = dice.choice(_KEYS)
            recorder.call(
                "cancel_for_key", KeyAsked(key=key), lambda: _cancelled(self._purgatory, key)
            )
        elif choice < 96:
            recorder.call("watched", NOTHING, lambda: CountAnswer(count=purgatory.watched()))
        else:
            recorder.call(
                "num_delayed", NOTHING, lambda: CountAnswer(count=purgatory.num_delayed())
            )

    def _hand_in(self, recorder: LoadRecorder, dice: random.Random) -> None:
        keys = tuple(dice.sample(_KEYS, dice.randrange(1, 4)))
        delay_ms = dice.randrange(1, _LONGEST_DELAY_MS)
        operation = _Operation(f"op{next(self._names)}", delay_ms, keys, recorder)
        # Published first: others may complete it while it is being handed in.
        self._recent[dice.randrange(RECENT)] = operation
        recorder.call(
            "try_complete_else_watch",
            WatchAsked(op=operation.asked.op, keys=keys, delay_ms=delay_ms),
            lambda: CompletedAnswer(
                completed=self._purgatory.try_complete_else_watch(operation, keys)
            ),
        )

    def _trigger(self, recorder: LoadRecorder, known: _Operation) -> None:
        """Make the predicate true, once, and then try the operations of one of its keys."""
        if next(known.claimed) == 0:
            recorder.do("satisfy", known.asked, known.satisfy)
        key = known.keys[0]
        recorder.call(
            "check_and_complete",
            KeyAsked(key=key),
            lambda: CheckedAnswer(count=self._purgatory.check_and_complete(key)),
        )


def _cancelled(purgatory: DelayedOperationPurgatory[_Operation], key: str) -> CancelledAnswer:
    operations = purgatory.cancel_for_key(key)
    names = tuple(operation.asked.op for operation in operations)
    return CancelledAnswer(count=len(names), ops=names)
