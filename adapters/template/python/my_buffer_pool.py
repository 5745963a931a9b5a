from adapter import alone, serve


class Mine:
    """Your pool, seen from outside; each test case makes a new one.

    This one has no threads. If an allocation of yours blocks, run it on a thread of its own and
    leave it there; `happened` waits until each thread waits or has ended.
    """

    def __init__(self, total_memory: int, poolable_size: int, start_ms: int) -> None:
        """Make a pool of `total_memory` bytes whose clock shows `start_ms`."""
        self.total, self.free, self.now_ms = total_memory, total_memory, start_ms
        self.closed = False
        self.lent: dict[str, int] = {}
        self.waiting: dict[str, tuple[int, int]] = {}  # The size and the deadline of each.
        self.ended: dict[str, str] = {}

    @alone
    def allocate(self, buffer: str, size: int, max_time_to_block_ms: int) -> None:
        """Allocate `size` bytes under the name `buffer`."""
        if not 0 <= size <= self.total:
            raise ValueError(f"{size} bytes of {self.total}")
        self.waiting[buffer] = size, self.now_ms + max_time_to_block_ms
        self.lend()

    @alone
    def deallocate(self, buffer: str) -> None:
        """Give back what the allocation `buffer` got."""
        self.free += self.lent.pop(buffer)
        self.lend()

    @alone
    def interrupt(self, name: str) -> None:
        """Interrupt the thread of an allocation; no effect if that has ended."""
        if self.waiting.pop(name, None) is not None:
            self.ended[name] = "interrupted"
        self.lend()

    @alone
    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; waits whose time is over end."""
        self.now_ms = to_ms
        self.lend()

    @alone
    def close(self) -> None:
        """Close the pool; nobody gets memory any more."""
        self.closed = True
        self.lend()

    @alone
    def happened(self) -> dict[str, object]:
        """Return the allocations that have ended since the last answer, and the gauges."""
        ended, self.ended = self.ended, {}
        return {"ended": ended, "available_memory": self.free, "queued": len(self.waiting)}

    def lend(self) -> None:
        """Lend to who has waited longest, as far as there is memory; end the other waits."""
        for name, (size, deadline_ms) in list(self.waiting.items()):
            may_have = size == 0 or next(iter(self.waiting)) == name
            if self.closed:
                self.ended[name] = "closed"
            elif may_have and size <= self.free:
                self.free -= size
                self.lent[name] = size
                self.ended[name] = "buffer"
            elif deadline_ms <= self.now_ms:
                self.ended[name] = "exhausted"
            else:
                continue
            del self.waiting[name]


if __name__ == "__main__":
    serve(
        "my-pool 0.1",
        "buffer_pool",
        "longest-waiting-first",
        ["exact_time", "any_size", "interruption", "close"],
        Mine,
    )
