"""The programs of the constructs, and what exploring them says."""

import importlib
import os
import re
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Literal

from wheelproof_explore import explore
from wheelproof_explore.failures.problems import ProgramRejectedError
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.constructs.construct import Construct

_MOST_RUNS = 1_000
_PROGRAM = """{before}

def program():
    {setup}
    lock = threading.Lock()

    def add():
        {declares}
        with {lock}:
            {inside}
        {outside}

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {read} == 2
"""
_TWO_LOOKS = """{before}

def program():
    {setup}
    lock = threading.Lock()

    def write():
        {declares}
        N = 1
        with {lock}:
            pass
        {write}

    def look():
        one_look = {read}
        other_look = {read}
        assert one_look == other_look

    threads = [threading.Thread(target=write), threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
SHARED = "constructs_shared"
"""The module with what the programs share; it is instrumented with them."""
INSTALLED = "constructs_installed"
"""The module of a package that is installed: the model checker does not look into it."""
_MODULE = re.compile(r"constructs_\d+")
_OPENING = f"""from {SHARED} import *

def globals_set(v):
    global G
    G = v
"""
_NUMBERS = count()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What exploring a construct has said of the lost update, and of its mended form.

    `looks` is a program whose other thread reads twice, and may not be written to in between. In
    the search for data races the two wrong programs may not pass either.
    """

    wrong: Exploration
    right: Exploration
    looks: Exploration
    races: tuple[Exploration, Exploration]

    def problem(self) -> str:
        """Return what must not be, empty if there is nothing."""
        if self.wrong.verdict() is Verdict.PASS:
            return "a lost update passes"
        if self.looks.verdict() is Verdict.PASS:
            return "a write between two looks passes"
        if Verdict.PASS in [one.verdict() for one in self.races]:
            return "it passes the search for data races"
        if self.right.verdict() is Verdict.FAIL:
            return f"a right program fails: {self.right.summary()}"
        found = self.wrong.counterexample
        if found is not None and "AssertionError" not in found.failure.message:
            return f"it fails for another reason: {found.failure.message}"
        return ""

    def how(self) -> str:
        """Return "seen", or why it is no pass and no failure."""
        for one in (self.wrong, self.right, self.looks):
            if one.verdict() is Verdict.INCONCLUSIVE:
                # The name of a program's module has a number that tells nothing.
                return _MODULE.sub("the module", f"inconclusive: {one.gap or one.stopped}")
        return "seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the programs of a construct cannot be explored."""

    said: str

    def problem(self) -> str:
        """Return nothing: it is no verdict."""
        return ""

    def how(self) -> str:
        """Return why it is refused, without the remedy."""
        return "refused: " + _MODULE.sub("the module", self.said.partition("; ")[0])


def outcome(construct: Construct) -> Outcome | Refusal:
    """Explore the programs of a construct."""
    lost, looks = source(construct, mended=False), two_looks(construct)
    try:
        return Outcome(
            wrong=_explored(lost),
            right=_explored(source(construct, mended=True)),
            looks=_explored(looks),
            races=(_explored(lost, "races"), _explored(looks, "races")),
        )
    except ProgramRejectedError as error:
        # What comes first is the name of the program.
        return Refusal(said=str(error).partition(": ")[2])


def _explored(text: str, accesses: Literal["steps", "races"] = "steps") -> Exploration:
    with loaded(text) as module:
        return explore(vars(module)["program"], accesses=accesses, max_runs=_MOST_RUNS)


@contextmanager
def loaded(text: str) -> Generator[ModuleType]:
    """Import the text of a module, as one that stands in a file; in the end it is gone.

    So are the files that it has made, what it has done to the environment, and the package.
    """
    folder, name = _folder(), f"constructs_{next(_NUMBERS)}"
    path, here, variables = folder / f"{name}.py", Path.cwd(), dict(os.environ)
    path.write_text(_OPENING + text, encoding="utf-8")
    importlib.invalidate_caches()
    sys.path[:0] = added = [str(folder), str(folder / "site-packages")]
    try:
        yield importlib.import_module(name)
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(variables)
        for one in added:
            sys.path.remove(one)
        for one in (name, INSTALLED):
            sys.modules.pop(one, None)
        path.unlink()
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)


@cache
def _folder() -> Path:
    """Make the folder of the modules, once; it goes with this process."""
    _kept.append(TemporaryDirectory(prefix="constructs"))
    folder = Path(_kept[-1].name)
    (folder / "site-packages").mkdir()
    for module, text in ((SHARED, "shared"), (f"site-packages/{INSTALLED}", "installed")):
        source_of = Path(__file__).parent / f"{text}.txt"
        (folder / f"{module}.py").write_text(source_of.read_text(encoding="utf-8"), "utf-8")
    return folder


def shared_text() -> str:
    """Return the source of the module with what the programs share."""
    return (Path(__file__).parent / "shared.txt").read_text(encoding="utf-8")


_kept: list["TemporaryDirectory[str]"] = []


def two_looks(construct: Construct) -> str:
    """Return the module in which a thread reads twice, and another one writes."""
    return _TWO_LOOKS.format(
        before=construct.before,
        setup=construct.setup,
        lock=construct.lock,
        declares=construct.declares,
        write=_at(8, construct.write),
        read=construct.read,
    )


def source(construct: Construct, *, mended: bool) -> str:
    """Return the module whose function `program` is the lost update, or its mended form."""
    steps = f"n = {construct.read}\nN = n + 1\n{construct.write}"
    return _PROGRAM.format(
        before=construct.before,
        setup=construct.setup,
        lock=construct.lock,
        declares=construct.declares,
        inside=_at(12, steps if mended else "pass"),
        outside=_at(8, "pass" if mended else steps),
        read=construct.read,
    )


def _at(columns: int, text: str) -> str:
    """Return lines of which all but the first are indented; the first stands in its place."""
    return text.replace("\n", "\n" + " " * columns)
