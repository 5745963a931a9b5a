"""All components, and what a line may be: the one table that parser, schema and page read."""

from collections.abc import Mapping
from types import MappingProxyType

from wheelproof_spec.base.codec.definitions import (
    ActionDefinition,
    CallDefinition,
    ComponentDefinition,
)
from wheelproof_spec.components.accumulator.events import (
    ACCUMULATOR,
)
from wheelproof_spec.components.buffer_pool.events import (
    BUFFER_POOL,
)
from wheelproof_spec.components.purgatory.events import PURGATORY
from wheelproof_spec.components.timer.events import TIMER

COMPONENTS: Mapping[str, ComponentDefinition] = MappingProxyType(
    {one.name: one for one in (TIMER, PURGATORY, BUFFER_POOL, ACCUMULATOR)}
)


def calls() -> Mapping[str, CallDefinition]:
    """Return the calls of all components by name; those of one name have the same values."""
    return {call.f: call for one in COMPONENTS.values() for call in one.calls}


def actions() -> Mapping[str, ActionDefinition]:
    """Return the actions of all components by name; those of one name have the same values."""
    return {action.action: action for one in COMPONENTS.values() for action in one.actions}
