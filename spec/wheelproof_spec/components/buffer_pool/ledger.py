"""The state of a buffer pool: a ledger of what is lent, and the queue of who has asked.

The ledger has no free list, and no memory that a waiting thread has gathered: all memory that is
not lent is available to the first call in the queue. `model` says which effects are right.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple, Self

from wheelproof_spec.components.buffer_pool.component import CallId, PoolFault


class Request(NamedTuple):
    """An allocation that has asked for `size` bytes, and has not ended."""

    size: int
    deadline_ms: int = 0
    latest_ms: int = 0
    """When it must have ended: a clock that does not count in whole milliseconds may be late."""
    fault: PoolFault | None = None
    interrupted: bool = False
    waits: bool = False
    """Whether it is in the queue for certain; before that it is a newcomer."""


class Lent(NamedTuple):
    """A buffer that is on loan: its size in bytes, and who has it, if that is known."""

    size: int
    borrower: str = ""


class Ledger:
    """What is lent, reserved and asked for; the clock moves only by `move_clock`."""

    # The search for an order makes many copies, and slots make these quick.
    __slots__ = (
        "_closed",
        "_left",
        "_lent",
        "_nameless",
        "_now_ms",
        "_requests",
        "_reserved",
        "_returned",
    )

    def __init__(self, total_memory: int, start_ms: int) -> None:
        """Begin with nothing lent of `total_memory` bytes."""
        self._now_ms = start_ms
        self._closed = False
        self._left: int = total_memory
        self._requests: dict[CallId, Request] = {}
        """The allocations that want memory still, the longest-waiting first."""
        self._lent: dict[str, Lent] = {}
        # What follows is for histories, and it is replaced, and shared with copies.
        self._reserved: Mapping[CallId, int] = {}
        """The bytes of each allocation whose memory is its own, and that has not got it."""
        self._nameless: tuple[int, ...] = ()
        """The sizes of the loans of which nobody knows which buffer they are."""
        self._returned: frozenset[str] = frozenset()

    def copy(self) -> Self:
        """Return a ledger in the same state."""
        other = object.__new__(type(self))
        other._now_ms, other._closed, other._left = self._now_ms, self._closed, self._left
        other._requests, other._lent = self._requests.copy(), self._lent.copy()
        other._reserved, other._nameless = self._reserved, self._nameless
        other._returned = self._returned
        return other

    def resume(
        self, lent: Mapping[str, Lent], returned: Iterable[str], left: int, *, closed: bool
    ) -> None:
        """Go on from a moment at which no call was under way, and `left` bytes were not lent."""
        self._lent, self._returned = dict(lent), frozenset(returned)
        self._left, self._closed = left, closed

    def key(self) -> Hashable:
        """Return what two pools have in common if no effect can tell them apart."""
        return (
            self._now_ms,
            self._closed,
            tuple(self._requests.items()),
            frozenset(self._reserved.items()),
            frozenset(self._lent.items()),
            self._nameless,
            self._returned,
        )

    def __str__(self) -> str:
        lent = [f"{buffer} of {one.size} bytes" for buffer, one in sorted(self._lent.items())]
        lent += [f"a buffer of {size} bytes" for size in self._nameless]
        sizes = ", ".join(str(request.size) for request in self._requests.values())
        closed = "closed; " if self._closed else ""
        return f"[{closed}{', '.join(lent) or 'nothing'} lent; asked for: {sizes or 'nothing'}]"

    @property
    def now_ms(self) -> int:
        """The time that the pool's clock shows, in milliseconds."""
        return self._now_ms

    @property
    def requests(self) -> Mapping[CallId, Request]:
        """The allocations that want memory still, the longest-waiting first."""
        return self._requests

    @property
    def lent(self) -> Mapping[str, Lent]:
        """The buffers that are on loan, by name."""
        return self._lent

    @property
    def nameless(self) -> tuple[int, ...]:
        """The sizes of the loans of which nobody knows which buffer they are."""
        return self._nameless

    @property
    def returned(self) -> frozenset[str]:
        """The buffers that were given back at some time."""
        return self._returned

    @property
    def closed(self) -> bool:
        """Whether the pool lends no more."""
        return self._closed

    def left(self) -> int:
        """Return how many bytes are neither lent nor reserved."""
        return self._left

    # Effects that are always right

    def ask(self, call: CallId, request: Request) -> None:
        """Let an allocation begin: it is behind all that have not ended."""
        self._requests[call] = request

    def interrupt(self, call: CallId) -> None:
        """Interrupt an allocation; one that has ended is left alone."""
        request = self._requests.get(call)
        if request is not None:
            self._requests[call] = request._replace(interrupted=True)

    def move_clock(self, to_ms: int) -> None:
        """Move the clock to `to_ms` milliseconds; it never goes back."""
        self._now_ms = max(self._now_ms, to_ms)

    def close(self) -> None:
        """Close the pool."""
        self._closed = True

    def leave(self, call: CallId) -> None:
        """Let an allocation end without memory; `forbids_end` tells whether it may."""
        if self._requests.pop(call, None) is None:
            self._left += self._unreserve(call)

    def _unreserve(self, call: CallId) -> int:
        """Forget what an allocation has reserved, and return how many bytes that is."""
        size = self._reserved[call]
        self._reserved = {other: left for other, left in self._reserved.items() if other != call}
        return size

    def _lend(self, call: CallId, buffer: str, borrower: str) -> None:
        self._lent[buffer] = Lent(self._unreserve(call), borrower)

    def lend_nameless(self, call: CallId) -> None:
        """Lend what an allocation has reserved, though nobody knows which buffer it is."""
        self._nameless = tuple(sorted((*self._nameless, self._unreserve(call))))

    def name(self, size: int, buffer: str) -> None:
        """Let a nameless loan of `size` bytes have been this buffer."""
        left = list(self._nameless)
        left.remove(size)
        self._nameless = tuple(left)
        self._lent[buffer] = Lent(size)

    def give_back(self, buffer: str, size: int | None = None) -> bool:
        """Take a buffer back, and tell whether that is right (standard 3.7).

        It is if the buffer is on loan, and has `size` bytes, unless no size is told.
        """
        lent = self._lent.get(buffer)
        if lent is None or size not in (None, lent.size):
            return False
        del self._lent[buffer]
        self._left += lent.size
        self._returned |= {buffer}
        return True

    def may_refuse(self, buffer: str, size: int | None = None, borrower: str = "") -> bool:
        """Tell whether the return of a buffer may be refused (standard 3.7).

        Somebody else may give back an old loan of a buffer that is lent again.
        """
        lent = self._lent.get(buffer)
        if lent is None or size not in (None, lent.size):
            return True
        return lent.borrower != borrower and buffer in self._returned
