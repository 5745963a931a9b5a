"""Writes recorded traces as a TLA+ module, so that TLC judges them against SystemTimer.tla.

One variable selects the trace, another has the position in each of its lanes: there is one lane if
the order of all steps is known, else one for each thread. A step takes the action of the next
event, restricted to the event's observations. Each thread of the module makes one kind of call, so
a recorded thread becomes several module threads, of which at most one is active. The clock moves
only as far as the next event needs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wheelproof_lab.trace.search import Step, lanes_of
from wheelproof_spec.base.codec.tables import read_template
from wheelproof_spec.base.codec.vocabulary import ABSENT
from wheelproof_spec.base.errors import UsageError
from wheelproof_spec.components.timer.actions import (
    Binding,
    Bound,
    BucketSeen,
    Claimed,
    ClockRead,
    EntryTaken,
    ExpirationSet,
    Found,
    InsertSeen,
    TaskNamed,
    Unbound,
    WheelClock,
)
from wheelproof_spec.components.timer.component import TimerConfig

MODULE = "RecordedTraces"
REACHED = "REACHED"
_GREATEST = 2_000_000_000
"""TLC's integers have 32 bits."""
_POLLED = {"level": "polled_level", "bucket": "polled_bucket", "expiration_ms": "polled_key"}
_SEEN: Mapping[type[object], Mapping[str, str]] = {
    Bound: {"expiration_ms": "deadline"},
    InsertSeen: {"taken": "taken", "level": "new_level", "bucket": "new_bucket"},
    BucketSeen: {"level": "level", "bucket": "bucket", "expiration_ms": "key"},
    ExpirationSet: {"expiration_ms": "set_key", "changed": "changed"},
    Claimed: {"submitted": "submitted"},
    Found: {"found": "found"},
    Unbound: {"cancelled": "cancelled"},
    WheelClock: {"wheel_ms": "wheel"},
    EntryTaken: {"task": "flushed"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTrace:
    """A trace for TLC: its steps, whether they are in order, and its silent actions."""

    steps: tuple[Step, ...]
    in_order: bool
    silent: frozenset[str]


@dataclass(slots=True)
class _Cast:
    """The tasks and threads of the module, for all traces together."""

    delays: dict[str, int] = field(default_factory=dict[str, int])
    adders: dict[str, str] = field(default_factory=dict[str, str])
    cancellers: dict[str, str] = field(default_factory=dict[str, str])
    advancers: set[str] = field(default_factory=set[str])
    closers: set[str] = field(default_factory=set[str])
    owners: dict[str, int] = field(default_factory=dict[str, int])


class _Names:
    """The module's names for the tasks and threads of one trace."""

    def __init__(self, cast: _Cast, steps: Sequence[Step]) -> None:
        self._cast = cast
        self._used: dict[str, int] = {}
        self._threads: dict[str, int] = {}
        self._playing: dict[str, str] = {}
        self._last: dict[str, str] = {}
        self._tasks: dict[str, str] = {}
        delays: dict[str, int] = {}
        for step in steps:
            args = step.event.args
            if isinstance(args, Binding):
                delays.setdefault(args.task, args.delay_ms)
            elif isinstance(args, TaskNamed):
                self._tasks.setdefault(args.task, "")
        for name in dict.fromkeys([*delays, *self._tasks]):
            self._tasks[name] = self._new_task(delays.get(name, 0))

    def task(self, name: str) -> str:
        """Return the module's name of a task; traces share tasks with the same delay."""
        return self._tasks.get(name) or "unknown"

    def owner(self, thread: str) -> int:
        """Return a recorded thread's number."""
        return self._threads.setdefault(thread, len(self._threads))

    def role(self, step: Step, following: Sequence[Step]) -> str:
        """Return the thread of the module that takes the step."""
        event, thread = step.event, step.event.thread
        owner = self.owner(thread)
        match event.action:
            case "LockRead":
                role = self._adder(owner, following)
            case "CancelRemove":
                assert isinstance(event.args, TaskNamed)
                role = self._canceller(owner, self.task(event.args.task))
            case "StartAdvance":
                role = self._advancer(owner)
            case "CloseLock":
                role = self._fresh(f"x{owner}")
                self._cast.closers.add(role)
            case _:
                role = self._playing.get(thread) or self._advancer(owner)
        self._playing[thread] = role
        self._cast.owners[role] = owner
        if event.action == "UnlockWrite" and self._last.get(thread) == "LockWrite":
            # The call found the timer closed; after that the module's thread takes no step.
            self._used[f"v{owner}"] = self._used.get(f"v{owner}", 0) + 1
        self._last[thread] = event.action
        return role

    def _adder(self, owner: int, following: Sequence[Step]) -> str:
        for step in following:
            if isinstance(step.event.args, Binding):
                task = self.task(step.event.args.task)
                role = f"a{owner}_{task}"
                break
            if step.event.action in ("Refuse", "LockRead", "StartAdvance", "CloseLock"):
                role, task = self._fresh(f"r{owner}"), self._any_task()
                break
        else:
            role, task = self._fresh(f"r{owner}"), self._any_task()
        self._cast.adders[role] = task
        return role

    def _canceller(self, owner: int, task: str) -> str:
        role = self._fresh(f"c{owner}_{task}")
        self._cast.cancellers[role] = task
        return role

    def _advancer(self, owner: int) -> str:
        role = f"v{owner}_{self._used.get(f'v{owner}', 0)}"
        self._cast.advancers.add(role)
        return role

    def _any_task(self) -> str:
        return self._new_task(0) if not self._tasks else next(iter(self._tasks.values()))

    def _new_task(self, delay_ms: int) -> str:
        base = f"d{delay_ms}".replace("-", "m")
        name = self._fresh(base)
        self._cast.delays[name] = delay_ms
        return name

    def _fresh(self, base: str) -> str:
        number = self._used.get(base, 0)
        self._used[base] = number + 1
        return f"{base}_{number}"


def trace_module(config: TimerConfig, traces: Sequence[RecordedTrace]) -> tuple[str, str]:
    """Return the module and its cfg for traces of timers with the same configuration.

    Raises UsageError for a number that TLC cannot hold, or a start_ms that is not 0.
    """
    if config.start_ms:
        raise UsageError("TLC judges traces whose start_ms is 0, since the module begins there")
    cast = _Cast()
    sequences = [_trace(trace, cast) for trace in traces]
    silent = frozenset[str]().union(*(trace.silent for trace in traces))
    design = "FALSE" if config.design == "kafka" else "TRUE"
    cfg = read_template(__file__, f"{MODULE}.cfg").substitute(
        tick=config.tick_ms, size=max(config.wheel_size, 2), design=design
    )
    return _module(cast, sequences, silent), cfg


def _trace(trace: RecordedTrace, cast: _Cast) -> str:
    names = _Names(cast, trace.steps)
    lanes = lanes_of(trace.steps, in_order=trace.in_order)
    written: dict[int, str] = {}
    for lane in lanes_of(trace.steps, in_order=False):
        for at, step in enumerate(lane):
            role = names.role(step, lane[at + 1 :])
            written[id(step)] = _event(step, role, names)
    rows = (",\n   ".join(written[id(step)] for step in lane) for lane in lanes)
    return "<<" + ",\n  ".join(f"<<{row}>>" for row in rows) + ">>"


def _event(step: Step, role: str, names: _Names) -> str:
    low, high = _bounds(step)
    seen = ", ".join(_observations(step, names))
    action = step.event.action
    return (
        f'[a |-> "{action}", t |-> "{role}", th |-> {names.owner(step.event.thread)}, '
        f"low |-> {low}, high |-> {high}, ob |-> <<{seen}>>]"
    )


def _bounds(step: Step) -> tuple[int, int]:
    low, high = max(step.earliest, -1), min(step.latest, _GREATEST)
    obs = step.event.obs
    if isinstance(obs, ClockRead) and isinstance(obs.now_ms, int):
        # The range (1, 0) is empty, since this reading is impossible.
        low, high = (obs.now_ms, obs.now_ms) if low <= obs.now_ms <= high else (1, 0)
    if low > _GREATEST:
        raise UsageError(f"line {step.line}: TLC cannot hold a time of {low} ms")
    return low, high


def _observations(step: Step, names: _Names) -> Iterator[str]:
    event = step.event
    if isinstance(event.args, Binding):
        yield _number("delay", event.args.delay_ms)
    for name, value in _seen(event.action, event.obs):
        if value is ABSENT:
            continue
        if isinstance(value, str):
            yield f'[n |-> "{name}", i |-> 0, s |-> "{names.task(value)}"]'
        else:
            assert isinstance(value, int)
            yield _number(name, int(value))


def _number(name: str, value: int) -> str:
    if abs(value) > _GREATEST:
        raise UsageError(f"TLC cannot hold the number {value}")
    return f'[n |-> "{name}", i |-> {value}, s |-> ""]'


def _seen(action: str, obs: object) -> Iterator[tuple[str, object]]:
    """Yield each observation with its name in the module's Obs."""
    polled = isinstance(obs, BucketSeen) and action in ("Poll", "PollOutside")
    for attribute, name in (_POLLED if polled else _SEEN.get(type(obs), {})).items():
        yield name, getattr(obs, attribute)


def _module(cast: _Cast, traces: Sequence[str], silent: frozenset[str]) -> str:
    roles: dict[int, list[str]] = {}
    for role, owner in cast.owners.items():
        roles.setdefault(owner, []).append(role)
    owners = [roles[owner] for owner in sorted(roles)]
    return read_template(__file__, f"{MODULE}.tla").substitute(
        delays=_function(cast.delays),
        programs=_function({a: f'<<"{task}">>' for a, task in cast.adders.items()}),
        victims=_function({c: f'"{task}"' for c, task in cast.cancellers.items()}),
        advancers=_set(cast.advancers),
        closers=_set(cast.closers),
        owners="<<" + ", ".join(map(_set, owners)) + ">>",
        silent=_set(silent),
        traces=",\n\n ".join(traces),
        reached=REACHED,
    )


def _function(values: Mapping[str, object]) -> str:
    if not values:
        return "[x \\in {} |-> 0]"
    return " @@ ".join(f'("{name}" :> {value})' for name, value in sorted(values.items()))


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(f'"{name}"' for name in sorted(names)) + "}"
