"""Programs around conditions: wake-ups that are lost, buffers, readers and writers."""

from functools import partial

from wheelproof import sync
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Program, Scenario
from wheelproof_lab.worlds.making import discarding, program

_TIMEOUT = Millis(10)


def event(*, mended: bool) -> Scenario:
    """One thread waits for a flag that another one raises.

    Unless `mended`, the flag is tested before the lock is taken, so that the wake-up can be lost.
    """
    flag = sync.volatile(False, "flag")
    lock = sync.lock("lock")
    raised = sync.condition(lock, "raised")

    def await_early_test() -> None:
        if not flag.get():
            with lock:
                raised.wait()

    def await_under_lock() -> None:
        with lock:
            while not flag.get():
                raised.wait()

    def raise_flag() -> None:
        flag.set(True)
        with lock:
            raised.notify()

    waiter = await_under_lock if mended else await_early_test
    return Scenario(threads={"waiter": waiter, "raiser": raise_flag})


class Slot:
    """A buffer with room for one item; with a time-out, a thread gives up after it."""

    def __init__(self, timeout_ms: Millis | None = None) -> None:
        self._timeout_ms = timeout_ms
        self._lock = sync.lock("slot")
        self._not_empty = sync.condition(self._lock, "not empty")
        self._not_full = sync.condition(self._lock, "not full")
        self._full = False

    def put(self) -> None:
        """Put an item in, waiting for room."""
        with self._lock:
            while self._full:
                if not self._not_full.wait(self._timeout_ms):
                    return
            self._full = True
            self._not_empty.notify()

    def take(self) -> None:
        """Take an item out, waiting for one."""
        with self._lock:
            while not self._full:
                if not self._not_empty.wait(self._timeout_ms):
                    return
            self._full = False
            self._not_full.notify()


def one_slot(producers: int, consumers: int, *, timed: bool) -> Scenario:
    """Each of the producers puts one item into a slot, each of the consumers takes one."""
    slot = Slot(_TIMEOUT if timed else None)
    threads: dict[str, Action] = {f"producer {number}": slot.put for number in range(producers)}
    threads |= {f"consumer {number}": slot.take for number in range(consumers)}
    return Scenario(threads=threads)


def readers_and_writers(readers: int, writers: int, *, prefer_writers: bool) -> Scenario:
    """Readers never see half of a writer's two writes."""
    lock = sync.read_write_lock("rw", prefer_writers=prefer_writers)
    left, right = sync.volatile(0, "left"), sync.volatile(0, "right")

    def read() -> None:
        with lock.read:
            seen = left.get(), right.get()
        assert seen[0] == seen[1], f"read {seen}"

    def write(value: int) -> None:
        with lock.write:
            left.set(value)
            right.set(value)

    threads: dict[str, Action] = {f"reader {number}": read for number in range(readers)}
    threads |= {f"writer {number}": partial(write, number + 1) for number in range(writers)}
    return Scenario(threads=threads)


def executor() -> Scenario:
    """Two tasks are submitted to a single-thread executor, which is then shut down."""
    done = sync.atomic_integer(0, "done")
    single = sync.single_thread_executor("executor")

    def submit_and_shut_down() -> None:
        for _ in range(2):
            single.submit(discarding(partial(done.add_and_get, 1)))
        single.shutdown()

    def check() -> None:
        assert done.get() == 2, f"{done.get()} of 2 tasks have run"

    return Scenario(threads={"submitter": submit_and_shut_down}, check=check)


WAITING: tuple[Program, ...] = (
    program("event", partial(event, mended=True)),
    program("slot-2-producers", partial(one_slot, 2, 2, timed=False)),
    program("slot-timed", partial(one_slot, 2, 1, timed=True)),
    program("readers-writers", partial(readers_and_writers, 2, 1, prefer_writers=True)),
    program("readers-writers-fair", partial(readers_and_writers, 2, 1, prefer_writers=False)),
    program("executor", executor),
)
