"""Types of arguments that several verbs take, and the message for an unknown name."""

import argparse
import math
from collections.abc import Callable, Iterable


def bounded(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return the type of an argument that is a whole number between two bounds, both included."""
    bounds = f"from {least:,} upwards" if most is None else f"from {least:,} to {most:,}"

    def parse(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} is no number {bounds}")
        return value

    return parse


def positive_seconds(text: str) -> float:
    """Return a finite number of seconds above 0, for `type` of an argument."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Return the message for an unknown name, with the nearest known name, or else all names."""
    import difflib

    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    remedy = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
    return f"{what}: there is no {name!r}; {remedy}"
