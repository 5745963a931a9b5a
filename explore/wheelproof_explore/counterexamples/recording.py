"""A run with all its states: after each step, what each thread holds and waits for.

A counterexample has the steps of a run. A recording also has the state after each step, so that a
reader can go through the run step by step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from wheelproof_explore.counterexamples.counterexample import column_names
from wheelproof_explore.failures.failure import Failure
from wheelproof_explore.failures.places import SourceLine
from wheelproof_explore.program import PublicOperations
from wheelproof_explore.runs.execution import Execution, World
from wheelproof_explore.runtime.cells import short
from wheelproof_explore.runtime.conditions import ModelCondition, WakeUp
from wheelproof_explore.runtime.locks import ModelLock, ModelMonitor
from wheelproof_explore.runtime.model import Enrolled, ModelThread
from wheelproof_explore.runtime.numbers import Actor, ObjectNumber, thread_of
from wheelproof_explore.runtime.read_write_lock import ModelReadWriteLock
from wheelproof_explore.runtime.runtime import ControlledRuntime
from wheelproof_explore.runtime.thread_steps import Life
from wheelproof_explore.strategies.replay import ReplayStrategy

_FREE = "free"
_PLAIN_VALUES = (bool, int, float, str, type(None), Life)


class KeepingRuntime(ControlledRuntime):
    """The runtime of a recorded run: `objects` are the run's objects, in the order of creation."""

    def __init__(self, world: World) -> None:
        self.objects: list[Enrolled] = []
        program = world.program
        super().__init__(
            program.name, program.settings, world.substrate, world.numbers, logging=True
        )
        # The clock is not an object of the program.
        self.objects.clear()

    def enroll(self, made: Enrolled, name: str) -> tuple[ObjectNumber, str]:
        """Register a new object, and keep it in `objects`."""
        self.objects.append(made)
        return super().enroll(made, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A lock and a thread that holds it, both by their numbers in the recording."""

    lock: int
    thread: int
    shared: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The state between two steps.

    `values` has a text for each object that has been made so far, `threads` one for each thread of
    the whole run. `waiting` are the threads that cannot make a step now.
    """

    values: tuple[str, ...]
    threads: tuple[str, ...]
    waiting: frozenset[int]
    holds: tuple[Hold, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedStep:
    """A step: the thread that made it, by its number in the recording, and the state after it.

    `line` is the line of the program that made the step, if one did.
    """

    thread: int
    text: str
    line: SourceLine | None
    after: Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecording:
    """A run: the names of its threads and objects, how it began, each step, and how it ended.

    `drawing` is the history of its public operations as HTML, if it has one.
    """

    threads: tuple[str, ...]
    objects: tuple[str, ...]
    beginning: Snapshot
    steps: tuple[RecordedStep, ...]
    failure: Failure | None
    drawing: str

    def changes(self) -> tuple[tuple[tuple[int, str], ...], ...]:
        """Return for each step the objects that it changed, each with its new value."""
        moments = [self.beginning, *(step.after for step in self.steps)]
        return tuple(_changed(before.values, after.values) for before, after in pairwise(moments))


def record(world: World, actors: Sequence[Actor]) -> RunRecording:
    """Replay a schedule and record every state; after its end each thread runs on."""
    strategy = ReplayStrategy(actors)
    execution = _RecordedExecution(world)
    camera = _Camera(execution)
    try:
        moments = [camera.look()]
        while (event := strategy.choose(execution)) is not None:
            execution.step(*event)
            moments.append(camera.look())
        log = tuple(zip(execution.runtime.log or (), execution.runtime.lines, strict=True))
        made = tuple(execution.actors)
        names = column_names(execution.threads)
        objects = tuple(execution.keeping.objects)
        failure = execution.judge()
        history = execution.scenario.history
        drawing = history.drawing() if isinstance(history, PublicOperations) else ""
    finally:
        execution.close()
    numbers = {number: place for place, number in enumerate(sorted(names))}
    return RunRecording(
        threads=tuple(names[number] for number in numbers),
        objects=tuple(made_object.name for made_object in objects),
        beginning=moments[0].moment(numbers),
        steps=tuple(
            RecordedStep(
                thread=numbers[thread_of(actor)], text=text, line=line, after=seen.moment(numbers)
            )
            for actor, (text, line), seen in zip(made, log, moments[1:], strict=True)
        ),
        failure=failure,
        drawing=drawing,
    )


class _RecordedExecution(Execution):
    def __init__(self, world: World) -> None:
        super().__init__(world, logging=True)

    def new_runtime(self, world: World, *, logging: bool) -> ControlledRuntime:
        del logging
        self.keeping = KeepingRuntime(world)
        return self.keeping


@dataclass(frozen=True, slots=True)
class _Picture:
    """A state, with the thread numbers of the run."""

    values: tuple[str, ...]
    threads: Mapping[Actor, str]
    waiting: frozenset[Actor]
    holds: tuple[tuple[int, Actor, bool], ...]

    def moment(self, numbers: Mapping[Actor, int]) -> Snapshot:
        """Return the state with the thread numbers of the recording."""
        return Snapshot(
            values=self.values,
            threads=tuple(self.threads.get(number, "not there yet") for number in numbers),
            waiting=frozenset(numbers[number] for number in self.waiting),
            holds=tuple(
                Hold(lock=lock, thread=numbers[thread], shared=shared)
                for lock, thread, shared in self.holds
                # What builds a program is no thread of the recording, and may hold a lock.
                if thread in numbers
            ),
        )


class _Camera:
    def __init__(self, execution: _RecordedExecution) -> None:
        self._execution = execution
        self._things: dict[int, tuple[object, str]] = {}
        self._known: dict[str, int] = {}

    def look(self) -> _Picture:
        objects = self._execution.keeping.objects
        threads = self._execution.threads.values()
        return _Picture(
            values=tuple(self._value(made) for made in objects),
            threads={thread.number: _doing(thread) for thread in threads},
            waiting=frozenset(thread.number for thread in threads if _is_blocked(thread)),
            holds=tuple(
                (place, thread, shared)
                for place, made in enumerate(objects)
                for thread, shared in _holders(made)
            ),
        )

    def _value(self, made: Enrolled) -> str:
        lock_or_queue = self._synchronizer(made)
        return self._shown(made.state) if lock_or_queue is None else lock_or_queue

    def _synchronizer(self, made: object) -> str | None:
        if isinstance(made, ModelReadWriteLock):
            state = made.state
            parts = (
                ("written by", [] if state.writer is None else [state.writer]),
                ("read by", sorted(state.readers)),
                ("to be written by", sorted(state.waiting_writers)),
                ("to be read by", sorted(state.waiting_readers)),
            )
            said = [f"{verb} {', '.join(map(self._name, who))}" for verb, who in parts if who]
            return "; ".join(said) or _FREE
        if isinstance(made, ModelLock | ModelMonitor):
            return _FREE if made.state is None else f"held by {self._name(made.state)}"
        if isinstance(made, ModelCondition):
            names = ", ".join(thread.name for thread in made.state)
            return f"waiting: {names}" if names else "nobody waits"
        return None

    def _shown(self, value: object) -> str:
        if isinstance(value, Life):
            return value.name.lower()
        if isinstance(value, _PLAIN_VALUES):
            return short(value)
        known = self._things.get(id(value))
        if known is None:
            kind = type(value).__name__
            self._known[kind] = number = self._known.get(kind, 0) + 1
            # Kept alive, so that nothing else gets its address.
            known = self._things[id(value)] = value, f"{kind} {number}"
        return known[1]

    def _name(self, number: int) -> str:
        thread = self._execution.threads.get(number)
        return "set-up" if thread is None else thread.name


def _holders(made: object) -> list[tuple[Actor, bool]]:
    if isinstance(made, ModelReadWriteLock):
        writer, readers = made.state.writer, made.state.readers
        writing = [] if writer is None else [(writer, False)]
        return writing + [(thread, True) for thread in sorted(readers) if thread != writer]
    if isinstance(made, ModelLock | ModelMonitor) and made.state is not None:
        return [(made.state, False)]
    return []


def _is_blocked(thread: ModelThread) -> bool:
    return thread.pending is not None and thread.pending.peek(thread) is None


def _doing(thread: ModelThread) -> str:
    operation = thread.pending
    if thread.ended:
        return "ended" if thread.error is None else f"raised {type(thread.error).__name__}"
    if operation is None:
        return "has not begun"
    if isinstance(operation, WakeUp):
        name = operation.condition.name
        return f"notified by {name}" if thread.signal.state else f"waits on {name}"
    return operation.blocked() if _is_blocked(thread) else f"next: {operation.describe()}"


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[tuple[int, str], ...]:
    pairs = zip_longest(before, after, fillvalue="")
    return tuple((place, new) for place, (old, new) in enumerate(pairs) if old != new)
