"""The programs of the constructs, and what exploring them says."""

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wheelproof_explore import explore
from wheelproof_explore.result import Exploration
from wheelproof_explore.verdicts import Verdict
from wheelproof_lab.worlds.constructs.rows import Construct

_MOST_RUNS = 1_000
_PROGRAM = """

def program():
    {setup}
    lock = threading.Lock()

    def add():
        {declares}
        with lock:
            {inside}
        {n}
        {N}
        {write}

    threads = [threading.Thread(target=add) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {read} == 2
"""
_TWO_LOOKS = """

def program():
    {setup}
    lock = threading.Lock()

    def write():
        {declares}
        N = 1
        with lock:
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
SHARED = (Path(__file__).parent / "shared.txt").read_text(encoding="utf-8")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What exploring a construct has said of the lost update, and of its mended form.

    `looks` is a program whose other thread reads twice, and may not be written to in between.
    """

    wrong: Exploration
    right: Exploration
    looks: Exploration

    def problem(self) -> str:
        """Return what must not be, empty if there is nothing."""
        if self.wrong.verdict() is Verdict.PASS:
            return "a lost update passes"
        if self.looks.verdict() is Verdict.PASS:
            return "a write between two looks passes"
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
                return f"inconclusive: {one.gap or one.stopped}"
        return "seen"


def outcome(construct: Construct, folder: Path, number: int) -> Outcome:
    """Write the programs of a construct into `folder`, and explore them."""
    named = f"construct_{number}"
    return Outcome(
        wrong=_explored(source(construct, mended=False), folder, f"{named}_wrong"),
        right=_explored(source(construct, mended=True), folder, f"{named}_right"),
        looks=_explored(two_looks(construct), folder, f"{named}_looks"),
    )


def _explored(text: str, folder: Path, name: str) -> Exploration:
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module(name)
        return explore(vars(module)["program"], max_runs=_MOST_RUNS)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop(name, None)


def two_looks(construct: Construct) -> str:
    """Return the module in which a thread reads twice, and another one writes."""
    return SHARED + _TWO_LOOKS.format(**construct._asdict())


def source(construct: Construct, *, mended: bool) -> str:
    """Return the module whose function `program` is the lost update, or its mended form."""
    steps = (f"n = {construct.read}", "N = n + 1", construct.write)
    inside: Sequence[str] = steps if mended else ("pass",)
    outside: Sequence[str] = ("pass",) * 3 if mended else steps
    return SHARED + _PROGRAM.format(
        setup=construct.setup,
        declares=construct.declares,
        inside="\n            ".join(inside),
        n=outside[0],
        N=outside[1],
        write=outside[2],
        read=construct.read,
    )
