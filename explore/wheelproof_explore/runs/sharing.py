"""The state that threads were seen to share: without any, the exploration shows nothing.

Only steps are seen: operations on locks, conditions and cells of `wheelproof.sync`, and on watched
fields. Threads that share nothing else have one class, which says nothing about them.
"""

from wheelproof_explore.runs.execution import Execution
from wheelproof_explore.runtime.accesses import Accesses
from wheelproof_explore.runtime.model import AtomicOperation
from wheelproof_explore.runtime.numbers import (
    HISTORY,
    TIME,
    Actor,
    object_of,
    thread_of,
)
from wheelproof_explore.runtime.thread_steps import (
    Choose,
    Finish,
    Join,
    Mark,
    Observe,
    Start,
)

_SEEN = (
    "the checker sees locks, conditions and cells of wheelproof.sync, and those of threading where "
    "it is patched, fields declared with GuardedBy, and plain_fields, and nothing else; with "
    "--instrument MODULE it sees what the code of a module reads and writes"
)


_NOTHING_SEEN = Choose, Finish, Mark
"""The begin of a call, or the end of a thread, shows nothing of the thread's work."""


class Sharing:
    """The sharing that has been seen so far."""

    def __init__(self) -> None:
        self._conflict = False
        self._known = 0
        self._threads: dict[int, str] = {}
        self._busy: set[int] = {TIME}
        self._touched: dict[object, tuple[set[int], set[int]]] = {}

    def note(self, execution: Execution) -> None:
        """Record a finished run, unless nothing new can be seen in it."""
        known = len(execution.threads) <= self._known
        if known and self._conflict and self._threads.keys() <= self._busy:
            return
        self._touched.clear()
        for place, operation in enumerate(execution.operations):
            if operation is not None:
                self.step(execution, execution.actors[place], operation, execution.accesses[place])
        for field in execution.runtime.field_log:
            self._touch((field.owner, field.field), field.thread, write=field.write)

    def step(
        self,
        execution: Execution,
        actor: Actor,
        operation: AtomicOperation[object],
        accesses: Accesses,
    ) -> None:
        """Record a step, and the threads that exist after it."""
        if self._known < len(execution.threads):
            self._known = len(execution.threads)
            # A daemon thread may wait for ever, so its steps need not be seen.
            found = [thread for thread in execution.threads.values() if not thread.daemon]
            self._threads |= {thread.number: thread.name for thread in found}
        if isinstance(operation, _NOTHING_SEEN):
            return
        self._busy.add(thread_of(actor))
        if self._conflict or isinstance(operation, Start | Join | Observe):
            return
        for access in accesses:
            number = object_of(access)
            if number not in (HISTORY, execution.runtime.clock.number):
                self._touch(number, thread_of(actor), write=bool(access & 1))

    def add(self, other: "Sharing") -> None:
        """Add what another process has seen."""
        self._conflict |= other._conflict
        self._threads |= other._threads
        self._busy |= other._busy

    def gap(self, *, of_one_thread: bool = False) -> str:
        """Return in a sentence why the runs show nothing; empty if they show something.

        With `of_one_thread` the steps of a single thread show something as well.
        """
        blind = [name for number, name in self._threads.items() if number not in self._busy]
        alone = of_one_thread and len(self._threads.keys() - {TIME}) == 1
        if not self._conflict and not alone:
            return f"no two threads were seen to share anything that changes; {_SEEN}"
        if blind:
            return f"nothing was seen of what {' and '.join(blind)} did; {_SEEN}"
        return ""

    def _touch(self, what: object, thread: int, *, write: bool) -> None:
        readers, writers = self._touched.setdefault(what, (set(), set()))
        (writers if write else readers).add(thread)
        self._busy.add(thread)
        self._conflict = self._conflict or (bool(writers) and len(readers | writers) > 1)
