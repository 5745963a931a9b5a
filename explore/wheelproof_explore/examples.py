"""Programs to try the model checker on: each has a race, and stands beside its mended form.

``wheelproof explore wheelproof_explore.examples:account`` finds the race of the first
one. They are written as anybody writes them: with `threading` and `asyncio`, and no word of this
project.
"""

import asyncio
import threading


class Account:
    """Never overdrawn: who withdraws looks first whether there is enough."""

    def __init__(self, balance: int) -> None:
        self._lock = threading.Lock()
        self.balance = balance

    def has(self, amount: int) -> bool:
        """Tell whether so much can be withdrawn."""
        with self._lock:
            return self.balance >= amount

    def withdraw(self, amount: int) -> None:
        """Take so much, if there is enough."""
        if self.has(amount):
            with self._lock:
                self.balance -= amount


class MendedAccount(Account):
    """Looks and takes under one lock."""

    def withdraw(self, amount: int) -> None:
        """Take so much, if there is enough."""
        with self._lock:
            if self.balance >= amount:
                self.balance -= amount


def account() -> None:
    """Two threads withdraw six of ten: both may look before one of them takes."""
    _withdraw_twice(Account(10))


def account_mended() -> None:
    """Two threads withdraw six of ten, and one of them gets nothing."""
    _withdraw_twice(MendedAccount(10))


def _withdraw_twice(account: Account) -> None:
    threads = [threading.Thread(target=account.withdraw, args=(6,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance >= 0, "overdrawn"


async def ticket() -> None:
    """Two tasks buy the last ticket: between the look and the sale each of them waits."""
    sold: list[str] = []

    async def buy(who: str) -> None:
        if not sold:
            await asyncio.sleep(0)
            sold.append(who)

    await asyncio.gather(buy("a"), buy("b"))
    assert len(sold) == 1, f"sold to {sold}"


async def ticket_mended() -> None:
    """Two tasks buy the last ticket, and the one that has the lock gets it."""
    sold: list[str] = []
    lock = asyncio.Lock()

    async def buy(who: str) -> None:
        async with lock:
            if not sold:
                await asyncio.sleep(0)
                sold.append(who)

    await asyncio.gather(buy("a"), buy("b"))
    assert len(sold) == 1, f"sold to {sold}"
