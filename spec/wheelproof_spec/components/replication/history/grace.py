"""When everybody who may be acting upon something has come to an end."""

from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT")


class Grace(Generic[ItemT]):
    """Hands items back once every call is over that may still be acting upon them.

    Two rounds: what has happened by some moment has been acted upon when all calls that are under
    way then are over. One of them may have left an answer to a call that had found the request
    first, and that is over when all are that are under way by then. Each call costs the same,
    however many there are.
    """

    def __init__(self) -> None:
        """Begin with no call under way."""
        self._open: set[int] = set()
        self._order: deque[int] = deque()
        self._first: deque[tuple[int, ItemT]] = deque()
        self._second: deque[tuple[int, ItemT]] = deque()

    @property
    def calls(self) -> int:
        """How many calls are under way."""
        return len(self._open)

    def begins(self, call: int) -> None:
        """A call begins at this index."""
        self._open.add(call)
        self._order.append(call)

    def ends(self, call: int) -> None:
        """The call that began at this index is over."""
        self._open.discard(call)

    def push(self, index: int, item: ItemT) -> None:
        """Hand an item in, at this index."""
        self._first.append((index, item))

    def passed(self, index: int) -> Iterator[ItemT]:
        """Yield the items that nobody can be acting upon any more."""
        while self._first and self._is_over(self._first[0][0]):
            self._second.append((index, self._first.popleft()[1]))
        while self._second and self._is_over(self._second[0][0]):
            yield self._second.popleft()[1]

    def _is_over(self, index: int) -> bool:
        """Tell whether every call that began before `index` is over."""
        order = self._order
        while order and order[0] not in self._open:
            order.popleft()
        return not order or order[0] > index
