"""The few kinds of marks that pictures are made of: HTML and SVG elements, chips, bars."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

NOTHING = Markup("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a bar: its name, how large it is, and the class that colours it."""

    name: str
    size: int
    kind: str


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; `class_` is the attribute class, `_` in a name stands for `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
    inner = "".join(escape(one) for one in content)
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
