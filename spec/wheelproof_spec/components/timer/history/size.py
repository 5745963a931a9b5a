"""What `size` may answer while other calls are under way (semantics.md 1.11, 1.14)."""

import heapq


class SizeBounds:
    """Bounds on the number of linked entries, and what open calls of `size` have seen of them."""

    def __init__(self) -> None:
        self.sure = 0
        """Tasks that are linked, since their add has returned and nothing is due."""
        self.possible = 0
        """Tasks that may be linked."""
        self.flushing = 0
        """Advances under way, one of which may hold an entry in its hand."""
        self.meetings = 0
        """Calls under way that have met another one on their task: each may leave an entry."""
        self._leftovers: list[tuple[int, int]] = []
        self._open: dict[int, tuple[int, int]] = {}

    @property
    def is_watched(self) -> bool:
        """Whether a call of `size` is under way."""
        return bool(self._open)

    def begin(self, call: int) -> None:
        """A call of `size` begins."""
        self._open[call] = (self._least(), self._most())

    def changed(self) -> None:
        """The bounds may have moved."""
        for call, (least, most) in self._open.items():
            self._open[call] = (min(least, self._least()), max(most, self._most()))

    def end(self, call: int) -> tuple[int, int]:
        """Return the least and the greatest answer that the call may have got."""
        self.changed()
        return self._open.pop(call)

    def leave_behind(self, high_ms: int, settled: int = -1) -> None:
        """An entry that is due by `high_ms` may have been cancelled while it was in no list.

        It is in its bucket at the index `settled`, at the latest.
        """
        heapq.heappush(self._leftovers, (high_ms, settled))

    def clear_up(self, began: int, clock_ms: int) -> None:
        """An advance returned that began at an index, at a time: what was due is in no bucket."""
        leftovers, later = self._leftovers, list[tuple[int, int]]()
        while leftovers and leftovers[0][0] <= clock_ms:
            leftover = heapq.heappop(leftovers)
            if leftover[1] > began:
                later.append(leftover)
        for leftover in later:
            heapq.heappush(leftovers, leftover)

    def _least(self) -> int:
        return max(self.sure - bool(self.flushing), 0)

    def _most(self) -> int:
        return self.possible + self.meetings + len(self._leftovers)
