"""Types of arguments that several verbs take."""

import argparse


def positive(text: str) -> int:
    """Return a number from 1 upwards, for `type` of an argument."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 upwards")
    return value
