"""Long recorded runs for the benchmark, made line by line: histories, a trace."""

import heapq
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field

THREADS = 16
_POOL_BYTES = 1 << 20


@dataclass(slots=True)
class _Writer:
    """A writer of the lines of a history."""

    component: str
    config: dict[str, object]
    clock: str
    ops: int = 0
    ready: list[bytes] = field(default_factory=list[bytes])

    def header(self) -> bytes:
        return _line(
            {
                "schema": "wheelproof.history/1",
                "kind": "header",
                "history": "h",
                "component": self.component,
                "impl": {"name": "bench", "version": "1"},
                "config": self.config,
                "clock": self.clock,
            }
        )

    def op(
        self, process: str, kind: str, f: str, value: dict[str, object], error: str = ""
    ) -> None:
        line: dict[str, object] = {
            "kind": "op",
            "history": "h",
            "index": self.ops,
            "process": process,
            "type": kind,
            "f": f,
            "value": value,
        }
        if error:
            line["error"] = error
        self.ops += 1
        self.ready.append(_line(line))

    def take(self) -> list[bytes]:
        found, self.ready = self.ready, []
        return found

    def end(self) -> bytes:
        return _line({"kind": "end", "history": "h", "ops": self.ops, "quiet": True})


def _line(value: dict[str, object]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def timer_lines(operations: int, seed: int) -> Iterator[bytes]:
    """Yield a valid history: threads add and cancel, one advances, an executor runs due tasks."""
    writer = _Writer("timer", {"tick_ms": 1, "wheel_size": 20}, "virtual")
    yield writer.header()
    yield from _timer_ops(writer, operations, random.Random(seed))
    yield writer.end()


def _timer_ops(writer: _Writer, operations: int, chance: random.Random) -> Iterator[bytes]:
    now, added, done = 0, 0, 0
    waiting: dict[str, int] = {}
    heap: list[tuple[int, str]] = []
    calls: dict[str, tuple[str, dict[str, object]]] = {}
    while done < operations:
        process = f"worker-{chance.randrange(THREADS)}"
        if process in calls:
            f, answer = calls.pop(process)
            writer.op(process, "ok", f, answer)
            continue
        done += 1
        kind = chance.random()
        if kind < 0.6:
            added += 1
            task, delay = f"t{added}", chance.randrange(200)
            writer.op(process, "invoke", "add", {"task": task, "delay_ms": delay})
            waiting[task] = now + delay
            heapq.heappush(heap, (now + delay, task))
            calls[process] = ("add", {})
        elif kind < 0.85:
            task = f"t{chance.randrange(max(added - 400, 0), added + 1)}"
            writer.op(process, "invoke", "cancel", {"task": task})
            calls[process] = ("cancel", {"cancelled": waiting.pop(task, None) is not None})
        else:
            now += chance.randrange(1, 4)
            done += 1 + _advance(writer, now, waiting, heap)
        yield from writer.take()
    for process, (f, answer) in calls.items():
        writer.op(process, "ok", f, answer)
    yield from writer.take()


def _advance(
    writer: _Writer, now: int, waiting: dict[str, int], heap: list[tuple[int, str]]
) -> int:
    writer.op("clock", "invoke", "tick", {"to_ms": now})
    writer.op("clock", "ok", "tick", {})
    writer.op("clock", "invoke", "advance_clock", {})
    runs = 0
    while heap and heap[0][0] <= now:
        due, task = heapq.heappop(heap)
        if waiting.get(task) == due:
            del waiting[task]
            runs += 1
            writer.op("executor", "invoke", "run", {"task": task})
    writer.op("clock", "ok", "advance_clock", {})
    return runs


def pool_lines(operations: int, seed: int) -> Iterator[bytes]:
    """Yield a valid history: threads allocate memory, hold it for a while, and free it."""
    config: dict[str, object] = {"total_memory": _POOL_BYTES, "poolable_size": 16_384}
    writer = _Writer("buffer_pool", config, "none")
    yield writer.header()
    yield from _pool_ops(writer, operations, random.Random(seed))
    yield writer.end()


def _pool_ops(writer: _Writer, operations: int, chance: random.Random) -> Iterator[bytes]:
    free, named, done = _POOL_BYTES, 0, 0
    held: dict[str, list[tuple[str, int]]] = {f"worker-{n}": [] for n in range(THREADS)}
    calls: dict[str, tuple[str, int]] = {}
    while done < operations or calls:
        process = f"worker-{chance.randrange(THREADS)}"
        call = calls.pop(process, None)
        if call is not None and call[0]:
            free += call[1]
            writer.op(process, "ok", "deallocate", {})
        elif call is not None and call[1] <= free:
            named += 1
            free -= call[1]
            held[process].append((f"b{named}", call[1]))
            answer: dict[str, object] = {"buffer": f"b{named}", "size": call[1]}
            writer.op(process, "ok", "allocate", answer)
        elif call is not None:
            writer.op(process, "fail", "allocate", {}, "Exhausted")
        elif done < operations:
            done += 1
            mine = held[process]
            if mine and chance.random() < 0.5:
                buffer, size = mine.pop(0)
                writer.op(process, "invoke", "deallocate", {"buffer": buffer, "size": size})
                calls[process] = (buffer, size)
            else:
                size = chance.choice((16_384, 16_384, 1_000, 60_000))
                writer.op(
                    process, "invoke", "allocate", {"size": size, "max_time_to_block_ms": 100}
                )
                calls[process] = ("", size)
        yield from writer.take()


def trace_lines(events: int, seed: int) -> Iterator[bytes]:
    """Yield a valid trace: adders take turns, and one thread advances."""
    yield _line(
        {
            "schema": "wheelproof.trace/1",
            "kind": "header",
            "trace": "t",
            "component": "timer",
            "impl": {"name": "bench", "version": "1"},
            "config": {"tick_ms": 1, "wheel_size": 20},
            "clock": "virtual",
        }
    )
    steps = _Steps(random.Random(seed))
    while steps.seq < events:
        yield from steps.round()
    yield _line({"kind": "end", "trace": "t", "events": steps.seq})


@dataclass(slots=True)
class _Steps:
    """The steps of a timer whose tasks all lie within its lowest wheel."""

    chance: random.Random
    seq: int = 0
    now: int = 0
    added: int = 0
    tseq: dict[str, int] = field(default_factory=dict[str, int])

    def round(self) -> Iterator[bytes]:
        """Yield the steps of a few adds, and of the advance that submits their tasks."""
        # All tasks share one bucket: the wheel's clock stays where the last round left it.
        due, tasks = self.now + 5, list[str]()
        bucket = due % 20
        for _ in range(8):
            thread = f"worker-{self.chance.randrange(THREADS)}"
            self.added += 1
            task = f"t{self.added}"
            yield self.step(thread, "LockRead")
            yield self.step(thread, "ReadClock", t_ms=self.now)
            args = {"task": task, "delay_ms": 5}
            yield self.step(thread, "Bind", args=args, obs={"expiration_ms": due})
            yield self.step(thread, "Insert", obs={"taken": True, "level": 0, "bucket": bucket})
            yield self.step(thread, "Link")
            yield self.step(thread, "SetExpiration", obs={"changed": not tasks})
            if not tasks:
                yield self.step(thread, "Offer")
            yield self.step(thread, "UnlockRead")
            tasks.append(task)
        self.now = due
        for action in ("StartAdvance", "AwaitDue", "LockWrite"):
            yield self.step("reaper", action)
        yield self.step("reaper", "Poll", t_ms=due, obs={"level": 0, "bucket": bucket})
        yield self.step("reaper", "AdvanceClock", obs={"wheel_ms": due})
        yield self.step("reaper", "FlushLock")
        for task in tasks:
            yield self.step("reaper", "FlushEntry", obs={"task": task})
            yield self.step("reaper", "Insert", obs={"taken": False})
            yield self.step("reaper", "Submit", obs={"submitted": True})
        for action in ("FlushEnd", "PollNothing", "UnlockWrite"):
            yield self.step("reaper", action)

    def step(self, thread: str, action: str, **more: object) -> bytes:
        """Return one event."""
        number = self.tseq.get(thread, 0)
        self.tseq[thread] = number + 1
        event: dict[str, object] = {
            "kind": "event",
            "trace": "t",
            "seq": self.seq,
            "thread": thread,
            "tseq": number,
            "action": action,
            **more,
        }
        self.seq += 1
        return _line(event)
