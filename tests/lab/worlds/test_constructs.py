"""No construct of Python hides a lost update from the model checker: it fails, or says it is blind.

In a process of their own: all modules that are loaded and not installed count as the user's.
"""

import ast
import builtins
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType
from unittest.mock import patch

import pytest

from support import seeds
from support.checkout import ROOT
from wheelproof_lab.publish import soundness
from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.programs import SHARED, loaded, shared_text, source
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS, WITHOUT_A_ROW

_KINDS = (AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType, MethodType)

# All of them take minutes of two processors: the seed says which quarter is explored.
_EVERY = 4
_FIRST = seeds.seed(0) % _EVERY
_ROWS = f"""
from wheelproof_lab.publish.soundness import CONSTRUCTS, explored_rows
print(*explored_rows(CONSTRUCTS[{_FIRST}::{_EVERY}]), sep="\\n")
"""

# A random program has two threads, each with at most three changes by at most 2.
_COUNTS_TO = 12
_COUNTS = """
{before}

def program():
    {setup}

    def store(N):
{store}

    for number in range(1, {last} + 1):
        try:
            store(number)
        except Exception:
            pass
    return {read}
"""


def _parts() -> Iterator[ast.AST]:
    texts = shared_text(), *(source(construct, mended=False) for construct in CONSTRUCTS)
    for text in texts:
        yield from ast.walk(ast.parse(text))


def test_each_node_of_the_grammar_has_a_row_or_needs_none() -> None:
    every = {
        name
        for name, kind in vars(ast).items()
        if isinstance(kind, type) and issubclass(kind, ast.AST) and not kind.__subclasses__()
    }
    there = {type(part).__name__ for part in _parts()}
    assert every - there <= WITHOUT_A_ROW.keys()


def test_each_slot_of_the_data_model_has_a_row_or_needs_none() -> None:
    kinds = *(kind for kind in vars(builtins).values() if isinstance(kind, type)), *_KINDS
    every = {
        name
        for kind in kinds
        for name in vars(kind)
        if name.startswith("__") and callable(getattr(kind, name, None))
    }
    there: set[str] = set()
    for part in _parts():
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            there.add(part.name)
        elif isinstance(part, ast.Attribute):
            there.add(part.attr)
    assert every - there <= WITHOUT_A_ROW.keys()


@pytest.mark.parametrize("row", CONSTRUCTS, ids=lambda row: row.name)
def test_a_row_can_be_read_whatever_a_random_program_counts_to(row: Construct) -> None:
    store = textwrap.indent(f"{row.declares}\n{row.write}", " " * 8)
    text = _COUNTS.format(
        before=row.before, setup=row.setup, store=store, read=row.read, last=_COUNTS_TO
    )
    # What a row changes for good is gone with the modules that it changes.
    with patch.dict(sys.modules):
        sys.modules.pop(SHARED, None)
        with loaded(text) as module:
            # What is wrong raises.
            module.program()


@pytest.mark.long
@pytest.mark.campaign
def test_no_lost_update_passes_and_the_page_says_what_exploring_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ROWS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert len(rows) == len(CONSTRUCTS[_FIRST::_EVERY])
    page = (ROOT / soundness.PAGE).read_text(encoding="utf-8")
    renew = "renew it: python -m wheelproof_lab pages soundness"
    assert not {*rows} - {*page.splitlines()}, renew
    said = ("| seen |", "| inconclusive: ", "| refused: ")
    assert sum(map(page.count, said)) == len(CONSTRUCTS), renew
    assert not [one.name for one in CONSTRUCTS if f"\n| {one.name} | " not in page], renew
