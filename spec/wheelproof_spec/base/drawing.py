"""What pictures of a case are made of: HTML and SVG elements, chips, bars; and who draws them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from wheelproof_spec.base.strict_json import JsonObject


class Markup(str):
    """HTML as it is, which templates take as such; every other string is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the HTML; Jinja asks for it."""
        return str(self)

    def __add__(self, other: str) -> "Markup":
        """Return this and then the other."""
        return Markup(super().__add__(_escaped(other)))

    def join(self, parts: Iterable[str]) -> "Markup":
        """Return the parts, with this between them."""
        return Markup(super().join(map(_escaped, parts)))


NOTHING = Markup()


class CaseView(Protocol):
    """A component whose state can be looked at while a case is followed."""

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make the call that a request asks for and return what is expected of it.

        `answer` is what the implementation said, empty if it is not known. Raises RefusedError.
        """
        ...

    def picture(self) -> Markup:
        """Return the state after the last call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a bar: its name, how large it is, and the class that colours it."""

    name: str
    size: int
    kind: str


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; `class_` is the attribute class, `_` in a name stands for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for key, value in attributes.items()
    )
    inner = "".join(map(_escaped, content))
    return Markup(f"<{name}{written}>{inner}</{name}>")


def chip(text: str, kind: str = "", title: str = "") -> Markup:
    """Return a small box with a name in it."""
    return element("span", text, class_=f"chip {kind}".rstrip(), title=title or text)


def shelf(label: str, chips: Iterable[Markup], empty: str = "none") -> Markup:
    """Return a labelled row of chips, in their order."""
    row = list(chips) or [element("span", empty, class_="soft")]
    return element("div", element("b", label), *row, class_="shelf")


def bar(parts: Sequence[Part], unit: str) -> Markup:
    """Return a bar of all parts, as wide as they are large, and below it what they are."""
    total = sum(part.size for part in parts) or 1
    pieces: list[Markup] = []
    left = 0.0
    for part in parts:
        width = part.size / total * 100
        if part.size:
            pieces.append(
                element(
                    "rect",
                    element("title", f"{part.name}: {part.size:,} {unit}"),
                    class_=part.kind,
                    x=f"{left:.3f}%",
                    y=0,
                    width=f"{width:.3f}%",
                    height=26,
                )
            )
        left += width
    key = [
        element(
            "span",
            element("i", class_=f"key {part.kind}"),
            f"{part.name} {part.size:,} {unit}",
        )
        for part in parts
    ]
    drawn = element("svg", *pieces, class_="bar", width="100%", height=26, role="img")
    return drawn + element("div", *key, class_="legend soft")


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else escape(text)
