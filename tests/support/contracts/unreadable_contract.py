"""A module with a contract that is no expression."""


def promises_gibberish(number: int) -> int:
    """Return the number.

    post: _ is rather large
    """
    return number
