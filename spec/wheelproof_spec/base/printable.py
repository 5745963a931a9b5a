"""Text of a program under test, made safe for a terminal and a report."""

_LONGEST = 300


def printable(text: str) -> str:
    """Return `text` on one line, shortened, its control characters written as escapes."""
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text[:_LONGEST]
    )
    return shown if len(text) <= _LONGEST else f"{shown}..."
