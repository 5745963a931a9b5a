"""Bounds on a number that is asked for while it changes."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Bounds:
    """The least and the most that a number can be now, and what open looks at it may answer.

    With `piecewise` a look adds the number up from parts, one after the other: what leaves a part
    that was counted and what comes into one that was not are both in its answer, or neither is.
    """

    piecewise: bool = False
    least: int = 0
    most: int = 0
    _looks: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def change(self, least: int = 0, most: int = 0) -> None:
        """Move the bounds by so much."""
        self.least += least
        self.most += most
        for call, (low, high) in self._looks.items():
            if self.piecewise:
                self._looks[call] = (low + min(least, 0), high + max(most, 0))
            else:
                self._looks[call] = (min(low, self.least), max(high, self.most))

    def look(self, call: int) -> None:
        """A call begins that answers with the number."""
        self._looks[call] = (self.least, self.most)

    def seen(self, call: int) -> tuple[int, int] | None:
        """Return the bounds that the call has seen, which is over; None if it was no look."""
        return self._looks.pop(call, None)
