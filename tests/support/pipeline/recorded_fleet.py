"""A small fleet of recorded runs: the reference, a known bug, and histories made by chance."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from wheelproof.producer import BufferPool
from wheelproof.timer import SystemTimer, TimerTask
from wheelproof.units import Millis
from wheelproof_lab.bugs.buffer_pool import TrustingPool
from wheelproof_spec.app.recorded import (
    judge_lines,
)
from wheelproof_spec.app.recorder import (
    recording,
)
from wheelproof_spec.history.reader import read_lines
from wheelproof_spec.history.routing import FileResult

RUNS_A_FILE = 40


class _Task(TimerTask):
    def run(self) -> None:
        """Do nothing."""


def record_reference(path: Path, runs: int, seed: int) -> None:
    """Record timers and pools, each used by one thread: good runs whose names are in each file."""
    chance = random.Random(seed)
    with recording(path):
        for _ in range(runs // 2):
            _use_timer(SystemTimer("recorded"), chance)
            _use_pool(BufferPool(40, 16), chance)


def record_known_bug(path: Path, runs: int) -> None:
    """Record pools that take back what was given back before."""
    with recording(path):
        for _ in range(runs):
            pool = TrustingPool(40, 16)
            buffer = pool.allocate(16, 0)
            pool.deallocate(buffer)
            pool.deallocate(buffer)
            pool.close()


def _use_timer(timer: SystemTimer, chance: random.Random) -> None:
    for _ in range(chance.randrange(2, 8)):
        task = _Task(chance.choice((0, 0, -1, 60_000)))
        timer.add(task)
        if chance.random() < 0.5:
            task.cancel()
        timer.advance_clock(Millis(0))
    timer.size()
    timer.close()


def _use_pool(pool: BufferPool, chance: random.Random) -> None:
    for _ in range(chance.randrange(2, 8)):
        pool.deallocate(pool.allocate(chance.randrange(1, 40), 0))
    pool.close()


def histories(seeds: Iterable[int]) -> list[bytes]:
    """Return the lines of histories made by chance: `h0` from seed 0, and so on."""
    return [line for seed in seeds for line in chance_lines(seed, f"h{seed}")]


def chance_lines(seed: int, name: str) -> list[bytes]:
    """Return the lines of a history of a timer or a pool; about one in three breaks a rule."""
    chance = random.Random(seed)
    ops = list(_timer_ops(chance) if seed % 2 else _pool_ops(chance))
    header = {
        "schema": "wheelproof.history/1",
        "kind": "header",
        "history": name,
        "component": "timer" if seed % 2 else "buffer_pool",
        "impl": {"name": "machine", "version": "1"},
        "config": {"tick_ms": 1} if seed % 2 else {"total_memory": 100, "poolable_size": 10},
        "clock": "virtual" if seed % 2 else "none",
    }
    end = {"kind": "end", "history": name, "ops": len(ops), "quiet": True}
    body: list[Mapping[str, object]] = [
        {"kind": "op", "history": name, "index": index, "process": process, "type": kind, "f": f}
        | {"value": value}
        for index, (process, kind, f, value) in enumerate(ops)
    ]
    lines: list[Mapping[str, object]] = [header, *body, end]
    return [_line(line) for line in lines]


_Op = tuple[str, str, str, dict[str, object]]


def _call(f: str, asked: dict[str, object], answer: dict[str, object]) -> Iterator[_Op]:
    yield "p", "invoke", f, asked
    yield "p", "ok", f, answer


def _timer_ops(chance: random.Random) -> Iterator[_Op]:
    now = 0
    for number in range(chance.randrange(2, 6)):
        task, delay = f"t{number}", chance.randrange(1, 4)
        yield from _call("add", {"task": task, "delay_ms": delay}, {})
        if chance.random() < 0.3:
            yield from _call("cancel", {"task": task}, {"cancelled": chance.random() < 0.8})
            continue
        now += delay - (chance.random() < 0.1)
        yield from _call("tick", {"to_ms": now}, {})
        yield "p", "invoke", "advance_clock", {}
        yield "runner", "invoke", "run", {"task": task}
        yield "p", "ok", "advance_clock", {}


def _pool_ops(chance: random.Random) -> Iterator[_Op]:
    for number in range(chance.randrange(2, 6)):
        name = f"b{number}" if chance.random() < 0.9 else "b0"
        size = chance.choice((10, 20, 30))
        yield from _call(
            "allocate", {"size": size, "max_time_to_block_ms": 5}, {"buffer": name, "size": size}
        )
        if chance.random() < 0.3:
            yield from _call("deallocate", {"buffer": name, "size": size}, {})


_ADD: tuple[tuple[str, dict[str, object]], ...] = (
    ("LockRead", {}),
    ("ReadClock", {"t_ms": 0}),
    ("Bind", {"args": {"task": "a", "delay_ms": 5}, "obs": {"expiration_ms": 5}}),
    ("Insert", {"obs": {"taken": True, "level": 0, "bucket": 5}}),
    ("Link", {}),
    ("SetExpiration", {"obs": {"changed": True}}),
    ("Offer", {}),
    ("UnlockRead", {}),
)
_CLOSE = ("CloseLock", "CloseUnlock", "Shutdown")


def trace_lines(name: str, *, numbered: bool = True, spoiled: bool = False) -> list[bytes]:
    """Return a trace: one thread adds a task, another one closes the timer."""
    steps = [("adder", action, more) for action, more in _ADD]
    steps += [("closer", action, dict[str, object]()) for action in _CLOSE]
    if spoiled:
        steps[3] = ("adder", "Insert", {"obs": {"taken": True, "level": 0, "bucket": 6}})
    header = {
        "schema": "wheelproof.trace/1",
        "kind": "header",
        "trace": name,
        "component": "timer",
        "impl": {"name": "machine", "version": "1"},
        "config": {"tick_ms": 1, "wheel_size": 20},
        "clock": "virtual",
    }
    lines, numbers = [_line(header)], dict[str, int]()
    for seq, (thread, action, more) in enumerate(steps):
        event: dict[str, object] = {"kind": "event", "trace": name, "thread": thread}
        event |= {"tseq": numbers.get(thread, 0), "action": action} | more
        numbers[thread] = numbers.get(thread, 0) + 1
        lines.append(_line(event | ({"seq": seq} if numbered else {})))
    return [*lines, _line({"kind": "end", "trace": name, "events": len(steps)})]


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def check(path: Path) -> FileResult:
    """Judge a file as `wheelproof check` does."""
    return judge_lines(str(path), read_lines(path))


_SHOWN = (
    *("format", "run", "verdict", "events", "good_prefix", "rule"),
    *("place_file", "place_line", "place_index", "notes"),
)


def shown(verdicts: Iterable[Mapping[str, object]]) -> Counter[str]:
    """Return rows of the table of verdicts as far as they say what `wheelproof check` says."""
    return Counter(json.dumps([row[name] for name in _SHOWN]) for row in verdicts)


def shown_by_check(paths: Iterable[Path]) -> Counter[str]:
    """Return the same for files that `wheelproof check` judges."""
    found: Counter[str] = Counter()
    for path in paths:
        for run in check(path).verdicts:
            rule = None if run.violation is None else run.violation.rule
            place: list[object] = [None, None, None]
            if run.place is not None:
                place = [path.name, run.place.line, run.place.index]
            judged = (run.format, run.run, run.verdict.value, run.events, run.good_prefix, rule)
            found[json.dumps([*judged, *place, list(run.notes)])] += 1
    return found
