"""A bank account that somebody has written with `threading`, and what two customers do with it."""

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


class CarefulAccount(Account):
    """Looks and takes under one lock."""

    def withdraw(self, amount: int) -> None:
        """Take so much, if there is enough."""
        with self._lock:
            if self.balance >= amount:
                self.balance -= amount


def two_customers(account: Account) -> None:
    """Let two threads withdraw six of ten."""
    threads = [threading.Thread(target=account.withdraw, args=(6,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert account.balance >= 0, "overdrawn"


def broken() -> None:
    """One run of the account above."""
    two_customers(Account(10))


def mended() -> None:
    """One run of the careful one."""
    two_customers(CarefulAccount(10))
