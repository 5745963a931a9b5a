"""The comparisons of the timer, the small ones first."""

from collections.abc import Mapping

from wheelproof_spec.components.timer.graph.abstract import (
    TimerBounds,
    label_of_timer,
    oracle_graph,
)
from wheelproof_spec.components.timer.graph.entry_migration import (
    EXPIRED,
    Migration,
    Place,
    entry_migration,
    label_of_entry_migration,
    project_entry_migration,
)
from wheelproof_spec.components.timer.graph.system_timer import Cast, system_timer
from wheelproof_spec.components.timer.graph.system_timer_module import (
    label_of_system_timer,
    project_system_timer,
)
from wheelproof_spec.engines.graph.comparing.comparisons import CodeSide, GraphModel, program_side
from wheelproof_spec.engines.graph.comparing.tlc_side import TlcConfiguration


def migration_model(name: str, summary: str, migration: Migration) -> GraphModel:
    """Return the comparison of the reference's buckets with EntryMigration."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(entry_migration(migration)),
        configuration=TlcConfiguration(module="EntryMigration", constants=migration.constants()),
        project=project_entry_migration(migration.task_of),
        label=label_of_entry_migration,
    )


def timer_model(name: str, summary: str, bounds: TimerBounds) -> GraphModel:
    """Return the comparison of the oracle with Timer."""
    return GraphModel(
        name=name,
        summary=summary,
        code=lambda _: CodeSide(graph=oracle_graph(bounds)),
        configuration=TlcConfiguration(
            module="MCTimer", constants=bounds.constants(), specification="MCSpec"
        ),
        project=lambda state: state,
        label=label_of_timer,
    )


def system_timer_model(name: str, summary: str, cast: Cast) -> GraphModel:
    """Return the comparison of the reference's timer with SystemTimer."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(system_timer(cast)),
        configuration=TlcConfiguration(
            module="MCSystemTimer",
            constants=cast.constants(),
            overrides={"Later": "MCLater"},
        ),
        project=project_system_timer,
        label=label_of_system_timer,
        still_steps=False,
    )


_ONE_TASK = {"e1": "k1"}


_ADDED_TWICE = {"e1": "k1", "e2": "k1"}


_BELOW: Mapping[str, Place] = {"upper": "lower", "lower": EXPIRED}


_ADDER: Mapping[str, tuple[str, Place]] = {"a1": ("e1", "upper")}


_TWO_ADDERS: Mapping[str, tuple[str, Place]] = {"a1": ("e1", "upper"), "a2": ("e2", "lower")}


_CANCELLER = {"c1": "k1"}

COMPARISONS: tuple[GraphModel, ...] = (
    timer_model(
        "timer",
        "the oracle's timer against Timer: two tasks, ticks of 2 ms",
        TimerBounds(tasks=("a", "b"), delays_ms=(-1, 0, 1, 3), tick_ms=2, horizon_ms=5, max_adds=2),
    ),
    migration_model(
        "entry-add-cancel",
        "two threads: a task is added and cancelled",
        Migration(task_of=_ONE_TASK, below=_BELOW, adders=_ADDER, cancellers=_CANCELLER),
    ),
    migration_model(
        "entry-add-flush",
        "two threads: an entry is added while buckets are flushed",
        Migration(task_of=_ONE_TASK, below=_BELOW, adders=_ADDER, flushed=True),
    ),
    migration_model(
        "entry-add-add",
        "two threads: one task is added twice, to two buckets",
        Migration(task_of=_ADDED_TWICE, below=_BELOW, adders=_TWO_ADDERS),
    ),
    migration_model(
        "entry-add-move",
        "two threads: two buckets race for one entry",
        Migration(task_of=_ONE_TASK, below=_BELOW, adders=_ADDER, movers={"m1": ("e1", "lower")}),
    ),
    migration_model(
        "entry-add-cancel-flush",
        "three threads: an entry is added, moves down and fires, and is cancelled",
        Migration(
            task_of=_ONE_TASK, below=_BELOW, adders=_ADDER, cancellers=_CANCELLER, flushed=True
        ),
    ),
    migration_model(
        "entry-add-add-cancel",
        "three threads: one task is added twice, the second time due at once, and cancelled",
        Migration(
            task_of=_ADDED_TWICE,
            below=_BELOW,
            adders={"a1": ("e1", "upper"), "a2": ("e2", EXPIRED)},
            cancellers=_CANCELLER,
        ),
    ),
    migration_model(
        "entry-add-move-cancel",
        "three threads: two buckets race for one entry while its task is cancelled",
        Migration(
            task_of=_ONE_TASK,
            below=_BELOW,
            adders=_ADDER,
            movers={"m1": ("e1", "lower")},
            cancellers=_CANCELLER,
        ),
    ),
    migration_model(
        "entry-add-add-flush",
        "three threads: one task is added twice while buckets are flushed",
        Migration(task_of=_ADDED_TWICE, below=_BELOW, adders=_TWO_ADDERS, flushed=True),
    ),
    system_timer_model(
        "system-timer-adder",
        "an adder of two tasks, and time",
        Cast(delays_ms={"k0": 0, "k1": 1}, programs={"a1": ("k1", "k0")}, max_time_ms=1),
    ),
    system_timer_model(
        "system-timer-two-adders",
        "two adders that may share a bucket, and time",
        Cast(delays_ms={"k0": 0, "k1": 1}, programs={"a1": ("k0",), "a2": ("k1",)}, max_time_ms=1),
    ),
    system_timer_model(
        "system-timer-two-levels",
        "two adders, one of them beyond the lowest wheel, and time",
        Cast(delays_ms={"k1": 1, "k3": 3}, programs={"a1": ("k1",), "a2": ("k3",)}, max_time_ms=0),
    ),
    system_timer_model(
        "system-timer-adder-advancer",
        "two threads: a task is added and submitted by who advances, and time",
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1",)}, advancers=("r",), max_time_ms=1),
    ),
    system_timer_model(
        "system-timer-cascade",
        "two threads: a task comes down from the overflow wheel, and time",
        Cast(delays_ms={"k3": 3}, programs={"a1": ("k3",)}, advancers=("r",), max_time_ms=0),
    ),
    system_timer_model(
        "system-timer-again",
        "two threads: a task is added again, perhaps while it waits, and who advances, and time",
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1", "k1")}, advancers=("r",), max_time_ms=0),
    ),
    system_timer_model(
        "system-timer-two-adders-advancer",
        "three threads: two adders, one of whom is due at once, and who advances, and time",
        Cast(
            delays_ms={"k0": 0, "k1": 1},
            programs={"a1": ("k0",), "a2": ("k1",)},
            advancers=("r",),
            max_time_ms=0,
        ),
    ),
    system_timer_model(
        "system-timer-two-advancers",
        "three threads: two advance while a task is added, and time",
        Cast(delays_ms={"k1": 1}, programs={"a1": ("k1",)}, advancers=("r", "s"), max_time_ms=0),
    ),
    system_timer_model(
        "system-timer-close-cancel",
        "three threads: a task that is due at once is added, cancelled, and the timer closed",
        Cast(
            delays_ms={"k0": 0},
            programs={"a1": ("k0",)},
            victims={"c1": "k0"},
            closers=("c",),
            max_time_ms=0,
        ),
    ),
    system_timer_model(
        "system-timer-canceller",
        "three threads: a task is added, cancelled, and submitted by who advances, and time",
        Cast(
            delays_ms={"k1": 1},
            programs={"a1": ("k1",)},
            victims={"c1": "k1"},
            advancers=("r",),
            max_time_ms=0,
        ),
    ),
    system_timer_model(
        "system-timer-closer",
        "three threads: a task is added while the timer is advanced and closed, and time",
        Cast(
            delays_ms={"k1": 1},
            programs={"a1": ("k1",)},
            advancers=("r",),
            closers=("c",),
            max_time_ms=0,
        ),
    ),
)
