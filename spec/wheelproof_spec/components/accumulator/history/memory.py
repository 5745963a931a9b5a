"""How much memory the batches of an accumulator hold, at least and at most (semantics.md 3.9)."""

from wheelproof_spec.base.history.bounds import Bounds
from wheelproof_spec.base.violation import Violation
from wheelproof_spec.components.accumulator.events import (
    AccumulatorSettings,
)
from wheelproof_spec.components.accumulator.history.record import Batch, Record
from wheelproof_spec.components.accumulator.history.violations import (
    exhausted_with_memory,
    holds_too_much,
    wrong_memory,
)

_OVERHEAD = 512
"""More than headers take."""


class Memory:
    """Bounds on what is held; judged only as far as it is known when memory comes back."""

    def __init__(self, settings: AccumulatorSettings) -> None:
        self._total = settings.total
        self._batch_size = settings.batch_size
        self._at_once = settings.gives_back == "at_once"
        self._held = Bounds()
        self._sure: set[Record] = set()
        self._ended: list[Record] = []
        self._met: dict[int, int] = {}
        """For each append under way, how many others were so at some time."""

    def need(self, size: int) -> int:
        """Return the most that an append of so many bytes takes from the pool."""
        if size + _OVERHEAD <= self._batch_size:
            return self._batch_size
        return min(max(self._batch_size, 2 * size + 2 * _OVERHEAD), self._total)

    def asked(self, record: Record) -> None:
        """An append begins; it may take its memory at once."""
        for call in self._met:
            self._met[call] += 1
        self._met[record.asked] = len(self._met)
        self._held.change(most=record.holds)
        self._held.look(record.asked)

    def accepted(self, record: Record, *, new_batch: bool | None) -> Violation | None:
        """An append was accepted."""
        self._end(record)
        if new_batch is False:
            self._held.change(most=-record.holds)
            record.holds = 0
        elif new_batch and record.called_back is None:
            record.brought_batch = True
            self._sure.add(record)
            self._held.change(least=self._batch_size)
            if self._held.least > self._total:
                return holds_too_much(self._held.least, self._total)
        if record.called_back is not None:
            self._settle(record)
        return None

    def refused(self, record: Record, *, exhausted: bool) -> Violation | None:
        """An append was refused, and has given back whatever it had."""
        met = self._met[record.asked]
        seen = self._end(record)
        self._held.change(most=-record.holds)
        if not exhausted or not self._at_once or met or seen is None:
            return None
        if record.holds > self._batch_size or seen[1] > self._total:
            return None
        return exhausted_with_memory(record.name, seen[1], self._total)

    def lost(self, record: Record) -> None:
        """Nobody knows what becomes of an append: its memory may stay held for ever."""
        self._end(record)

    def called_back(self, record: Record) -> None:
        """A record has ended, and soon the memory of its batch is given back."""
        self._unsure(record)
        if record.returned is not None:
            self._settle(record)

    def split(self, batch: Batch) -> None:
        """The parts of a batch are not in the pool's memory."""
        for record in batch.records:
            self._unsure(record)

    def landed(self, batch: Batch) -> None:
        """A batch is in flight no more."""
        self._ended += batch.ended
        batch.ended.clear()

    def idle(self) -> None:
        """No call of the sender is under way: what has ended has been given back."""
        if not self._at_once:
            return
        for record in self._ended:
            self._held.change(most=-record.holds)
            record.holds = 0
        self._ended.clear()

    def look(self, call: int) -> None:
        """available_memory is called."""
        self._held.look(call)

    def judge(self, call: int, available: int | None) -> Violation | None:
        """It has answered, or not."""
        seen = self._held.seen(call)
        if seen is None or available is None:
            return None
        least, most = max(self._total - seen[1], 0), self._total - seen[0]
        if not self._at_once:
            least = 0
        return None if least <= available <= most else wrong_memory(least, most, available)

    def _settle(self, record: Record) -> None:
        batch = record.batch
        if batch is not None and batch.in_flight:
            batch.ended.append(record)
        else:
            self._ended.append(record)

    def _unsure(self, record: Record) -> None:
        if record in self._sure:
            self._sure.remove(record)
            self._held.change(least=-self._batch_size)

    def _end(self, record: Record) -> tuple[int, int] | None:
        del self._met[record.asked]
        return self._held.seen(record.asked)
