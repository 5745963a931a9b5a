"""Programs with liveness properties; graph mode alone can judge them.

`wheelproof explore NAME --engine graph`
"""

from functools import partial

from wheelproof import sync
from wheelproof.sync import Monitor
from wheelproof_explore.program import (
    Action,
    LeadsTo,
    Program,
    Scenario,
    Settings,
    Wakes,
    forget,
)
from wheelproof_lab.worlds.making import program


class WriterPreferringLock:
    """A read-write lock in which a reader waits as long as any writer waits.

    Phases correct this: two threads that write in turn keep every reader out (docs/findings.md).
    """

    def __init__(self) -> None:
        self._lock = sync.lock("lock")
        self._changed = sync.condition(self._lock, "changed")
        self._readers = sync.volatile(0, "readers")
        self._waiting_writers = sync.volatile(0, "waiting writers")
        self._writing = sync.volatile(False, "writing")

    def read(self) -> None:
        """Enter the read side and leave it."""
        with self._lock:
            while self._writing.get() or self._waiting_writers.get():
                self._changed.wait()
                forget()
            self._readers.set(self._readers.get() + 1)
        with self._lock:
            self._readers.set(self._readers.get() - 1)
            self._changed.notify_all()

    def write(self) -> None:
        """Enter the write side and leave it."""
        with self._lock:
            self._waiting_writers.set(self._waiting_writers.get() + 1)
            while self._writing.get() or self._readers.get():
                self._changed.wait()
                forget()
            self._waiting_writers.set(self._waiting_writers.get() - 1)
            self._writing.set(True)
        with self._lock:
            self._writing.set(False)
            self._changed.notify_all()


def advancers_and_adder(*, phases: bool) -> Scenario:
    """Two threads advance repeatedly, under the write side of a lock; a third adds once."""
    fair = sync.read_write_lock("rw", prefer_writers=True)
    plain = WriterPreferringLock()
    write = partial(_enter, fair.write) if phases else plain.write
    read = partial(_enter, fair.read) if phases else plain.read

    def advance() -> None:
        while True:
            forget()
            write()

    return Scenario(threads={"advancer 1": advance, "advancer 2": advance, "adder": read})


class Mailbox:
    """Messages for threads that wait for them."""

    def __init__(self) -> None:
        self._lock = sync.lock("mailbox")
        self._arrived = sync.condition(self._lock, "arrived")
        self._messages = sync.volatile(0, "messages")

    def put(self, *, notify_first_only: bool) -> None:
        """Put a message in, and wake a taker: always, or only if the box was empty."""
        with self._lock:
            before = self._messages.get()
            self._messages.set(before + 1)
            if not (before and notify_first_only):
                self._arrived.notify()

    def take(self) -> None:
        """Take a message out, waiting for one."""
        with self._lock:
            while self._messages.get() == 0:
                self._arrived.wait()
            self._messages.set(self._messages.get() - 1)

    def wakes(self) -> Wakes:
        """Return the property that no thread waits for ever while a message is there."""
        return Wakes(condition=self._arrived, when=self.has_messages)

    def has_messages(self) -> bool:
        """Tell whether a message is there."""
        return self._messages.get() > 0


def mailbox(*, notify_first_only: bool) -> Scenario:
    """Two threads send a message each, two threads take one each: every message is taken."""
    box = Mailbox()
    threads: dict[str, Action] = {
        f"sender {number}": partial(box.put, notify_first_only=notify_first_only)
        for number in (1, 2)
    }
    return Scenario(
        threads=threads | {"taker 1": box.take, "taker 2": box.take},
        wakes=[box.wakes()],
        leads_to=[
            LeadsTo(
                name="every message is taken",
                when=box.has_messages,
                then=lambda: not box.has_messages(),
            )
        ],
    )


def _enter(view: Monitor) -> None:
    with view:
        pass


_TAKERS = Settings(may_wait=frozenset({"taker 1", "taker 2"}))
_ADVANCERS = Settings(may_wait=frozenset({"advancer 1", "advancer 2"}))


FOR_EVER: tuple[Program, ...] = (
    program("phase-fair", partial(advancers_and_adder, phases=True), _ADVANCERS),
    program("mailbox", partial(mailbox, notify_first_only=False), _TAKERS),
)
"""Programs that pass in graph mode."""

FOR_EVER_BUGS: tuple[Program, ...] = (
    program("writers-starve-readers", partial(advancers_and_adder, phases=False), _ADVANCERS),
    program("mailbox-notified-once", partial(mailbox, notify_first_only=True), _TAKERS),
)
"""Programs that fail in graph mode."""
