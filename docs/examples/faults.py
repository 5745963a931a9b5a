"""Programs whose environment fails; docs/explore.md shows what the model checker finds in them."""

from queue import SimpleQueue
from threading import Lock, Thread


def tell() -> None:
    """Tell an auditor, who may be away."""


class Accounts:
    """Two accounts, and a transfer between them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.left, self.right = 2, 0

    def transfer(self) -> None:
        """Move one unit; if nobody can be told, it is gone."""
        with self._lock:
            self.left -= 1
            tell()
            self.right += 1

    def transfer_mended(self) -> None:
        """Move one unit, and tell when it is done."""
        with self._lock:
            self.left -= 1
            self.right += 1
        tell()


def _moves(accounts: Accounts, *, mended: bool) -> None:
    def move() -> None:
        try:
            accounts.transfer_mended() if mended else accounts.transfer()
        except OSError:
            return

    threads = [Thread(target=move) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accounts.left + accounts.right == 2


def transfers() -> None:
    """Two threads transfer."""
    _moves(Accounts(), mended=False)


def transfers_mended() -> None:
    """The same, and nothing is lost."""
    _moves(Accounts(), mended=True)


def _works(jobs: "SimpleQueue[int | None]") -> None:
    while jobs.get() is not None:
        pass


def worker() -> None:
    """After Ctrl-C nobody tells the worker that there is no more to do."""
    jobs = SimpleQueue[int | None]()
    Thread(target=_works, args=(jobs,)).start()
    jobs.put(1)
    jobs.put(None)


def worker_mended() -> None:
    """The worker is told in any case; before it is started nobody waits for it."""
    jobs = SimpleQueue[int | None]()
    try:
        Thread(target=_works, args=(jobs,)).start()
        jobs.put(1)
    finally:
        jobs.put(None)
