"""Where the accumulator is changed, the comparison with RecordAccumulator tells the change.

That it is equal as it is is tested with all other comparisons.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import takewhile

import pytest

from support.graph.philosophers import compared
from wheelproof.producer import ProducerBatch
from wheelproof_lab.graph.accumulator.catalog import RECORD_ACCUMULATOR
from wheelproof_lab.graph.accumulator.record_accumulator import (
    Appends,
    ChosenAccumulator,
    accumulator_graph,
)
from wheelproof_spec.base.results.verdicts import Verdict

pytestmark = pytest.mark.slow

ONE = Appends(
    programs={"a1": (0,)}, partitions=1, buffers=1, batch_size=2, request_size=1, expires=True
)
TWO = replace(ONE, programs={"a1": (0, 0)}, buffers=2, max_attempts=1)
FORCED = replace(ONE, closes=True, by_force=True, expires=False)


class _ReadAfterwards(ChosenAccumulator):
    """KAFKA-19012: memory comes back while a request may still be reading it."""

    def _may_be_read(self, batch: ProducerBatch) -> bool:
        del batch
        return False


class _StaysQueued(ChosenAccumulator):
    """KAFKA-3147: an aborted batch stays in its queue."""

    def _remove_from_queue(self, queue: object, batch: ProducerBatch) -> None:
        del queue, batch


class _LooksAtHeads(ChosenAccumulator):
    """late-behind-a-retry: the look for late batches ends at the first one that is not."""

    def _late(self, batches: Iterable[ProducerBatch], now_ms: int) -> list[ProducerBatch]:
        return list(takewhile(lambda batch: self._has_expired(batch, now_ms), batches))


@pytest.mark.parametrize(
    ("appends", "accumulator_class", "action", "steps"),
    [
        (ONE, _ReadAfterwards, "Expire", 2),
        (TWO, _LooksAtHeads, "Expire", 6),
        (FORCED, _StaysQueued, "Abort", 2),
    ],
)
def test_an_accumulator_with_a_known_bug(
    appends: Appends, accumulator_class: type[ChosenAccumulator], action: str, steps: int
) -> None:
    planted = partial(accumulator_graph, appends, accumulator_class)
    outcome = compared(RECORD_ACCUMULATOR.model(appends, planted))
    assert outcome.verdict is Verdict.FAIL
    nearest = outcome.comparison.differences[0]
    assert (nearest.action, len(nearest.path)) == (action, steps)
