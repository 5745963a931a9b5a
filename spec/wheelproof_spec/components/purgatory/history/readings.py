"""What one answer of a gauge says about the next one (standard 2.6, 2.10).

Between two reads a number rises by what may have come since the first one began, and falls by what
may have gone. So it cannot go down and come up again while nothing is being added. That holds for
each part of a sum, and so for a sum whose parts are read one after the other.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class _Read:
    coming: int
    """How much was being added when the read began."""
    going: int
    """How much might have gone from then on, as far as was known when the read began."""
    came: int
    went: int
    """The sums of both, over the whole history, when the read began."""
    count: int | None = None
    """The answer."""


@dataclass(slots=True)
class Readings:
    """The last answer of a gauge, and what may have changed since."""

    coming: int = 0
    """How much is being added now."""
    going: int = 0
    """How much may be gone, or go, and is not known to be gone."""
    _came: int = 0
    _went: int = 0
    _open: dict[int, tuple[_Read, _Read | None]] = field(
        default_factory=dict[int, tuple[_Read, _Read | None]]
    )
    """The reads under way, each with the last one that ended before it began."""
    _last: _Read | None = None

    def begin_add(self, much: int) -> None:
        """Record that something is being added from now on."""
        self.coming += much
        self._came += much

    def end_add(self, much: int) -> None:
        """Record that it is not being added any more."""
        self.coming -= much

    def may_go(self, much: int) -> None:
        """Record that something may go from now on."""
        self.going += much
        self._went += much

    def gone(self, much: int) -> None:
        """Record that something that might go is gone for certain."""
        self.going -= much

    def look(self, call: int) -> None:
        """Record that a read began."""
        began = _Read(self.coming, self.going, self._came, self._went)
        self._open[call] = began, self._last

    def forget(self, call: int) -> None:
        """Record that a read ended without an answer, if this call is one."""
        self._open.pop(call, None)

    def seen(self, call: int, count: int) -> tuple[int, int] | None:
        """Return what this read may answer after the last one; None if it is the first."""
        began, last = self._open.pop(call)
        self._last = _Read(began.coming, began.going, began.came, began.went, count)
        if last is None or last.count is None:
            return None
        most = last.count + last.coming + self._came - last.came
        least = last.count - last.going - (self._went - last.went)
        return least, most
