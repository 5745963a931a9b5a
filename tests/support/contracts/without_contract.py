"""A module with a function that promises nothing."""


def promises_nothing(number: int) -> int:
    """Return the number."""
    return number
