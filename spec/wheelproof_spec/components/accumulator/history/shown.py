"""What an answer has shown, and a later answer must not contradict (standard 3.9, 4.7).

While no append is under way, nobody takes memory, and nothing becomes incomplete. While no record
is called back, nothing that is incomplete ends.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class _Look:
    without_appends: bool
    """Whether no append has been under way since the question."""
    without_ends: bool
    """Whether no batch can have ended since the question."""


class Shown:
    """What questions about memory and incomplete batches have shown so far."""

    def __init__(self) -> None:
        self._looks: dict[int, _Look] = {}
        self._floor: tuple[int, int] | None = None
        """The event of an answer since which so much memory is available, and how much."""
        self._complete: int | None = None
        """The event of an answer since which nothing is incomplete."""
        self._incomplete: int | None = None
        """The event of an answer since which something is incomplete."""
        self._is_lost = False

    def look(self, call: int, *, without_appends: bool, is_settled: bool) -> None:
        """Record that a question was asked.

        `without_appends` says that no append is under way, `is_settled` that no batch may be
        ending.
        """
        self._looks[call] = _Look(without_appends and not self._is_lost, is_settled)

    def forget(self, call: int) -> None:
        """Record that a question has no answer."""
        self._looks.pop(call, None)

    def append_begins(self) -> None:
        """Record that an append began: it may take memory, and make a batch."""
        self._floor = self._complete = None
        for look in self._looks.values():
            look.without_appends = False

    def append_is_lost(self) -> None:
        """Record that the end of an append is not known: it may take memory at any time."""
        self._is_lost = True
        self.append_begins()

    def batch_may_end(self) -> None:
        """Record that a record was called back: its batch may end."""
        self._incomplete = None
        for look in self._looks.values():
            look.without_ends = False

    def available(self, call: int, index: int, size: int) -> int:
        """Record the answer of event `index`; return how much has been available before."""
        look = self._looks.pop(call)
        shown = 0 if self._floor is None or self._floor[0] > call else self._floor[1]
        if look.without_appends:
            self._floor = index, size
        return shown

    def incomplete(
        self, call: int, index: int, bounds: tuple[int, int], *, yes: bool
    ) -> tuple[int, int]:
        """Record the answer of event `index`; return the bounds, narrowed by answers before it."""
        look = self._looks.pop(call)
        least, most = bounds
        if self._complete is not None and self._complete < call:
            most = 0
        if self._incomplete is not None and self._incomplete < call:
            least = max(least, 1)
        if not yes and look.without_appends:
            self._complete = index
        if yes and look.without_ends:
            self._incomplete = index
        return least, most
