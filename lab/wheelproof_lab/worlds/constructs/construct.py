"""The ways of Python to read and to write what threads share: one row for each.

A row is a lost update: each of two threads reads a number by `read`, and stores the next one, `N`,
by `write`. A lock stands beside it. Explored, the program has to fail, or to be inconclusive; with
both under the lock it has to pass, or to be inconclusive. A thread that reads twice beside one that
writes has to fail, too: that shows that the read alone is seen.

What a row makes `before` is made when its module is imported, before any run. Each run has to begin
with it as it was. That can be state, the lock, an object of an installed package, or a file.
"""

from typing import NamedTuple


class Construct(NamedTuple):
    """A way to read and a way to write; `declares` is what the thread's function says first.

    `lock` is how the threads name the lock.
    """

    name: str
    setup: str
    read: str
    write: str
    declares: str = "pass"
    before: str = ""
    lock: str = "lock"


def made_before(
    name: str, before: str, read: str, write: str, *, declares: str = "pass", lock: str = "lock"
) -> Construct:
    """Return a row whose program sets nothing up in the run."""
    return Construct(name, "pass", read, write, declares, before, lock)
