"""The comparisons of the timer, the small ones first."""

from functools import partial

from wheelproof_spec.base.codec.tables import read_table
from wheelproof_spec.components.timer.graph.abstract import (
    TimerBounds,
    label_of_timer,
    oracle_graph,
)
from wheelproof_spec.components.timer.graph.entry_migration import (
    Migration,
    entry_migration,
    label_of_entry_migration,
    project_entry_migration,
)
from wheelproof_spec.components.timer.graph.overflow_wheel import (
    WheelAdders,
    label_of_overflow_wheel,
    overflow_wheel,
    project_overflow_wheel,
)
from wheelproof_spec.components.timer.graph.system_timer import Cast, system_timer
from wheelproof_spec.components.timer.graph.system_timer_view import (
    label_of_system_timer,
    project_system_timer,
)
from wheelproof_spec.components.timer.graph.timing_wheel import (
    WheelBounds,
    label_of_timing_wheel,
    project_timing_wheel,
    timing_wheel_under_way,
    wheel_graph,
)
from wheelproof_spec.engines.graph.comparing.comparisons import (
    CodeSide,
    GraphModel,
    model_of,
    program_side,
)
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


def timing_wheel_model(name: str, summary: str, bounds: WheelBounds) -> GraphModel:
    """Return the comparison of the reference's timer, driven by one thread, with TimingWheel."""
    return GraphModel(
        name=name,
        summary=summary,
        code=lambda _: CodeSide(graph=wheel_graph(bounds)),
        configuration=TlcConfiguration(
            module="MCTimingWheel", constants=bounds.constants(), specification="MCSpec"
        ),
        project=project_timing_wheel,
        label=label_of_timing_wheel,
        under_way=timing_wheel_under_way,
    )


def overflow_wheel_model(name: str, summary: str, adders: WheelAdders) -> GraphModel:
    """Return the comparison of a wheel that needs its overflow wheel with OverflowWheel."""
    return GraphModel(
        name=name,
        summary=summary,
        code=program_side(overflow_wheel(adders)),
        configuration=TlcConfiguration(module="OverflowWheel", constants=adders.constants()),
        project=project_overflow_wheel,
        label=label_of_overflow_wheel,
    )


_MODULES = {
    "OverflowWheel": partial(model_of, make=overflow_wheel_model, configuration=WheelAdders),
    "MCTimingWheel": partial(model_of, make=timing_wheel_model, configuration=WheelBounds),
    "MCTimer": partial(model_of, make=timer_model, configuration=TimerBounds),
    "EntryMigration": partial(model_of, make=migration_model, configuration=Migration),
    "MCSystemTimer": partial(model_of, make=system_timer_model, configuration=Cast),
}

COMPARISONS = tuple(
    _MODULES[str(row["of"])](name, row)
    for name, row in read_table(__file__, "catalog.toml").items()
)
