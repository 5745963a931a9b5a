"""The work of a counter."""

from collections.abc import Iterable, Iterator

from wheelproof_spec.base.calls import Reset
from wheelproof_spec.drive.work import Alphabet, Draw, DrivenWork, Kind, always

from .component import CounterCall, CounterConfig, Increment, Look

CounterStep = Increment | Look


class CounterWork:
    """Increments, and a look at times."""

    def setup(self, draw: Draw) -> CounterConfig:
        return CounterConfig(bound=draw.between(1, 20))

    def kinds(self) -> Alphabet[CounterConfig, CounterStep]:
        return {
            "increment": Kind(draw=always(Increment()), weight=2),
            "look": Kind(draw=always(Look()), weight=1),
        }


def driven_work() -> DrivenWork[CounterConfig, CounterStep, CounterCall]:
    return DrivenWork(CounterWork(), _calls)


def _calls(config: CounterConfig, steps: Iterable[CounterStep]) -> Iterator[CounterCall]:
    yield Reset(config=config)
    yield from steps
