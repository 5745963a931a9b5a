"""Text of a program under test, made safe for a terminal and a report."""

_LONGEST = 300


def printable(text: str, longest: int = _LONGEST) -> str:
    """Return `text` on one line, shortened, its control characters written as escapes."""
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in text[:longest]
    )
    return shown if len(text) <= longest else f"{shown}..."
