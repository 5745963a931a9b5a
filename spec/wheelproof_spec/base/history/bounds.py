"""Bounds on a number that is read while it changes."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Bounds:
    """The least and the most that a number can be now, and what its open reads may return.

    With `piecewise` a read sums parts, one after the other: it may count an item that has left a
    part and an item that came into another part later, or neither of the two.
    """

    piecewise: bool = False
    least: int = 0
    most: int = 0
    _reads: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def change(self, least: int = 0, most: int = 0) -> None:
        """Add `least` and `most` to the bounds."""
        self.least += least
        self.most += most
        for call, (low, high) in self._reads.items():
            if self.piecewise:
                self._reads[call] = (low + min(least, 0), high + max(most, 0))
            else:
                self._reads[call] = (min(low, self.least), max(high, self.most))

    def begin_read(self, call: int) -> None:
        """Record that a call began that reads the number."""
        self._reads[call] = (self.least, self.most)

    def so_far(self, call: int) -> tuple[int, int]:
        """Return the bounds for a call that has not returned."""
        return self._reads[call]

    def seen(self, call: int) -> tuple[int, int] | None:
        """Return the bounds for a call that has returned; None if the call was no read."""
        return self._reads.pop(call, None)
