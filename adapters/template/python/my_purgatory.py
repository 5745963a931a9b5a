from adapter import alone, serve


class Operation:
    """An operation that waits: done once one of its conditions is set, or at `due_ms`."""

    def __init__(self, keys: list[str], conditions: list[str], due_ms: int) -> None:
        self.keys, self.conditions, self.due_ms = keys, conditions, due_ms


class Mine:
    """Your purgatory, seen from outside; each test case makes a new one."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int, purge_interval: int) -> None:
        """Make a purgatory whose clock shows `start_ms`; this one keeps nothing that is done."""
        self.tick_ms, self.now_ms = tick_ms, start_ms
        self.conditions = set[str]()
        self.waiting: dict[str, Operation] = {}
        # Each callback appends the name of its operation when it runs, in that order.
        self.completed: list[str] = []
        self.expired: list[str] = []

    @alone
    def try_complete_else_watch(
        self, operation: str, delay_ms: int, keys: list[str], conditions: list[str]
    ) -> dict[str, object]:
        """Hand in an operation; tell whether this call completed it."""
        due_ms = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms
        self.waiting[operation] = Operation(keys, conditions, due_ms)
        return {"completed": self.attempt(operation)}

    @alone
    def set_condition(self, condition: str) -> None:
        """Make a condition true; the operations notice it when they are tried."""
        self.conditions.add(condition)

    @alone
    def check_and_complete(self, key: str) -> dict[str, object]:
        """Try the operations of a key; tell how many this call completed."""
        return {"count": sum(self.attempt(name) for name in self.watching(key))}

    @alone
    def force_complete(self, operation: str) -> dict[str, object]:
        """Complete an operation; tell whether this call did it."""
        return {"completed": self.complete(operation)}

    @alone
    def cancel_for_key(self, key: str) -> dict[str, object]:
        """Give up the operations of a key, which are never completed then; tell which."""
        cancelled = self.watching(key)
        for name in cancelled:
            del self.waiting[name]
        return {"cancelled": cancelled}

    @alone
    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; return when all that is due has expired."""
        self.now_ms = to_ms
        for name, one in sorted(self.waiting.items(), key=lambda item: item[1].due_ms):
            if one.due_ms <= to_ms and self.complete(name):
                self.expired.append(name)

    @alone
    def ask_gauges(self) -> dict[str, object]:
        """Tell how many watches, time-outs and keys there are."""
        keys = [key for one in self.waiting.values() for key in one.keys]
        return {
            "watched": len(keys),
            "num_delayed": len(self.waiting),
            "num_keys": len(set(keys)),
        }

    @alone
    def happened(self) -> dict[str, object]:
        """Return the callbacks that have run since the last answer."""
        told: dict[str, object] = {"on_complete": self.completed, "on_expiration": self.expired}
        self.completed, self.expired = [], []
        return told

    def watching(self, key: str) -> list[str]:
        """Return the operations that wait under a key, in the order in which they came."""
        return [name for name, one in self.waiting.items() if key in one.keys]

    def attempt(self, name: str) -> bool:
        """Complete an operation if it can be completed; tell whether this call did it."""
        return not self.conditions.isdisjoint(self.waiting[name].conditions) and self.complete(name)

    def complete(self, name: str) -> bool:
        """Complete an operation, unless it is done; tell whether this call did it."""
        if self.waiting.pop(name, None) is None:
            return False
        self.completed.append(name)
        return True


if __name__ == "__main__":
    serve("my-purgatory 0.1", "purgatory", "wheelproof", ["cancel_for_key"], Mine)
