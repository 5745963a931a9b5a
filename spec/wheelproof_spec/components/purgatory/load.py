"""The load of a purgatory's recordings: which calls it has, and how the reference makes them.

`work` draws the calls from a seed; a program in another language reads them from `wheelproof load`.
`load` has the reference's purgatory make them, for `wheelproof record`.

Callers come to one operation at the same time. In a duel one caller hands an operation in; others
make its predicate true and trigger its key, trigger it with nothing new, force it, or come just
when its time is out.
"""

from dataclasses import replace
from functools import partial
from random import Random

from wheelproof.purgatory import DelayedOperation, DelayedOperationPurgatory
from wheelproof.timer import SystemTimer
from wheelproof_spec.base.calls import NumDelayed, NumKeys, Watched
from wheelproof_spec.base.component import Call, Config
from wheelproof_spec.components.purgatory.component import (
    PREDICATES_TOO,
    CancelForKey,
    CheckAndComplete,
    ForceComplete,
    PurgatoryConfig,
    Satisfy,
    TryCompleteElseWatch,
)
from wheelproof_spec.components.purgatory.port import (
    PurgatoryAnswer,
    PurgatoryPort,
    PurgatoryRequest,
)
from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder, RecordedPort
from wheelproof_spec.history.recording.work import (
    LATENESS_MS,
    RECENT,
    Make,
    Pause,
    Step,
    Work,
    do_work,
    rounds,
    scattered,
    wait_until_quiet,
)

_PURGE_INTERVAL = 100
_KEYS = tuple(f"k{number}" for number in range(12))
_LONGEST_DELAY_MS = 300
_SHORT_MS = 8
_DUELS = 3
_LASTS_ONE_IN = 3
_LASTS_US = 200


class _Draw:
    """What has been drawn of a history so far."""

    def __init__(self, callers: Callers) -> None:
        self._threads = callers.threads
        self._made = 0
        self._satisfied = set[str]()
        self._recent: list[TryCompleteElseWatch | None] = [None] * RECENT

    def round(self, dice: Random) -> list[Step]:
        """Return one round."""
        return dice.choice((self._duels, self._duels, self._scattered))(dice)

    def _duels(self, dice: Random) -> list[Step]:
        """A few operations at which all callers are at once, from the moment of the hand-in."""
        steps: list[Step] = []
        callers = list(range(self._threads))
        for _ in range(_DUELS):
            dice.shuffle(callers)
            out_of_time = dice.randrange(2) == 0
            delay_ms = dice.randrange(1, _SHORT_MS if out_of_time else _LONGEST_DELAY_MS)
            asked = self._operation(dice, delay_ms)
            lasts_us = _LASTS_US if dice.randrange(_LASTS_ONE_IN) == 0 else 0
            steps.append(Make(caller=callers[0], call=asked, lasts_us=lasts_us))
            for place, caller in enumerate(callers[1:]):
                # Spread over what the predicate takes, so that each meets it in another moment.
                wait_us = dice.randrange(2 * _LASTS_US)
                if out_of_time:
                    wait_us += delay_ms * 1_000 - _LASTS_US
                steps.append(Pause(caller=caller, us=wait_us))
                if place == 0:
                    steps.append(self._satisfy(caller, asked.operation))
                if place == 1 and dice.randrange(4) == 0:
                    force = ForceComplete(operation=asked.operation)
                    steps.append(Make(caller=caller, call=force))
                else:
                    check = CheckAndComplete(key=dice.choice(asked.keys))
                    steps.append(Make(caller=caller, call=check))
        return steps

    def _scattered(self, dice: Random) -> list[Step]:
        """Whatever a caller may ask for, now and then; what is left expires."""
        return scattered(dice, self._threads, lambda caller: self._anything(dice, caller))

    def _anything(self, dice: Random, caller: int) -> list[Step]:
        choice, known = dice.randrange(100), dice.choice(self._recent)
        call: Call
        if choice < 45 or known is None:
            call = self._operation(dice, dice.randrange(1, _LONGEST_DELAY_MS))
        elif choice < 80:
            check = Make(caller=caller, call=CheckAndComplete(key=known.keys[0]))
            if known.operation in self._satisfied:
                return [check]
            return [self._satisfy(caller, known.operation), check]
        elif choice < 90:
            call = ForceComplete(operation=known.operation)
        elif choice < 92:
            call = CancelForKey(key=dice.choice(_KEYS))
        else:
            call = dice.choice((Watched(), NumKeys(), NumDelayed()))
        return [Make(caller=caller, call=call)]

    def _satisfy(self, caller: int, operation: str) -> Make:
        self._satisfied.add(operation)
        return Make(caller=caller, call=Satisfy(operation=operation))

    def _operation(self, dice: Random, delay_ms: int) -> TryCompleteElseWatch:
        keys = tuple(dice.sample(_KEYS, dice.randrange(1, 4)))
        name = f"op{self._made}"
        asked = TryCompleteElseWatch(operation=name, delay_ms=delay_ms, keys=keys)
        self._made += 1
        self._recent[dice.randrange(RECENT)] = asked
        return asked


def work(callers: Callers) -> Work:
    """Return the work of one history."""
    dice = Random(f"purgatory {callers.seed} {callers.number}")
    steps = tuple(rounds(callers, dice, partial(_Draw.round, _Draw(callers))))
    config = PurgatoryConfig(
        purge_interval=_PURGE_INTERVAL,
        tick_ms=1,
        lateness_ms=LATENESS_MS,
        predicates="recorded",
    )
    return Work(config=config, steps=steps)


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
        port = PurgatoryPort(self._purgatory, recorder)
        for step in self._work.steps:
            if isinstance(step, Make) and isinstance(step.call, TryCompleteElseWatch):
                # Others may satisfy or complete it while it is handed in.
                port.prepare(step.call, step.lasts_us / 1e6)
        try:
            do_work(self._work, callers, partial(_make, RecordedPort(port, recorder)))
            wait_until_quiet(lambda: self._purgatory.num_delayed() == 0)
        finally:
            self._purgatory.close()


def _make(purgatory: RecordedPort[PurgatoryRequest, PurgatoryAnswer], step: Make) -> None:
    call = step.call
    assert isinstance(call, PurgatoryRequest)
    purgatory.perform(call)


def load(callers: Callers) -> PurgatoryLoad:
    """Return the load of one history."""
    return PurgatoryLoad(callers)
