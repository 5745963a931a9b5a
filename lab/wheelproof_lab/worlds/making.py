"""Functions that the modules of programs share."""

from collections.abc import Callable, Sequence

from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program import (
    DEFAULT_SETTINGS,
    Action,
    Program,
    Scenario,
    Settings,
)


def program(
    name: str,
    build: Callable[[], Scenario],
    settings: Settings = DEFAULT_SETTINGS,
    plain_fields: Sequence[PlainField] = (),
    shares: Sequence[type | PlainField] = (),
) -> Program:
    """Return a program whose summary is the first line of the builder's docstring."""
    documented: object = getattr(build, "func", build)
    summary = (documented.__doc__ or "").partition("\n")[0]
    return Program(
        name=name,
        summary=summary,
        build=build,
        settings=settings,
        plain_fields=plain_fields,
        shares=shares,
    )


def discarding(function: Callable[[], object]) -> Action:
    """Return an action that calls `function` and drops what it returns."""

    def call() -> None:
        function()

    return call
