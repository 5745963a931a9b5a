"""The types of arguments: what they take, and that all else is one sentence."""

import argparse
from collections.abc import Callable

import pytest

from wheelproof_spec.base.arguments import bounded, positive_seconds


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (bounded(1), "1", 1),
        (bounded(0, 3), "0", 0),
        (bounded(0, 3), "3", 3),
        (positive_seconds, "0.5", 0.5),
        (positive_seconds, "1e-3", 0.001),
    ],
)
def test_argument_is_taken(parse: Callable[[str], float], text: str, value: float) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "sentence"),
    [
        *[(bounded(1), text, "from 1 upwards") for text in ("0", "-1", "1.5", "", "nan", "\0")],
        *[(bounded(0, 3), text, "from 0 to 3") for text in ("-1", "4", "9" * 5000)],
        *[
            (positive_seconds, text, "seconds above 0")
            for text in ("nan", "inf", "-inf", "1e999", "0", "-1", "", "x")
        ],
    ],
)
def test_argument_is_refused(parse: Callable[[str], float], text: str, sentence: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=sentence):
        parse(text)
