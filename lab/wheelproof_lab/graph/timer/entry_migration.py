"""Comparison of EntryMigration.tla with TimerTask, TimerTaskEntry and TimerTaskList.

One step of the module is one operation of the code on a lock or a cell, together with the plain
code after it. So nearly every step of the code has an action, which follows from the calling
function and the kind of operation. Compared are all variables that the code has too: the holder of
each monitor, bindings, lists, links, counter, submissions, and each thread's next step (`pc`).

Left out on both sides are the registers of a thread (at, holder, target, tail, back, flushing) and
the histories (outcome, replaced, doomed). This loses nothing: the graphs are compared along paths,
and a wrong register shows later as a wrong step or a wrong link; the histories are functions of the
path. `withdrawn` is compared by task, since `cancel` does not tell which entry it prevented.

The flusher of the module takes any bucket that is not empty, in one step with its monitor. Here
each bucket has its own flusher, which may start if its bucket is not empty and no other flusher is
active: together they are the module's flusher. Only the code has a step that sets the expiration to
idle.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from wheelproof import sync
from wheelproof.timer import TimerTask, TimerTaskEntry, TimerTaskList
from wheelproof.units import Millis
from wheelproof_explore.program import Action, Scenario, Settings, forget
from wheelproof_lab.graph.comparing.projected import changes_of, only
from wheelproof_lab.graph.states.names import attributes
from wheelproof_lab.graph.states.views import (
    GraphProgram,
    NextStep,
    Surroundings,
    View,
    ViewedRun,
)
from wheelproof_spec.tlc.states.values import ModelValue, State, Value, make_function

NONE = ModelValue(name="None")
EXPIRED = "Expired"
"""The place of an entry that is due, instead of the name of a bucket."""

FLUSHER = "f"
_VARIABLES = (
    "taskMonitor", "bucketMonitor", "entryMonitor", "bound", "list", "next", "prev", "counter",
    "submissions", "pc",
)  # fmt: skip
POLL, FLUSH = "Poll", "FlushLock"
"""The flusher's first step, and the name of its action."""

_ACTIONS = {
    "set_timer_task_entry Acquire TimerTask.monitor": "BindLock",
    "set_timer_task_entry Exchange TimerTask.entry": "BindSwap",
    "set_timer_task_entry Release TimerTask.monitor": "BindUnlock",
    "get_timer_task_entry Get TimerTask.entry": "TestCancelled",
    "claim CompareAndSet TimerTask.entry": "Claim",
    "submit AddAndGet submissions": "Submit",
    "add Acquire TimerTaskList.monitor": "AddLockList",
    "add Acquire TimerTaskEntry.monitor": "AddLockEntry",
    "add Get TimerTaskEntry.list": "AddTest",
    "_link Set TimerTaskEntry.list": "AddLink",
    "_link AddAndGet counter": "AddCount",
    "add Release TimerTaskEntry.monitor": "AddUnlockEntry",
    "add Release TimerTaskList.monitor": "AddUnlockList",
    "remove Get TimerTaskEntry.list": "RemoveReadList",
    "remove Acquire TimerTaskList.monitor": "RemoveLockList",
    "remove Acquire TimerTaskEntry.monitor": "RemoveLockEntry",
    "_holds Get TimerTaskEntry.list": "RemoveTest",
    "_unlink Set TimerTaskEntry.list": "RemoveClear",
    "_unlink AddAndGet counter": "RemoveCount",
    "remove Release TimerTaskEntry.monitor": "RemoveUnlockEntry",
    "remove Release TimerTaskList.monitor": "RemoveUnlockList",
    "cancel Acquire TimerTask.monitor": "CancelLock",
    "cancel Get TimerTask.entry": "CancelRead",
    "cancel CompareAndSet TimerTask.entry": "CancelUnbind",
    "cancel Release TimerTask.monitor": "CancelUnlock",
    "flush Acquire TimerTaskList.monitor": "FlushLock",
    "flush Release TimerTaskList.monitor": "FlushUnlock",
}
"""The action of a step: where it is asked for, its operation, its subject."""
_IDLE_STEP = "flush Set TimerTaskList.expiration"
_STEP_AFTER_IDLE = "FlushUnlock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """The threads of a configuration, and the entries that they add, move, cancel and flush.

    `task_of` maps entries to tasks, `below` buckets to the place of their entries after a flush;
    `adders` and `movers` map threads to an entry and its place, `cancellers` threads to a task.
    """

    task_of: Mapping[str, str]
    below: Mapping[str, str]
    adders: Mapping[str, tuple[str, str]]
    movers: Mapping[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    cancellers: Mapping[str, str] = field(default_factory=dict[str, str])
    flushed: bool = False

    def constants(self) -> dict[str, Value]:
        """Return the constants of EntryMigration."""
        linkers: dict[str, tuple[str, str]] = {**self.adders, **self.movers}
        return {
            "Entries": frozenset(self.task_of),
            "Tasks": frozenset(self.task_of.values()),
            "TaskOf": make_function(self.task_of.items()),
            "Buckets": frozenset(self.below),
            "Below": _places(self.below),
            "Adders": frozenset(self.adders),
            "Movers": frozenset(self.movers),
            "EntryOf": make_function((thread, entry) for thread, (entry, _) in linkers.items()),
            "BucketOf": _places({thread: place for thread, (_, place) in linkers.items()}),
            "Cancellers": frozenset(self.cancellers),
            "Victim": make_function(self.cancellers.items()),
            "Flushers": frozenset({FLUSHER} if self.flushed else ()),
            "Expired": ModelValue(name=EXPIRED),
            "None": NONE,
        }


class _Task(TimerTask):
    __slots__ = ()

    def run(self) -> None:
        """Do nothing: only the submission counts."""


class _Bench(View):
    """The objects of one run, the actions of its threads, and the view of its states."""

    def __init__(self, migration: Migration, bucket_class: type[TimerTaskList]) -> None:
        self._migration = migration
        self._counter = sync.atomic_integer(0, "counter")
        self._buckets = {name: bucket_class(self._counter) for name in migration.below}
        self._tasks = {name: _Task(0) for name in sorted(set(migration.task_of.values()))}
        self._entries = {
            name: TimerTaskEntry(self._tasks[task], Millis(0))
            for name, task in migration.task_of.items()
        }
        self._submissions = {name: sync.atomic_integer(0, "submissions") for name in self._entries}
        self._withdrawn: set[str] = set()
        self._roots = {name: attributes(bucket)["_root"] for name, bucket in self._buckets.items()}
        groups: tuple[Mapping[str, object], ...] = (self._entries, self._buckets, self._roots)
        self._names = {id(member): name for group in groups for name, member in group.items()}
        self._monitors: dict[str, dict[str, object]] = {
            "taskMonitor": {
                name: attributes(task)["_monitor"] for name, task in self._tasks.items()
            },
            "bucketMonitor": {
                name: attributes(bucket)["_monitor"] for name, bucket in self._buckets.items()
            },
            "entryMonitor": {name: entry.monitor for name, entry in self._entries.items()},
        }

    def threads(self) -> dict[str, Action]:
        """Return the action of each thread."""
        migration = self._migration
        threads: dict[str, Action] = {
            name: partial(self._add, self._entries[entry], place)
            for name, (entry, place) in migration.adders.items()
        }
        for name, (entry, bucket) in migration.movers.items():
            threads[name] = partial(self._buckets[bucket].add, self._entries[entry])
        for name, task in migration.cancellers.items():
            threads[name] = partial(self._cancel, task)
        for name in migration.below if migration.flushed else ():
            threads[_flusher(name)] = partial(self._flush, name)
        return threads

    def _add(self, entry: TimerTaskEntry, place: str) -> None:
        entry.timer_task.set_timer_task_entry(entry)
        self._put(entry, place)

    def _put(self, entry: TimerTaskEntry, place: str) -> None:
        """Handle an entry whose place is known, as the timer and its wheel do."""
        if not entry.cancelled() and place != EXPIRED:
            self._buckets[place].add(entry)
        elif entry.timer_task.claim(entry):
            self.submit(entry)

    def submit(self, entry: TimerTaskEntry) -> None:
        """Count a submission, in place of an executor."""
        self._submissions[self._names[id(entry)]].add_and_get(1)

    def _cancel(self, task: str) -> None:
        if self._tasks[task].cancel():
            self._withdrawn.add(task)

    def _flush(self, bucket: str) -> None:
        below = self._migration.below[bucket]
        while True:
            forget()
            self._buckets[bucket].flush(lambda entry: self._put(entry, below))

    def state(self, surroundings: Surroundings) -> State:
        """Return the variables of EntryMigration that the code has too."""
        links = {**self._entries, **self._roots}
        return {
            **{name: _holders(some, surroundings) for name, some in self._monitors.items()},
            "bound": make_function(
                (name, self._named(task.get_timer_task_entry()))
                for name, task in self._tasks.items()
            ),
            "list": make_function(
                (name, self._named(entry.list.get())) for name, entry in self._entries.items()
            ),
            **{
                field: make_function(
                    (name, self._named(_link(link, field))) for name, link in links.items()
                )
                for field in ("next", "prev")
            },
            "counter": self._counter.get(),
            "submissions": make_function(
                (name, submitted.get()) for name, submitted in self._submissions.items()
            ),
            "withdrawn": frozenset(self._withdrawn),
            "pc": make_function(self._steps(surroundings).items()),
        }

    def label(self, step: NextStep) -> str | None:
        """Return thread and action."""
        action = action_of(step)
        return None if action is None else f"{_thread(step.thread)}: {action}"

    def permits(self, step: NextStep, surroundings: Surroundings) -> bool:
        """Allow a flusher to start if its bucket is not empty and no other flusher is active."""
        if action_of(step) != FLUSH:
            return True
        root = self._roots[step.thread.partition(":")[2]]
        return _link(root, "next") is not root and self._flusher_step(surroundings) == POLL

    def _steps(self, surroundings: Surroundings) -> dict[str, Value]:
        threads = (*self._migration.adders, *self._migration.movers, *self._migration.cancellers)
        steps: dict[str, Value] = {
            name: pc_of(surroundings.pending[name]) if name in surroundings.pending else "Done"
            for name in threads
        }
        if self._migration.flushed:
            steps[FLUSHER] = self._flusher_step(surroundings)
        return steps

    def _flusher_step(self, surroundings: Surroundings) -> str:
        steps = (surroundings.pending.get(_flusher(name)) for name in self._buckets)
        at_work = [pc_of(step) for step in steps if step is not None and pc_of(step) != POLL]
        return " and ".join(at_work) or POLL

    def _named(self, member: object) -> Value:
        return NONE if member is None else self._names[id(member)]


def entry_migration(
    migration: Migration, bucket_class: type[TimerTaskList] = TimerTaskList
) -> GraphProgram:
    """Return the program of a configuration for a class of buckets."""

    def build() -> ViewedRun:
        bench = _Bench(migration, bucket_class)
        return ViewedRun(scenario=Scenario(threads=bench.threads()), view=bench)

    return GraphProgram(
        name="EntryMigration",
        build=build,
        watched=(TimerTaskEntry, TimerTaskList),
        settings=Settings(may_wait=frozenset(map(_flusher, migration.below))),
    )


def project_entry_migration(task_of: Mapping[str, str]) -> Callable[[State], State]:
    """Return the projection of the module's states to the variables that the code has too."""

    def project(state: State) -> State:
        withdrawn = state["withdrawn"]
        assert isinstance(withdrawn, frozenset)
        tasks = frozenset(task_of[entry] for entry in withdrawn if isinstance(entry, str))
        return {**only(state, _VARIABLES), "withdrawn": tasks}

    return project


def label_of_entry_migration(action: str, before: State, after: State) -> str | None:
    """Return thread and action of a step of the module; the thread is the one whose `pc` changes.

    The thread's `pc` before the step is the action's name, even if an operator was overridden.
    """
    del action
    for thread, step, _ in changes_of("pc", before, after):
        return f"{thread}: {FLUSH if step == POLL else step}"
    return None


def _holders(monitors: Mapping[str, object], surroundings: Surroundings) -> Value:
    holders = ((name, surroundings.holder(monitor)) for name, monitor in monitors.items())
    return make_function(
        (name, NONE if holder is None else _thread(holder)) for name, holder in holders
    )


def _flusher(bucket: str) -> str:
    return f"{FLUSHER}:{bucket}"


def _thread(name: str) -> str:
    return name.partition(":")[0]


def _link(entry: object, field: str) -> object:
    return getattr(entry, field, None)


def _places(values: Mapping[str, str]) -> Value:
    due = ModelValue(name=EXPIRED)
    return make_function(
        (name, due if place == EXPIRED else place) for name, place in values.items()
    )


def action_of(step: NextStep) -> str | None:
    """Return the action, None if only the code has the step; the text of an unknown step."""
    key = f"{step.site} {step.operation} {step.subject}"
    if key == _IDLE_STEP:
        return None
    return _ACTIONS.get(key, f"{step.text} in {step.site}")


def pc_of(step: NextStep) -> str:
    """Return the `pc` of a thread that is about to make the step."""
    action = action_of(step) or _STEP_AFTER_IDLE
    return POLL if action == FLUSH else action
