"""Watching: methods, their ends and their threads are noted, and afterwards all is as before."""

import sys
from pathlib import Path

import pytest

from wheelproof_lab.detect.mutation.watch import (
    Seen,
    classes_of,
    errors_named,
    methods_of,
    raises_of,
    watching,
)


class Lamp:
    """Has one bulb."""

    def __init__(self) -> None:
        self.is_broken = False

    @property
    def state(self) -> str:
        """On, unless it is broken."""
        return "broken" if self.is_broken else "on"

    def use(self) -> None:
        """Use it up.

        Raises ValueError if it is broken.

        A KeyError is another matter.
        """
        if self.is_broken:
            raise ValueError(self.state)
        self.is_broken = True


def test_calls_and_ends_are_noted_inside_the_block_alone() -> None:
    seen, before = Seen(), Lamp.use
    with watching([Lamp], seen, lambda: "me"):
        lamp = Lamp()
        lamp.use()
        with pytest.raises(ValueError, match="broken"):
            lamp.use()
    assert Lamp.use is before
    assert lamp.state == "broken"
    assert seen.counts["Lamp.use"] == 2
    assert seen.counts["Lamp.use ValueError"] == 1
    assert seen.counts["Lamp.state"] == 1
    assert seen.threads["Lamp.use"] == {"me"}
    module = sys.modules[__name__]
    ((line, error),) = raises_of(module)
    assert error == f"{Path(__file__).stem}.use ValueError"
    assert seen.counts[line] == 1


def test_a_class_says_which_methods_it_has_and_which_errors() -> None:
    assert [*classes_of([sys.modules[__name__]])] == [Lamp]
    methods = dict(methods_of(Lamp))
    assert [*methods] == ["state", "use"]
    assert [*errors_named(methods["use"])] == ["ValueError"]
