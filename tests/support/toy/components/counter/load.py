"""Callers that count."""

import random

from wheelproof_spec.history.recording.callers import Callers
from wheelproof_spec.history.recording.load_recorder import LoadRecorder

from .component import (
    CounterConfig,
    Increment,
    Incremented,
    Look,
    Value,
)
from .reference import BoundedCounter


class CounterLoad:
    def __init__(self) -> None:
        self._counter = BoundedCounter(self.config.bound)

    @property
    def config(self) -> CounterConfig:
        return CounterConfig(bound=50)

    def run(self, recorder: LoadRecorder, callers: Callers) -> None:
        counter = self._counter

        def act(dice: random.Random, caller: int) -> None:
            del caller
            if dice.randrange(3):
                recorder.call(Increment(), lambda: Incremented(counted=counter.increment()))
            else:
                recorder.call(Look(), lambda: Value(value=counter.value()))

        callers.act(act)


def load(callers: Callers) -> CounterLoad:
    del callers
    return CounterLoad()


LOAD = load
