"""Small random histories of a timer and of a pool: each call takes effect at a random moment.

Good ones come from a machine that keeps the rules; a spoiled one has an answer changed, a run
added, dropped or moved.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Literal

from wheelproof_spec.base.calls import AdvanceClock, Advanced, Tick
from wheelproof_spec.base.codec.vocabulary import ABSENT, Absent, Implementation, Nothing
from wheelproof_spec.base.history.lines import HistoryEnd, HistoryHeader, HistoryOp
from wheelproof_spec.components.buffer_pool.component import (
    Allocate,
    Allocated,
    Deallocate,
    PoolConfig,
)
from wheelproof_spec.components.timer.component import (
    Add,
    Cancel,
    Cancelled,
    Run,
    TimerConfig,
)

Op = HistoryOp[object]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A header, operations and an end, as the checker takes them."""

    header: HistoryHeader[object]
    ops: tuple[Op, ...]
    end: HistoryEnd


@dataclass(slots=True)
class Line:
    """What a line of a history says, but for its place."""

    process: str
    type: Literal["invoke", "ok", "fail", "info"]
    f: str
    value: object
    error: str | None = None


@dataclass(slots=True)
class _Timer:
    chance: random.Random
    tells: bool
    """Whether cancel tells if it came in time."""
    lines: list[Line] = field(default_factory=list[Line])
    now: int = 0
    due: dict[str, int] = field(default_factory=dict[str, int])
    owed: list[str] = field(default_factory=list[str])


def timer_history(seed: int, times: int = 1) -> History:
    """Return a history of a few overlapping calls on a timer; one in two is spoiled.

    One that is so many times as long is right.
    """
    chance = random.Random(seed)
    timer = _Timer(chance, tells=seed % 4 > 0)
    processes: dict[str, list[object]] = {}
    for _ in range(times * chance.randrange(6, 22)):
        _timer_step(timer, processes)
    while processes or timer.owed:
        _timer_step(timer, processes, wind_up=True)
    lines = timer.lines
    if chance.random() < 0.5 and times == 1:
        _spoil_timer(lines, chance)
    quiet = chance.random() < 0.6
    return history_of("timer", TimerConfig(tick_ms=1), lines, quiet=quiet, clock="virtual")


def _timer_step(
    timer: _Timer, processes: dict[str, list[object]], *, wind_up: bool = False
) -> None:
    """One process goes on by one of: invocation, effect, return."""
    chance = timer.chance
    process = chance.choice(list(processes) if wind_up and processes else ["p", "q", "r", "clock"])
    call = processes.get(process)
    due = [task for task, at in timer.due.items() if at <= timer.now]
    if timer.owed and chance.random() < 0.5:
        task = timer.owed.pop(0)
        timer.lines.append(Line(f"runner-{len(timer.lines)}", "invoke", "run", Run(task=task)))
        return
    if due and chance.random() < 0.2:
        _submit(timer, chance.choice(due))
        return
    if call is None:
        if not wind_up:
            processes[process] = _begin(timer, process)
        return
    _go_on(timer, process, call, processes)


def _begin(timer: _Timer, process: str) -> list[object]:
    chance = timer.chance
    task = chance.choice(("x", "y"))
    kinds = (
        ("tick", "advance_clock")
        if process == "clock"
        else ("add", "add", "cancel", "advance_clock")
    )
    f = chance.choice(kinds)
    value: object
    match f:
        case "add":
            value = Add(task=task, delay_ms=chance.randrange(4))
        case "cancel":
            value = Cancel(task=task)
        case "tick":
            value = Tick(to_ms=timer.now + chance.randrange(1, 4))
        case _:
            value = AdvanceClock()
    timer.lines.append(Line(process, "invoke", f, value))
    due = [name for name, at in timer.due.items() if at <= timer.now]
    return [f, value, None, due]


def _go_on(
    timer: _Timer, process: str, call: list[object], processes: dict[str, list[object]]
) -> None:
    f, value, answer, due = call
    if answer is None:
        call[2] = _effect(timer, value, due)
        return
    if isinstance(answer, int):
        # The clock was read; now the task is bound.
        assert isinstance(value, Add)
        timer.due[value.task] = answer + value.delay_ms
        call[2] = Nothing()
        return
    del processes[process]
    timer.lines.append(Line(process, "ok", str(f), answer))


def _effect(timer: _Timer, value: object, due: object) -> object:
    match value:
        case Add():
            return timer.now
        case Cancel(task=task):
            found = timer.due.pop(task, None) is not None
            return Cancelled(cancelled=found if timer.tells else ABSENT)
        case Tick(to_ms=to_ms):
            timer.now = max(timer.now, to_ms)
            return Nothing()
        case _:
            assert isinstance(due, list)
            for task in list(timer.due):
                if timer.due[task] <= timer.now:
                    _submit(timer, task)
            return Advanced()


def _submit(timer: _Timer, task: str) -> None:
    del timer.due[task]
    timer.owed.append(task)


def _spoil_timer(lines: list[Line], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    line = lines[at]
    runs = [place for place, one in enumerate(lines) if one.f == "run"]
    match chance.randrange(4):
        case 0 if runs:
            del lines[chance.choice(runs)]
        case 1:
            lines.insert(at, Line(f"ghost-{at}", "invoke", "run", Run(task="x")))
        case 2 if runs:
            run = lines.pop(chance.choice(runs))
            lines.insert(at if at < len(lines) else 0, run)
        case _:
            for line in lines[at:]:
                if isinstance(line.value, Cancelled) and line.value.cancelled is not ABSENT:
                    line.value = Cancelled(cancelled=not line.value.cancelled)
                    return


@dataclass(slots=True)
class _Pool:
    total: int
    free: int
    held: dict[str, int] = field(default_factory=dict[str, int])


def pool_history(seed: int, times: int = 1) -> History:
    """Return a history of a few overlapping calls on a pool; see `timer_history`."""
    chance = random.Random(seed)
    pool = _Pool(total=10, free=10)
    lines: list[Line] = []
    calls: dict[str, tuple[object, object]] = {}
    names = (f"b{number}" for number in count())
    for _ in range(times * chance.randrange(8, 30)):
        process = chance.choice("pqr")
        if process in calls:
            _pool_returns(pool, lines, calls, process, next(names), chance)
            continue
        ready = [
            name for name in pool.held if all(name != _buffer(one) for one, _ in calls.values())
        ]
        value: object = Allocate(size=chance.randrange(1, 8), max_time_to_block_ms=1)
        if ready and chance.random() < 0.5:
            value = Deallocate(buffer=chance.choice(ready))
        f = "allocate" if isinstance(value, Allocate) else "deallocate"
        lines.append(Line(process, "invoke", f, value))
        calls[process] = (value, None)
        if isinstance(value, Deallocate) and chance.random() < 0.5:
            pool.free += pool.held[value.buffer]
            calls[process] = (value, True)
    if chance.random() < 0.5 and times == 1:
        _spoil_pool(lines, chance)
    config = PoolConfig(total_memory=10, poolable_size=4)
    return history_of("buffer_pool", config, lines, quiet=False)


def _buffer(value: object) -> str | None:
    return value.buffer if isinstance(value, Deallocate) else None


def _pool_returns(
    pool: _Pool,
    lines: list[Line],
    calls: dict[str, tuple[object, object]],
    process: str,
    name: str,
    chance: random.Random,
) -> None:
    value, done = calls.pop(process)
    if isinstance(value, Deallocate):
        size = pool.held.pop(value.buffer)
        pool.free += 0 if done else size
        lines.append(Line(process, "ok", "deallocate", Nothing()))
        return
    assert isinstance(value, Allocate)
    if value.size <= pool.free:
        pool.free -= value.size
        pool.held[name] = value.size
        answer = Allocated(buffer=name, size=value.size)
        lines.append(Line(process, "ok", "allocate", answer))
    elif chance.random() < 0.7:
        lines.append(Line(process, "fail", "allocate", Nothing(), "Exhausted"))
    else:
        calls[process] = (value, None)


def _spoil_pool(lines: list[Line], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    for place in range(at, len(lines)):
        line = lines[place]
        if line.f == "allocate" and line.type == "ok" and chance.random() < 0.5:
            assert isinstance(line.value, Allocated)
            name = line.value.buffer
            used = any(_buffer(one.value) == name for one in lines)
            if not used:
                lines[place] = Line(line.process, "fail", "allocate", Nothing(), "Exhausted")
                return
        if line.f == "allocate" and line.type == "fail":
            asked = next(
                one.value
                for one in reversed(lines[:place])
                if one.process == line.process and one.type == "invoke"
            )
            assert isinstance(asked, Allocate)
            answer = Allocated(buffer=f"n{place}", size=asked.size)
            lines[place] = Line(line.process, "ok", "allocate", answer)
            return


def history_of(
    component: str,
    config: object,
    lines: Sequence[Line],
    *,
    quiet: bool,
    clock: Literal["virtual", "none"] = "none",
    times: Sequence[int | Absent] = (),
) -> History:
    """Return the history that these lines are; with `times`, in ns, by a real clock."""
    header: HistoryHeader[object] = HistoryHeader(
        schema="wheelproof.history/1",
        kind="header",
        history="h",
        component=component,
        impl=Implementation(name="machine", version="1"),
        config=config,
        clock="monotonic_ns" if times else clock,
    )
    ops = tuple(
        replace(_op(index, line), time_ns=times[index] if times else ABSENT)
        for index, line in enumerate(lines)
    )
    return History(
        header=header, ops=ops, end=HistoryEnd(kind="end", history="h", ops=len(ops), quiet=quiet)
    )


def _op(index: int, line: Line) -> Op:
    return HistoryOp(
        kind="op",
        history="h",
        index=index,
        process=line.process,
        type=line.type,
        f=line.f,
        value=line.value,
        error=ABSENT if line.error is None else line.error,
    )
