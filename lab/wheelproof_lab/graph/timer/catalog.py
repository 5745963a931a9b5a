"""The comparisons of the timer, the small ones first."""

from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_lab.graph.timer.abstract import (
    TimerBounds,
    label_of_timer,
    model_graph,
)
from wheelproof_lab.graph.timer.entry_migration import (
    Migration,
    entry_migration,
    label_of_entry_migration,
    project_entry_migration,
)
from wheelproof_lab.graph.timer.overflow_wheel import (
    WheelAdders,
    label_of_overflow_wheel,
    overflow_wheel,
    project_overflow_wheel,
)
from wheelproof_lab.graph.timer.system_timer import Cast, system_timer
from wheelproof_lab.graph.timer.system_timer_view import (
    label_of_system_timer,
    project_system_timer,
)
from wheelproof_lab.graph.timer.timing_wheel import (
    WheelBounds,
    label_of_timing_wheel,
    project_timing_wheel,
    timing_wheel_under_way,
    wheel_graph,
)

ENTRY_MIGRATION = Compared(
    module="EntryMigration",
    code=entry_migration,
    label=label_of_entry_migration,
    project_with=lambda migration: project_entry_migration(migration.task_of),
)
TIMER = Compared(
    module="MCTimer",
    code=model_graph,
    label=label_of_timer,
    specification="MCSpec",
)
SYSTEM_TIMER = Compared(
    module="MCSystemTimer",
    code=system_timer,
    label=label_of_system_timer,
    project=project_system_timer,
    overrides={"Later": "MCLater"},
    still_steps=False,
)
TIMING_WHEEL = Compared(
    module="MCTimingWheel",
    code=wheel_graph,
    label=label_of_timing_wheel,
    project=project_timing_wheel,
    specification="MCSpec",
    under_way=timing_wheel_under_way,
)
OVERFLOW_WHEEL = Compared(
    module="OverflowWheel",
    code=overflow_wheel,
    label=label_of_overflow_wheel,
    project=project_overflow_wheel,
)

COMPARISONS = (
    TIMER.model(
        TimerBounds(tasks=("a", "b"), delays_ms=(-1, 0, 1, 3), tick_ms=2, horizon_ms=5, max_adds=2),
        name="timer",
        summary="the model's timer against Timer: two tasks, ticks of 2 ms",
    ),
    TIMING_WHEEL.model(
        WheelBounds(
            tasks=("a", "b"),
            delays_ms=(-1, 0, 1, 4),
            tick_ms=1,
            wheel_size=2,
            horizon_ms=5,
            max_adds=1,
        ),
        name="wheel-two-tasks",
        summary="one thread: two tasks on the levels that delays up to 4 ms need",
    ),
    TIMING_WHEEL.model(
        WheelBounds(
            tasks=("a",), delays_ms=(0, 1, 3, 5), tick_ms=2, wheel_size=2, horizon_ms=8, max_adds=3
        ),
        name="wheel-again",
        summary="one thread: a task is added three times, with a tick of 2 ms",
    ),
    OVERFLOW_WHEEL.model(
        WheelAdders(adders=("a1", "a2", "a3")),
        name="overflow-three-adders",
        summary="three adders need the overflow wheel at once",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper")},
            cancellers={"c1": "k1"},
        ),
        name="entry-add-cancel",
        summary="two threads: a task is added and cancelled",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper")},
            flushed=True,
        ),
        name="entry-add-flush",
        summary="two threads: an entry is added while buckets are flushed",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1", "e2": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper"), "a2": ("e2", "lower")},
        ),
        name="entry-add-add",
        summary="two threads: one task is added twice, to two buckets",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper")},
            movers={"m1": ("e1", "lower")},
        ),
        name="entry-add-move",
        summary="two threads: two buckets race for one entry",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper")},
            cancellers={"c1": "k1"},
            flushed=True,
        ),
        name="entry-add-cancel-flush",
        summary="three threads: an entry is added, moves down and fires, and is cancelled",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1", "e2": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper"), "a2": ("e2", "Expired")},
            cancellers={"c1": "k1"},
        ),
        name="entry-add-add-cancel",
        summary=(
            "three threads: one task is added twice, the second time due at once, and cancelled"
        ),
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper")},
            movers={"m1": ("e1", "lower")},
            cancellers={"c1": "k1"},
        ),
        name="entry-add-move-cancel",
        summary="three threads: two buckets race for one entry while its task is cancelled",
    ),
    ENTRY_MIGRATION.model(
        Migration(
            task_of={"e1": "k1", "e2": "k1"},
            below={"upper": "lower", "lower": "Expired"},
            adders={"a1": ("e1", "upper"), "a2": ("e2", "lower")},
            flushed=True,
        ),
        name="entry-add-add-flush",
        summary="three threads: one task is added twice while buckets are flushed",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k0": 0, "k1": 1}, programs={"a1": ("k1", "k0")}, max_time_ms=1),
        name="system-timer-adder",
        summary="an adder of two tasks, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k0": 0, "k1": 1}, programs={"a1": ("k0",), "a2": ("k1",)}, max_time_ms=1),
        name="system-timer-two-adders",
        summary="two adders that may share a bucket, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k1": 1, "k3": 3}, programs={"a1": ("k1",), "a2": ("k3",)}, max_time_ms=0),
        name="system-timer-two-levels",
        summary="two adders, one of them beyond the lowest wheel, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1",)}, advancers=("r",), max_time_ms=1),
        name="system-timer-adder-advancer",
        summary="two threads: a task is added and submitted by who advances, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k3": 3}, programs={"a1": ("k3",)}, advancers=("r",), max_time_ms=0),
        name="system-timer-cascade",
        summary="two threads: a task comes down from the overflow wheel, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1", "k1")}, advancers=("r",), max_time_ms=0),
        name="system-timer-again",
        summary=(
            "two threads: a task is added again, perhaps while it waits, and who advances, and time"
        ),
    ),
    SYSTEM_TIMER.model(
        Cast(
            delays_ms={"k0": 0, "k1": 1},
            programs={"a1": ("k0",), "a2": ("k1",)},
            advancers=("r",),
            max_time_ms=0,
        ),
        name="system-timer-two-adders-advancer",
        summary=(
            "two threads add, one task is due at once, a third thread advances, and time passes"
        ),
    ),
    SYSTEM_TIMER.model(
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1",)}, advancers=("r", "s"), max_time_ms=0),
        name="system-timer-two-advancers",
        summary="three threads: two advance while a task is added, and time",
    ),
    SYSTEM_TIMER.model(
        Cast(
            delays_ms={"k0": 0},
            programs={"a1": ("k0",)},
            victims={"c1": "k0"},
            closers=("c",),
            max_time_ms=0,
        ),
        name="system-timer-close-cancel",
        summary=(
            "three threads: a task that is due at once is added, cancelled, and the timer closed"
        ),
    ),
    SYSTEM_TIMER.model(
        Cast(
            delays_ms={"k1": 1},
            programs={"a1": ("k1",)},
            victims={"c1": "k1"},
            advancers=("r",),
            max_time_ms=0,
        ),
        name="system-timer-canceller",
        summary=(
            "three threads: a task is added, cancelled, and submitted by who advances, and time"
        ),
    ),
    SYSTEM_TIMER.model(
        Cast(
            delays_ms={"k1": 1},
            programs={"a1": ("k1",)},
            advancers=("r",),
            closers=("c",),
            max_time_ms=0,
        ),
        name="system-timer-closer",
        summary="three threads: a task is added while the timer is advanced and closed, and time",
    ),
)
