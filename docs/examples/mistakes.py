"""Five mistakes with threads and tasks, and the same programs without them.

wheelproof explore mistakes.py:lost_update
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable


def _run(*actions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=action) for action in actions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Account:
    """What several threads add to."""

    def __init__(self) -> None:
        self.total = 0
        self.used = 0
        self.lock = threading.Lock()

    def use(self) -> None:
        """Count a use under the lock."""
        with self.lock:
            self.used += 1

    def add(self) -> None:
        """Count a use, and add without the lock: the lock says nothing about the total."""
        self.use()
        self.total += 1

    def add_safely(self) -> None:
        """Count a use, and add under the lock."""
        self.use()
        with self.lock:
            self.total += 1


def lost_update() -> None:
    """Two threads add; one of them may overwrite what the other has added."""
    account = Account()
    _run(account.add, account.add)
    assert account.total == 2


def lost_update_mended() -> None:
    """Two threads add under a lock."""
    account = Account()
    _run(account.add_safely, account.add_safely)
    assert account.total == 2


def _both(first: threading.Lock, second: threading.Lock) -> None:
    with first, second:
        pass


def two_locks() -> None:
    """Two threads take two locks in two orders."""
    one, other = threading.Lock(), threading.Lock()
    _run(lambda: _both(one, other), lambda: _both(other, one))


def two_locks_mended() -> None:
    """Two threads take two locks in one order."""
    one, other = threading.Lock(), threading.Lock()
    _run(lambda: _both(one, other), lambda: _both(one, other))


def lost_wake_up() -> None:
    """A thread looks without the lock, and waits after the other one has notified."""
    changed, ready = threading.Condition(), list[int]()

    def wait() -> None:
        if not ready:
            with changed:
                changed.wait()

    def tell() -> None:
        ready.append(1)
        with changed:
            changed.notify()

    _run(wait, tell)


def lost_wake_up_mended() -> None:
    """A thread looks under the lock, and again after each notification."""
    changed, ready = threading.Condition(), list[int]()

    def wait() -> None:
        with changed:
            while not ready:
                changed.wait()

    def tell() -> None:
        with changed:
            ready.append(1)
            changed.notify()

    _run(wait, tell)


class Wallet:
    """Never in debt, if each payment is a turn of its own."""

    def __init__(self) -> None:
        self.balance = 10
        self.lock = asyncio.Lock()

    async def pay(self) -> None:
        """Look whether there is enough, let others go on, and pay."""
        if self.balance >= 10:
            await asyncio.sleep(0)
            self.balance -= 10

    async def pay_alone(self) -> None:
        """Pay while nobody else does."""
        async with self.lock:
            await self.pay()


async def await_between() -> None:
    """Two tasks pay; both may look before one of them pays."""
    wallet = Wallet()
    await asyncio.gather(wallet.pay(), wallet.pay())
    assert wallet.balance >= 0


async def await_between_mended() -> None:
    """Two tasks pay, one after the other."""
    wallet = Wallet()
    await asyncio.gather(wallet.pay_alone(), wallet.pay_alone())
    assert wallet.balance >= 0


def unlocked_deque() -> None:
    """Two threads take the only item if there is one; both may look before one of them takes."""
    items, taken = deque([1]), list[int]()

    def take() -> None:
        if items:
            taken.append(items.popleft())

    _run(take, take)
    assert taken == [1]


def unlocked_deque_mended() -> None:
    """Two threads take the only item; a deque's own methods need no lock."""
    items, taken = deque([1]), list[int]()

    def take() -> None:
        try:
            taken.append(items.popleft())
        except IndexError:
            return

    _run(take, take)
    assert taken == [1]
