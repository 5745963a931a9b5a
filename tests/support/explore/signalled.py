"""A shop whose calls a signal may end anywhere; some of them are wrong then."""

from wheelproof import sync
from wheelproof.sync import Condition, Lock


class Shop:
    """A count of what is lent, which is 0 at the end."""

    def __init__(self) -> None:
        self.lock: Lock = sync.lock("shop")
        self.sold: Condition = sync.condition(self.lock, "sold")
        self.count = 0
        self.lent = False

    def lend(self) -> None:
        """Lend and take back; a signal between the two leaves it lent."""
        self.add(1)
        self.add(-1)

    def lend_or_undo(self) -> None:
        """Lend and take back, also if a signal comes."""
        begun: list[bool] = []
        try:
            self.add(1, begun)
        finally:
            ended: list[bool] = []
            try:
                self._undo(begun, ended)
            except BaseException:
                self._undo(begun, ended)
                raise

    def swallow(self) -> None:
        """Look, and end as always if a signal comes."""
        try:
            self.look()
        except BaseException:
            return

    def look(self) -> None:
        """Take the lock once."""
        with self.lock:
            pass

    def add(self, number: int, begun: list[bool] | None = None) -> None:
        """Add to the count; `begun` learns that it was."""
        said = [] if begun is None else begun
        with self.lock:
            self.count += number
            said += (True,)

    def wake(self) -> None:
        """Lend, and wake who waits for that, unless a signal comes."""
        with self.lock:
            self._set()
            self.sold.notify()

    def wake_surely(self) -> None:
        """Lend, and wake who waits for that."""
        with self.lock:
            self._set()
            try:
                self.sold.notify()
            except BaseException:
                self.sold.notify()
                raise

    def wake_if_not_lent(self) -> None:
        """Lend, unless that was done."""
        if not self.lent:
            self.wake()

    def take(self) -> None:
        """Wait until something is lent, and take it back."""
        with self.lock:
            while not self.count:
                self.sold.wait()
            self.count = 0

    def _set(self) -> None:
        self.lent, self.count = True, 1

    def _undo(self, begun: list[bool], ended: list[bool]) -> None:
        if len(begun) > len(ended):
            self.add(-1, ended)
