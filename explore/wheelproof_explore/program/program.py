"""A program under test: a name, and a function that sets up one run."""

import hashlib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from wheelproof_explore.fields.plain_fields import PlainField
from wheelproof_explore.program.scenario import Scenario
from wheelproof_explore.runtime.settings import DEFAULT_SETTINGS, Settings

_WHERE = re.compile(r" at 0x[0-9a-f]+|(?<=<class ')(?:\w+\.)+")
"""The address or module of a function or class: they change from run to run, or by a move."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program under test; `build` makes everything anew for each run.

    Every access of the `plain_fields` is a step. `without` are the numbers of the operations that
    are left out, among those that can be.

    With `patch_threading` the program is written against `threading`; see the package `patched`.
    `faults` are the calls of its environment that may fail, each in some runs; see `environment`.
    `options` are those of the command line with which it was named, each behind a space.
    In the packages that `instrument` names, what threads share is seen: searched for data races,
    or, with `accesses_are_steps`, explored in every order.

    Graph mode has to know all that threads share: cells, locks, the `plain_fields` (accesses of
    which are no steps there), and what `shares` names, a field or all guarded fields of a class.
    """

    name: str
    summary: str
    build: Callable[[], Scenario]
    settings: Settings = DEFAULT_SETTINGS
    plain_fields: Sequence[PlainField] = ()
    without: frozenset[int] = frozenset()
    shares: Sequence[type | PlainField] = ()
    patch_threading: bool = False
    instrument: Sequence[str] = ()
    accesses_are_steps: bool = False
    faults: Sequence[str] = ()
    options: str = ""

    def digest(self) -> str:
        """Return a hash of the program's name, source, settings and faults."""
        parts = [self.name, repr(self.settings), _source(self.build), *self.faults]
        if self.settings.first_in_first_out:
            parts.append("first in, first out")
        text = "\n".join(parts)
        return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def name_of(given: Callable[..., object]) -> str:
    """Return the module and the name of a function, and what a partial call gives to it."""
    if isinstance(given, partial):
        values = [_shown(value) for value in given.args]
        values += [f"{name}={_shown(value)}" for name, value in sorted(given.keywords.items())]
        return f"{name_of(given.func)}({', '.join(values)})"
    kind = type(given)
    return f"{given.__module__}.{getattr(given, '__qualname__', kind.__qualname__)}"


def _shown(value: object) -> str:
    """Return what is the same whenever the same test runs."""
    is_plain = isinstance(value, int | float | str | bytes | None)
    return repr(value) if is_plain else type(value).__qualname__


def _source(build: Callable[..., object]) -> str:
    if isinstance(build, partial):
        call = f"{_source(build.func)}{build.args!r}{sorted(build.keywords.items())!r}"
        return _WHERE.sub("", call)
    try:
        return inspect.getsource(build)
    except (OSError, TypeError):
        return getattr(build, "__qualname__", type(build).__qualname__)
