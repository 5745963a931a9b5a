"""The reference of `wheelproof_explore` in docs/explore.md is what the docstrings say."""

import inspect
from collections.abc import Callable
from enum import Enum, EnumType

import wheelproof_explore as explore
from support.checkout import ROOT

_HEADING = "## The library, name by name\n"


def _reference() -> str:
    """Return a line for each public name: its parameters, and what its docstring says."""
    lines: list[str] = []
    for name in explore.__all__:
        member: Callable[..., object] = getattr(explore, name)
        parts = (inspect.getdoc(member) or "").split("\n\n")
        # What begins with a decorator is an example.
        about = " ".join(part.replace("\n", " ") for part in parts if not part.startswith("@"))
        lines.append(f"- `{name}{_parameters(member)}`: {about}")
    return "\n".join(lines) + "\n"


def _parameters(member: object) -> str:
    if isinstance(member, EnumType):
        return "." + "|".join(member.__members__)
    assert callable(member)
    return f"({', '.join(map(_shown, inspect.signature(member).parameters.values()))})"


def _shown(parameter: inspect.Parameter) -> str:
    default: object = parameter.default
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        return f"**{parameter.name}"
    if default is inspect.Parameter.empty:
        return parameter.name
    plain = isinstance(default, str | int | tuple) or default is None
    return (
        f"{parameter.name}={default!r}"
        if plain and not isinstance(default, Enum)
        else (f"{parameter.name}=...")
    )


def test_the_reference_is_what_the_docstrings_say() -> None:
    section = (
        (ROOT / "docs" / "explore.md").read_text().partition(_HEADING)[2].partition("\n## ")[0]
    )
    assert _reference() in section
