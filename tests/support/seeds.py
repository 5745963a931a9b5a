"""The seed and the size of a campaign: fixed and small in the tests, fresh and large in a hunt.

`make hunt` sets WHEELPROOF_SEED to a seed that it has drawn. A failure names that seed, and the
same seed repeats it. Without the variable every campaign draws what it drew before, so the same
commit always has the same result.
"""

import os
from collections.abc import Sequence
from typing import TypeVar

VARIABLE = "WHEELPROOF_SEED"

T = TypeVar("T")


def hunting() -> bool:
    """Tell whether the tests run in a hunt, or repeat what a hunt has found."""
    return VARIABLE in os.environ


def seed(fixed: int) -> int:
    """Return the seed of a campaign: `fixed`, or the one of the hunt."""
    return int(os.environ.get(VARIABLE, fixed))


def runs(few: int, *, hunted: int) -> int:
    """Return how many runs a campaign makes: `few` in the tests, `hunted` in a hunt."""
    return hunted if hunting() else few


def share(items: Sequence[T], every: int) -> Sequence[T]:
    """Return one of so many items: always the same in the tests, those of its seed in a hunt."""
    return items[seed(0) % every :: every]
