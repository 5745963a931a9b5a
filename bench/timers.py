"""The timer's part of docs/sources/performance.md: compared with others, and measured by part."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

from instruments.contestants import (
    CONTESTANTS,
    LONGEST_DELAY_MS,
    Contestant,
    EmptyTask,
    HeapContestant,
    WheelContestant,
)
from instruments.section import Section, medians, times
from instruments.stopwatch import microseconds_each
from wheelproof import sync
from wheelproof.clock import ManualClock
from wheelproof.sync import DeferredExecutor, use_runtime
from wheelproof.sync.threads import ThreadsRuntime
from wheelproof.timer import DelayQueue, SystemTimer, TimerTaskEntry, TimingWheel
from wheelproof.timer.system_timer_reaper import WORK_TIMEOUT_MS
from wheelproof.units import Millis
from wheelproof_spec.fuzz.hooks import InstrumentedRuntime

_CANCELLED_PERCENT = 90


def _delays(count: int, seed: int) -> list[int]:
    source = random.Random(seed)
    return [source.randint(1, LONGEST_DELAY_MS) for _ in range(count)]


def _life(make: Callable[[], Contestant], delays: Sequence[int], seed: int) -> tuple[float, ...]:
    """Return the microseconds of an add, a cancel and an expiry, among all these timers."""
    chosen = random.Random(seed).sample(range(len(delays)), len(delays) * _CANCELLED_PERCENT // 100)
    contestant = make()
    try:
        return (
            microseconds_each(lambda: contestant.fill(delays), len(delays)),
            microseconds_each(lambda: contestant.cancel(chosen), len(chosen)),
            microseconds_each(contestant.expire, len(delays) - len(chosen)),
        )
    finally:
        contestant.close()


def among_many(live: Sequence[int], rounds: int, seed: int) -> Section:
    """Measure each contestant's add, cancel and expiry among `live` timers."""
    names = list(CONTESTANTS)
    rows: list[tuple[str, ...]] = []
    first: dict[tuple[str, str], float] = {}
    last: dict[tuple[str, str], float] = {}
    wins: dict[tuple[str, str], int] = {}
    for count in live:
        delays = _delays(count, seed)
        taken = [
            [_life(make, delays, seed + number) for make in CONTESTANTS.values()]
            for number in range(rounds)
        ]
        for index, what in enumerate(("add", "cancel", "expiry")):
            found = [
                sorted(lives[place][index] for lives in taken)[rounds // 2]
                for place in range(len(names))
            ]
            for name, figure in zip(names, found, strict=True):
                first.setdefault((what, name), figure)
                last[what, name] = figure
                if found[0] < figure:
                    wins.setdefault((what, name), count)
            ratios = [times(found[0] / other) for other in found[1:]]
            rows.append((f"{what}, {count:,} timers", f"{found[0]:.2f}", *ratios))
    growth = {key: f"{key[1]} {times(last[key] / first[key])}" for key in first}
    grown = [
        f"{what}: {', '.join(growth[what, name] for name in names)}"
        for what in ("add", "cancel", "expiry")
    ]
    return Section(
        title="Add, cancel and expiry among many timers",
        claim="The claim: the cost of a wheel does not depend on how many timers there are, that of"
        " a heap grows with the logarithm. Columns after the first: the wheel's cost divided by the"
        f" other's, so below 1 the wheel wins. {_CANCELLED_PERCENT} % are cancelled, the others"
        " expire in one advance. An expiry of the wheel includes its cascades and its executor.",
        head=("", "the wheel, us", *(f"wheel / {name}" for name in names[1:])),
        rows=tuple(rows),
        notes=(
            f"From {live[0]:,} to {live[-1]:,} timers the cost is multiplied by: "
            + "; ".join(grown)
            + ".",
            *(_where(name, wins, live[-1]) for name in names[1:]),
        ),
    )


def _where(name: str, wins: dict[tuple[str, str], int], most: int) -> str:
    won = [
        f"{what} from {count:,} timers" for (what, other), count in wins.items() if other == name
    ]
    if not won:
        return f"Against {name} the wheel does not win up to {most:,} timers: not reached here."
    return f"Against {name} the wheel wins: {', '.join(won)}; in nothing else up to {most:,}."


def own_cost(pairs: int, rounds: int, seed: int) -> Section:
    """Measure the parts of an add and a cancel."""
    delays = [Millis(delay) for delay in _delays(pairs, seed)]
    wheel, heap = WheelContestant(), HeapContestant()
    python_heap = HeapContestant(in_c=False)
    clock, lock = ManualClock(), sync.read_write_lock("lock")
    bare_wheel = TimingWheel(
        tick_ms=1,
        wheel_size=20,
        start_ms=0,
        task_counter=sync.atomic_integer(0, "task_counter"),
        queue=DelayQueue(clock),
    )

    def make_task() -> None:
        for delay in delays:
            EmptyTask(delay)

    def make_entry() -> None:
        for delay in delays:
            TimerTaskEntry(EmptyTask(delay), delay)

    def bind() -> None:
        for delay in delays:
            task = EmptyTask(delay)
            task.set_timer_task_entry(TimerTaskEntry(task, delay))

    def use_wheel() -> None:
        for delay in delays:
            task = EmptyTask(delay)
            entry = TimerTaskEntry(task, delay)
            task.set_timer_task_entry(entry)
            bare_wheel.add(entry)
            task.cancel()

    def read_clock() -> None:
        for _ in delays:
            clock.hi_res_clock_ms()

    def read_lock() -> None:
        for _ in delays:
            with lock.read:
                pass

    works: list[Callable[[], None]] = [
        *(make_task, make_entry, bind, use_wheel, read_clock, read_lock),
        partial(wheel.add_and_cancel, delays),
        partial(heap.add_and_cancel, delays),
        partial(python_heap.add_and_cancel, delays),
    ]
    task, entry, bound, pair, clocked, locked, whole, c_heap, py_heap = medians(
        rounds, *(partial(microseconds_each, work, pairs) for work in works)
    )
    parts = {
        "making the task: a monitor, an atomic cell": task,
        "making its entry: a monitor, a volatile cell": entry - task,
        "binding one to the other": bound - entry,
        "into a bucket of the wheel, and out of it": pair - bound,
        "reading the clock": clocked,
        "the read side of the lock": locked,
        "the rest of SystemTimer.add": whole - pair - clocked - locked,
        "**the whole**": whole,
        "the wheel alone": pair,
        "heapq": c_heap,
        "a heap in Python": py_heap,
    }
    return Section(
        title="What an add and a cancel of the reference cost",
        claim="Each lock, each cell and each read and write of one is a step that the model checker"
        f" can interleave with others: {_steps():,} steps for one add and one cancel, and no step"
        " can go without changing the programs that are explored. Around them are calls of methods"
        " in Python, which heapq does not have.",
        head=("part", "us", "share of the whole"),
        rows=tuple(
            (what, f"{figure:.2f}", f"{100 * figure / whole:.0f} %")
            for what, figure in parts.items()
        ),
    )


def _steps() -> int:
    """Return the steps of one add and one cancel, after the wheel's levels were created."""
    counted: Counter[str] = Counter()
    runtime = InstrumentedRuntime(ThreadsRuntime(), lambda: counted.update(("step",)))
    with use_runtime(runtime):
        timer = SystemTimer("counted", clock=ManualClock(), executor=DeferredExecutor())
        timer.add(EmptyTask(LONGEST_DELAY_MS))
        task = EmptyTask(LONGEST_DELAY_MS)
        counted.clear()
        timer.add(task)
        task.cancel()
    return counted["step"]


def cascades(count: int, rounds: int) -> Section:
    """Measure expiry of timers that were added on each of four levels."""
    spans = [(1, 20), (20, 400), (400, 8_000), (8_000, LONGEST_DELAY_MS)]

    def expire(span: tuple[int, int]) -> float:
        contestant = WheelContestant()
        contestant.fill([span[0] + number % (span[1] - span[0]) for number in range(count)])
        return microseconds_each(contestant.expire, count)

    def add() -> float:
        contestant = WheelContestant()
        return microseconds_each(lambda: contestant.fill([1] * count), count)

    adding, *found = medians(rounds, add, *(partial(expire, span) for span in spans))
    each = [(figure - found[0]) / level for level, figure in enumerate(found) if level]
    return Section(
        title="The cost of a cascade",
        claim="The claim: a timer moves at most once from each level to the one below.",
        head=("expiry of a timer that was added on", "us", "divided by level 1"),
        rows=tuple(
            (f"level {level}", f"{figure:.2f}", times(figure / found[0]))
            for level, figure in enumerate(found, start=1)
        ),
        notes=(
            f"A cascade costs {times(max(each) / adding)} times an add, at most: so many for each"
            " level that a timer comes down. Most timers of a broker are cancelled before.",
        ),
    )


class _LeapingClock(ManualClock):
    """A clock that counts each wait and jumps to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = 0

    def wait_until(self, lock: sync.Lock, condition: sync.Condition, deadline_ms: Millis) -> None:
        del lock, condition
        self.waits += 1
        self.advance_to(max(deadline_ms, self.hi_res_clock_ms()))


def wake_ups(populations: Sequence[int], seed: int) -> Section:
    """Count the waits of a reaper within a minute, for each number of timers."""
    rows: list[tuple[str, ...]] = []
    for count in populations:
        clock = _LeapingClock()
        timer = SystemTimer("idle", clock=clock, executor=DeferredExecutor())
        for delay in _delays(count, seed):
            timer.add(EmptyTask(delay))
        while clock.hi_res_clock_ms() < LONGEST_DELAY_MS:
            timer.advance_clock(WORK_TIMEOUT_MS)
        ratio = clock.waits / LONGEST_DELAY_MS
        rows.append((f"{count:,}", f"{clock.waits:,}", f"{LONGEST_DELAY_MS:,}", f"{ratio:.3f}"))
    return Section(
        title="Wake-ups of an idle timer",
        claim="The claim: a thread wakes up only when a bucket that is not empty expires. Counted"
        " over one minute of a clock that leaps, against a hand that moves every millisecond.",
        head=("timers in this minute", "waits", "ticks", "ratio"),
        rows=tuple(rows),
        notes=(
            f"Not reached: the reaper wakes up every {WORK_TIMEOUT_MS} ms also when nothing waits,"
            " to purge. With many timers there is a bucket for nearly every tick, and nothing is"
            " saved.",
        ),
    )


def adders(count: int, threads: Sequence[int], rounds: int) -> Section:
    """Measure the wall time of adds by several threads at once."""

    def add(contestants: Callable[[], Contestant], number: int) -> float:
        contestant = contestants()
        delays = _delays(count // number, number)
        workers = [threading.Thread(target=contestant.fill, args=(delays,)) for _ in range(number)]
        began = time.perf_counter_ns()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return (time.perf_counter_ns() - began) / count / 1_000

    makes: list[Callable[[], Contestant]] = [WheelContestant, HeapContestant]
    found = medians(rounds, *(partial(add, make, number) for number in threads for make in makes))
    wheel, heap = found[::2], found[1::2]
    return Section(
        title="Adders side by side",
        claim="The claim: adders share the read side of a lock, so several go on at once.",
        head=("threads", "the wheel, against one thread", "heapq under one lock, against one"),
        rows=tuple(
            (str(number), times(wheel[0] / ours), times(heap[0] / theirs))
            for number, ours, theirs in zip(threads, wheel, heap, strict=True)
        ),
        notes=(
            "Throughput by wall time; 1.00 is that of one thread. Not reached here: the interpreter"
            " runs one thread at a time, so more adders make no timer in Python faster. That"
            " adders may overlap is shown by test_rule_1_2_adders_run_concurrently instead.",
        ),
    )
