"""The elements of pictures of a case: HTML and SVG, chips, bars; and the view that draws them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from wheelproof_spec.base.strict_json import JsonObject


class Markup(str):
    """HTML that templates insert unescaped; every other string is escaped."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the HTML; Jinja asks for it."""
        return str(self)

    def __add__(self, other: str) -> "Markup":
        """Return this followed by `other`."""
        return Markup(super().__add__(_escaped(other)))

    def join(self, parts: Iterable[str]) -> "Markup":
        """Return the parts, with this markup between them."""
        return Markup(super().join(map(_escaped, parts)))


NOTHING = Markup()


class CaseView(Protocol):
    """A component whose state can be viewed while a case is replayed."""

    def perform(self, operation: str, content: JsonObject, answer: JsonObject) -> JsonObject:
        """Make the call of a request and return the expected answer.

        `answer` is the implementation's answer, empty if it is unknown. Raises RefusedError.
        """
        ...

    def picture(self) -> Markup:
        """Return the state after the last call."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a bar: its name, its size, and the CSS class that colours it."""

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
    """Return a bar of all parts, with widths in proportion to their sizes, and a legend below."""
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
