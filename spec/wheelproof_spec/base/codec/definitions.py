"""What a component defines: its configuration, its calls, its actions, its steps."""

from dataclasses import dataclass
from typing import Annotated

from wheelproof_spec.base.codec.vocabulary import About, Count, Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDefinition:
    """A call of a history: the values of its `invoke` and of its `ok` lines.

    What `happens` is no call: a callback that the component makes. The process that it happens to
    may be inside a call, and its `ok` may be left out.
    """

    f: str
    about: str
    asked: type[object] = Nothing
    answered: type[object] = Nothing
    happens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionDefinition:
    """An action of a trace, named as in the detailed TLA+ module."""

    action: str
    about: str
    args: type[object] = Nothing
    obs: type[object] = Nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentDefinition:
    """Everything that is recorded of one component."""

    name: str
    config: type[object]
    calls: tuple[CallDefinition, ...]
    actions: tuple[ActionDefinition, ...]
    steps: tuple[type[object], ...]
    """The steps of a vector, told apart by their field `do`."""
    module: str | None = None
    """The detailed TLA+ module that the actions come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAnswer:
    """An answer that is a number."""

    count: Annotated[Count, About("how many")]
