from adapter import alone, serve


class Mine:
    """Your timer, seen from outside; each test case makes a new one."""

    def __init__(self, tick_ms: int, wheel_size: int, start_ms: int) -> None:
        """Make a timer whose clock shows `start_ms`."""
        self.ran: list[str] = []  # Each task appends its name when it runs, in that order.
        self.tick_ms, self.wheel_size, self.now_ms = tick_ms, wheel_size, start_ms
        self.due_ms: dict[str, int] = {}

    @alone
    def add(self, task: str, delay_ms: int) -> None:
        """Schedule the task in `delay_ms`, and drop an earlier add of the same name."""
        self.due_ms[task] = (self.now_ms + delay_ms) // self.tick_ms * self.tick_ms

    @alone
    def cancel(self, task: str) -> dict[str, object]:
        """Cancel the task; tell whether it was waiting."""
        return {"cancelled": self.due_ms.pop(task, None) is not None}

    @alone
    def advance(self, to_ms: int) -> None:
        """Set the clock to `to_ms`; return when all due tasks have run."""
        self.now_ms = to_ms
        for task, due_ms in sorted(self.due_ms.items(), key=lambda item: item[1]):
            if due_ms <= to_ms:
                del self.due_ms[task]
                self.ran.append(task)

    @alone
    def size(self) -> dict[str, object]:
        """Tell how many tasks wait; count them here if your timer does not."""
        return {"size": len(self.due_ms)}

    @alone
    def happened(self) -> dict[str, object]:
        """Return the tasks that have run since the last answer."""
        ran, self.ran = self.ran, []
        return {"fired": ran}


if __name__ == "__main__":
    serve("my-timer 0.1", "timer", "kafka", [], Mine)
