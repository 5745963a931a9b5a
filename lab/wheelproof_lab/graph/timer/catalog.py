"""The comparisons of the timer, the small ones first."""

from wheelproof_lab.graph.comparing.comparisons import Compared
from wheelproof_lab.graph.timer.abstract import (
    TimerBounds,
    label_of_timer,
    oracle_graph,
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
from wheelproof_spec.base.codec.tables import read_table

ENTRY_MIGRATION = Compared(
    module="EntryMigration",
    configuration=Migration,
    code=entry_migration,
    label=label_of_entry_migration,
    project_with=lambda migration: project_entry_migration(migration.task_of),
)
TIMER = Compared(
    module="MCTimer",
    configuration=TimerBounds,
    code=oracle_graph,
    label=label_of_timer,
    specification="MCSpec",
)
SYSTEM_TIMER = Compared(
    module="MCSystemTimer",
    configuration=Cast,
    code=system_timer,
    label=label_of_system_timer,
    project=project_system_timer,
    overrides={"Later": "MCLater"},
    still_steps=False,
)
TIMING_WHEEL = Compared(
    module="MCTimingWheel",
    configuration=WheelBounds,
    code=wheel_graph,
    label=label_of_timing_wheel,
    project=project_timing_wheel,
    specification="MCSpec",
    under_way=timing_wheel_under_way,
)
OVERFLOW_WHEEL = Compared(
    module="OverflowWheel",
    configuration=WheelAdders,
    code=overflow_wheel,
    label=label_of_overflow_wheel,
    project=project_overflow_wheel,
)

_TABLE = read_table(__file__, "catalog.toml")

COMPARISONS = (
    *TIMER.rows(_TABLE),
    *TIMING_WHEEL.rows(_TABLE),
    *OVERFLOW_WHEEL.rows(_TABLE),
    *ENTRY_MIGRATION.rows(_TABLE),
    *SYSTEM_TIMER.rows(_TABLE),
)
