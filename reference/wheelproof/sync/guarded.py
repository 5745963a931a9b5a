"""Declaring which lock guards a field.

Not every shared field is a cell: most are plain, and a lock guards them. If the code names
that lock, a tool can check that every access holds it.

>>> from typing import Annotated
>>> from wheelproof import sync
>>> from wheelproof.sync import GuardedBy
>>> class Account:
...     def __init__(self) -> None:
...         self._lock = sync.lock("Account.lock")
...         self._balance: Annotated[int, GuardedBy("_lock")] = 0
...     def pay_in(self, amount: int) -> int:
...         with self._lock:
...             self._balance += amount
...             return self._balance
>>> Account().pay_in(5)
5
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuardedBy:
    """Says, inside `Annotated`, that a field is read and written only while `lock` is held.

    `lock` names an attribute of the same object, or, with a dot, of an object that it refers to.
    Several threads may share a plain field only under such a declaration; a model checker verifies
    it on every access but those of the object's own constructor. Where no attribute leads to the
    lock, or it guards the field only for a time, `lock` says so in words; then the checker verifies
    that something orders every two accesses of which one is a write.
    """

    lock: str
