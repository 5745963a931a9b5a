"""Every reader beside every writer of one object, and the verdicts that plain Python asks for.

A reader whose result differs behind a writer has a race with it. So a program that asserts the
result of one order fails, and no verdict on it may be a pass.
"""

import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from support.explore.programs import kinds_of_containers, kinds_of_objects, kinds_of_packages
from support.explore.programs.kind import Kind

_PRELUDE = f"""
{kinds_of_containers.PRELUDE}
{kinds_of_objects.PRELUDE}
{kinds_of_packages.PRELUDE}
def said(call):
    try:
        result = call()
    except Exception as error:
        return type(error).__name__
    return repr(list(result) if hasattr(result, "__next__") else result)
"""
_PROGRAM = """
def {name}():
    d, got = {made}, []
    def read():
        got.append(said(lambda: {reader}))
    def write():
        said(lambda: {writer})
    threads = [threading.Thread(target=one) for one in ({order})]
    for one in threads: one.start()
    for one in threads: one.join()
    assert got == [{expected!r}]
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """A reader beside a writer of an object, and what the reader says without the writer."""

    kind: str
    made: str
    reader: str
    writer: str
    expected: str

    def programs(self, name: str) -> str:
        """Return the program in which the reader is started first, and that in which it is last."""
        return "".join(
            _PROGRAM.format(
                name=f"{name}_{first}",
                made=self.made,
                reader=self.reader,
                writer=self.writer,
                order=order,
                expected=self.expected,
            )
            for first, order in (("reader", "read, write"), ("writer", "write, read"))
        )


_KINDS: Mapping[str, Kind] = {
    **kinds_of_containers.KINDS,
    **kinds_of_objects.KINDS,
    **kinds_of_packages.KINDS,
}
INSTALLED = {kinds_of_packages.PACKAGE: kinds_of_packages.PACKAGE_TEXT}
"""The package that the programs import, by its name: the model checker does not look into it."""
_IMPORT = f"""
from {kinds_of_packages.PACKAGE} import *
"""


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";")]


def module(pairs: list[Pair]) -> str:
    """Return a module with the programs of pairs, named by their places."""
    return _PRELUDE + _IMPORT + "".join(one.programs(f"pair_{at}") for at, one in enumerate(pairs))


def drawn(seed: int, count: int, kinds: Collection[str] = tuple(_KINDS)) -> list[Pair]:
    """Return so many pairs of these kinds whose reader says something else behind the writer."""
    every = [
        (name, reader, writer)
        for name, kind in _KINDS.items()
        if name in kinds
        for reader in _parts(kind.readers)
        for writer in _parts(kind.writers)
    ]
    random.Random(seed).shuffle(every)
    found = (pair for one in every if (pair := _racing(*one)) is not None)
    return [pair for pair, _ in zip(found, range(count), strict=False)]


def _racing(name: str, reader: str, writer: str) -> Pair | None:
    made = _KINDS[name].made
    alone, behind = (_said(made, calls) for calls in ([reader], [writer, reader]))
    return None if alone == behind else Pair(name, made, reader, writer, alone)


def _said(made: str, calls: list[str]) -> str:
    """Return what the last of several expressions says, evaluated on a new object."""
    names: dict[str, object] = {}
    exec(_PRELUDE, names)
    exec(kinds_of_packages.PACKAGE_TEXT, names)
    exec(f"d = {made}", names)
    for call in calls:
        exec(f"result = said(lambda: {call})", names)
    return str(names["result"])
