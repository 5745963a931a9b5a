"""Classic programs with a known number of classes, which the engines have to reproduce.

The programs without a lock are from GenMC's tests and the POPL 2014 paper on optimal reduction.
"""

from collections.abc import Callable
from functools import partial

from wheelproof import sync
from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_lab.worlds.making import discarding, program

_BLOCKS = 26
_INODES = 32
_CELLS = 128
_MESSAGES = 4


def readers(count: int) -> Scenario:
    """One thread writes a cell and `count` threads read it."""
    cell = sync.volatile(0, "x")
    threads: dict[str, Action] = {"writer": partial(cell.set, 1)}
    for number in range(count):
        threads[f"reader {number}"] = discarding(cell.get)
    return Scenario(threads=threads)


def last_zero(count: int) -> Scenario:
    """Each of `count` threads sets a cell to its neighbour + 1; one searches for the last zero."""
    cells = [sync.volatile(0, f"a[{number}]") for number in range(count + 1)]

    def search() -> None:
        number = count
        while cells[number].get() != 0:
            number -= 1

    def write(number: int) -> None:
        cells[number].set(cells[number - 1].get() + 1)

    threads: dict[str, Action] = {"search": search}
    for number in range(1, count + 1):
        threads[f"write {number}"] = partial(write, number)
    return Scenario(threads=threads)


def indexer(count: int, *, with_locks: bool) -> Scenario:
    """`count` threads insert messages into a hash table; the first one to reach a cell takes it."""
    cells = [sync.atomic_integer(0, f"table[{number}]") for number in range(_CELLS)]
    locks = [sync.lock(f"lock[{number}]") for number in range(_CELLS)]

    def take(place: int, message: int) -> bool:
        if not with_locks:
            return cells[place].compare_and_set(0, message)
        with locks[place]:
            if cells[place].get() != 0:
                return False
            cells[place].set(message)
            return True

    def insert(thread: int) -> None:
        for number in range(1, _MESSAGES + 1):
            message = number * 11 + thread
            place = message * 7 % _CELLS
            while not take(place, message):
                place = (place + 1) % _CELLS

    return Scenario(threads=_numbered(count, insert))


def file_system(count: int) -> Scenario:
    """`count` threads each give a block to an inode that has none, under the locks of both."""
    inodes = [sync.volatile(0, f"inode[{number}]") for number in range(_INODES)]
    inode_locks = [sync.lock(f"inode lock[{number}]") for number in range(_INODES)]
    busy = [sync.volatile(False, f"busy[{number}]") for number in range(_BLOCKS)]
    block_locks = [sync.lock(f"block lock[{number}]") for number in range(_BLOCKS)]

    def allocate(thread: int) -> None:
        inode = thread % _INODES
        with inode_locks[inode]:
            if inodes[inode].get() != 0:
                return
            block = inode * 2 % _BLOCKS
            while True:
                with block_locks[block]:
                    if not busy[block].get():
                        busy[block].set(True)
                        inodes[inode].set(block + 1)
                        return
                block = (block + 1) % _BLOCKS

    return Scenario(threads=_numbered(count, allocate))


def locked_increments(count: int) -> Scenario:
    """`count` threads increment one counter under a lock."""
    counter = sync.volatile(0, "counter")
    lock = sync.lock("lock")

    def increment() -> None:
        with lock:
            counter.set(counter.get() + 1)

    def check() -> None:
        assert counter.get() == count, f"{counter.get()} after {count} increments"

    return Scenario(threads=_same(count, increment), check=check)


def increments(count: int) -> Scenario:
    """`count` threads read one counter and write it back, incremented by one."""
    counter = sync.volatile(0, "counter")

    def increment() -> None:
        counter.set(counter.get() + 1)

    return Scenario(threads=_same(count, increment))


def lost_update() -> Scenario:
    """Two threads increment without a lock: a program that fails."""
    counter = sync.volatile(0, "counter")

    def increment() -> None:
        counter.set(counter.get() + 1)

    def check() -> None:
        assert counter.get() == 2, f"{counter.get()} after 2 increments"

    return Scenario(threads=_same(2, increment), check=check)


def cas_then_write(count: int) -> Scenario:
    """`count` threads try to replace the 0 of one cell, then write it."""
    cell = sync.atomic_integer(0, "x")

    def swap(number: int) -> None:
        cell.compare_and_set(0, number + 1)
        cell.set(number + 1)

    return Scenario(threads=_numbered(count, swap))


def cas_rotation(count: int) -> Scenario:
    """Thread number i replaces i by i + 1 in one cell, once, if it can."""
    cell = sync.atomic_integer(0, "x")

    def rotate(number: int) -> None:
        cell.compare_and_set(number, number + 1)

    return Scenario(threads=_numbered(count, rotate))


def coherence(count: int) -> Scenario:
    """Two threads write one cell, read one other cell each, and read the first one again.

    `count` - 1 more threads write both other cells.
    """
    x, y, z = (sync.volatile(0, name) for name in "xyz")

    def write_and_read(value: int, other: sync.Volatile[int]) -> None:
        x.set(value)
        other.get()
        x.get()

    def write_both(number: int) -> None:
        y.set(number)
        z.set(number)

    first: dict[str, Action] = {
        "one": partial(write_and_read, 1, y),
        "two": partial(write_and_read, 2, z),
    }
    return Scenario(threads=first | _numbered(count - 1, write_both))


def philosophers(count: int, *, ordered: bool) -> Scenario:
    """`count` philosophers take two forks each: the left one first, or the lower-numbered."""
    forks = [sync.lock(f"fork {number}") for number in range(count)]

    def dine(number: int) -> None:
        left, right = number, (number + 1) % count
        first, second = sorted((left, right)) if ordered else (left, right)
        with forks[first], forks[second]:
            pass

    return Scenario(threads=_numbered(count, dine))


def _numbered(count: int, body: Callable[[int], None]) -> dict[str, Action]:
    return {f"t{number}": partial(body, number) for number in range(count)}


def _same(count: int, body: Action) -> dict[str, Action]:
    return {f"t{number}": body for number in range(count)}


CLASSICS: tuple[Program, ...] = (
    program("readers-4", partial(readers, 4)),
    program("last-zero-5", partial(last_zero, 5)),
    program("indexer-12", partial(indexer, 12, with_locks=False)),
    program("indexer-locks-12", partial(indexer, 12, with_locks=True)),
    program("file-system-16", partial(file_system, 16)),
    program("locked-increments-4", partial(locked_increments, 4)),
    program("increments-3", partial(increments, 3)),
    program("cas-then-write-3", partial(cas_then_write, 3)),
    program("cas-rotation-6", partial(cas_rotation, 6)),
    program("coherence-3", partial(coherence, 3)),
    program("philosophers-4", partial(philosophers, 4, ordered=True)),
)
