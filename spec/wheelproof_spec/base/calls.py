"""What a driven case asks of a component: calls, each a dataclass named as on the wire."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import ClassVar, Protocol

from wheelproof_spec.base.strict_json import (
    JsonObject,
    MalformedError,
    as_object,
    require_fields,
    text,
)

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Request(Protocol):
    """Anything that can be asked of a driver."""

    def operation(self) -> str:
        """Return the request's name on the wire."""
        ...

    def fields(self) -> Mapping[str, object]:
        """Return what the message has beside its id and its operation."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCall:
    """Base of the calls of a component: its class gives the name, its fields the arguments."""

    def operation(self) -> str:
        """Return the name on the wire, the class's in snake_case."""
        return _name_on_the_wire(type(self).__name__)

    def fields(self) -> Mapping[str, object]:
        """Return the arguments, if there are any; one that is None is left out."""
        arguments = {
            name: value
            for name in self.__dataclass_fields__
            if (value := getattr(self, name)) is not None
        }
        return {"args": arguments} if arguments else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentReset:
    """Base of the resets: forget everything and make a new component.

    A subclass names its component and has one field, `config`, a dataclass.
    """

    component: ClassVar[str]

    def operation(self) -> str:
        """Return the name on the wire."""
        return "reset"

    def fields(self) -> Mapping[str, object]:
        """Return the component and its configuration."""
        return {"component": self.component, **asdict(self)}


@cache
def _name_on_the_wire(class_name: str) -> str:
    return _CAPITAL.sub("_", class_name).lower()


def no_arguments(message: JsonObject) -> None:
    """Accept a call that has no arguments; raises MalformedError."""
    require_fields(message, ())


def arguments_of(message: JsonObject, *names: str, optional: tuple[str, ...] = ()) -> JsonObject:
    """Return the arguments of a call, which has all of `names`; raises MalformedError."""
    require_fields(message, ("args",))
    arguments = as_object(message["args"], "has 'args' that is")
    require_fields(arguments, names, optional)
    return arguments


def component_of(message: JsonObject) -> str:
    """Return the component that a reset names; raises MalformedError."""
    require_fields(message, ("component", "config"))
    return text(message, "component")


def config_of(message: JsonObject, *names: str) -> JsonObject:
    """Return the configuration in a reset, which has all of `names`; raises MalformedError."""
    require_fields(message, ("component", "config"))
    config = as_object(message["config"], "has 'config' that is")
    require_fields(config, names)
    return config


def unknown_operation(operation: str) -> MalformedError:
    """Return the error of a call that the component does not have."""
    return MalformedError(f"asks for the unknown operation {operation!r}")
