"""The possible answers of `size` while other calls are under way (standard 1.11, 1.14)."""

import heapq

from wheelproof_spec.components.timer.history.states import Advances


class SizeBounds:
    """The bounds on the number of linked entries, now and during the open calls of `size`."""

    def __init__(self, advances: Advances) -> None:
        self._advances = advances
        self.sure = 0
        """The tasks that are linked for certain: their add has returned and they are not due."""
        self.possible = 0
        """The tasks that may be linked."""
        self.meetings = 0
        """The calls that overlapped another call on their task: each may leave an entry behind."""
        self._leftovers: list[tuple[int, int]] = []
        self._open: dict[int, tuple[int, int]] = {}

    @property
    def is_watched(self) -> bool:
        """Whether a call of `size` is under way."""
        return bool(self._open)

    def begin(self, call: int) -> None:
        """Record that a call of `size` began."""
        self._open[call] = (self._least(), self._most())

    def changed(self) -> None:
        """Update the bounds of the open calls of `size`."""
        for call, (least, most) in self._open.items():
            self._open[call] = (min(least, self._least()), max(most, self._most()))

    def end(self, call: int) -> tuple[int, int]:
        """Return the least and the greatest possible answer of the call."""
        self.changed()
        return self._open.pop(call)

    def leave_behind(self, high_ms: int, settled: int = -1) -> None:
        """Record that an entry due by `high_ms` may have been cancelled while it was in no list.

        The entry is in its bucket at the index `settled`, at the latest.
        """
        heapq.heappush(self._leftovers, (high_ms, settled))

    def clear_up(self, began: int, clock_ms: int) -> None:
        """Drop the entries due by `clock_ms` that were in a bucket when the advance `began`."""
        leftovers, later = self._leftovers, list[tuple[int, int]]()
        while leftovers and leftovers[0][0] <= clock_ms:
            leftover = heapq.heappop(leftovers)
            if leftover[1] > began:
                later.append(leftover)
        for leftover in later:
            heapq.heappush(leftovers, leftover)

    def _least(self) -> int:
        return max(self.sure - self._advances.may_carry, 0)

    def _most(self) -> int:
        return self.possible + self.meetings + len(self._leftovers)
