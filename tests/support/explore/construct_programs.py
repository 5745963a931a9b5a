"""Random small programs over the catalogue of constructs: two threads or tasks read and write.

Each reads and writes what one or two constructs share, some of it with a lock, and keeps what it
has read; a task may let the other one have a turn in between. The program returns what both have
kept, and what is there at the end.
"""

import ast
import random
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from wheelproof_lab.worlds.constructs.construct import Construct
from wheelproof_lab.worlds.constructs.rows import CONSTRUCTS

_PROGRAM = """
{before}

def program():
{setup}
    lock = threading.Lock()

    def one(mine):
{one}

    def other(mine):
{other}

    def final():
        return {final}

    seen = [], []
    threads = [
        threading.Thread(target=one, args=(seen[0],)),
        threading.Thread(target=other, args=(seen[1],)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return repr((seen, final()))
"""
_TASKS = """
import asyncio
{before}

async def program():
{setup}
    lock = asyncio.Lock()

    async def one(mine):
{one}

    async def other(mine):
{other}

    def final():
        return {final}

    seen = [], []
    await asyncio.gather(one(seen[0]), other(seen[1]))
    return repr((seen, final()))
"""
_TURN = "await asyncio.sleep(0)"
_GUARDED = (
    "{declares}\ntry:\n{body}\nexcept Exception as error:\n    mine.append(type(error).__name__)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructProgram:
    """The text of a module with a function `program`, and the constructs that it uses."""

    text: str
    names: tuple[str, ...]
    locked: bool
    """Each access is made with the lock."""
    is_coroutine: bool


def two_readers(row: Construct) -> str:
    """Return a program in which two threads read what one construct keeps, and nobody writes."""
    reads = _indented(f"{row.declares}\n{row.read}", 2)
    return _PROGRAM.format(
        before=row.before, setup=_indented(row.setup, 1), one=reads, other=reads, final=row.read
    )


def random_threads(seed: int, constructs: Sequence[Construct] = CONSTRUCTS) -> ConstructProgram:
    """Draw a program of two threads, of these constructs."""
    return _drawn(random.Random(seed), _PROGRAM, constructs, turns=False)


def random_tasks(seed: int, constructs: Sequence[Construct] = CONSTRUCTS) -> ConstructProgram:
    """Draw a program of two tasks; its function `program` is a coroutine."""
    return _drawn(random.Random(seed), _TASKS, constructs, turns=True)


def _drawn(
    draw: random.Random, program: str, constructs: Sequence[Construct], *, turns: bool
) -> ConstructProgram:
    drawn = draw.sample(constructs, draw.choice((1, 1, 2)))
    rows = [_renamed(row, f"_{number}") for number, row in enumerate(drawn)]
    always = draw.random() < 0.2
    declares = "\n".join(row.declares for row in rows)
    setup = "\n".join(row.setup for row in rows)
    before = "\n".join(row.before for row in rows)
    own = [row.lock for row in rows if row.lock != "lock"]
    opening = "async with lock" if turns else f"with {own[0] if own else 'lock'}"
    bodies = [_body(draw, rows, opening, always=always, turns=turns) for _ in range(2)]
    one, other = (
        _indented(_GUARDED.format(declares=declares, body=_indented(body, 1)), 2) for body in bodies
    )
    final = ", ".join(f"({row.read})" for row in rows)
    text = program.format(
        before=before, setup=_indented(setup, 1), one=one, other=other, final=final
    )
    return ConstructProgram(
        text=text,
        names=tuple(row.name for row in drawn),
        locked=always,
        is_coroutine=turns,
    )


def _indented(text: str, levels: int) -> str:
    return textwrap.indent(text, "    " * levels)


def _body(
    draw: random.Random, rows: Sequence[Construct], opening: str, *, always: bool, turns: bool
) -> str:
    lines: list[str] = []
    kept: list[str] = []
    for number in range(draw.choice((1, 2, 2, 3))):
        row, kind = draw.choice(rows), draw.choice(_KINDS)
        name, value = f"n{number}", draw.randint(1, 2)
        kept += [name] if kind in ("read", "update") else []
        parts = _statement(row, kind, name, value)
        statement = (
            f"\n{_TURN}\n".join(parts) if turns and draw.random() < 0.5 else "\n".join(parts)
        )
        if kind == "write if":
            statement = f"if {row.read} < {value}:\n{_indented(statement, 1)}"
        if always or draw.random() < 0.2:
            statement = f"{opening}:\n{_indented(statement, 1)}"
        lines.append(statement)
        if turns and draw.random() < 0.4:
            lines.append(_TURN)
    if kept:
        lines.append(f"mine.append(({', '.join(kept)},))")
    return "\n".join(lines)


_KINDS = ("read", "write", "update", "write if")


def _statement(row: Construct, kind: str, name: str, value: int) -> tuple[str, ...]:
    """Return the parts of a statement between which another task may have a turn."""
    match kind:
        case "read":
            return (f"{name} = {row.read}",)
        case "update":
            return f"{name} = {row.read}", f"N = {name} + {value}\n{row.write}"
        case _:
            return f"N = {value}", row.write


def _renamed(row: Construct, suffix: str) -> Construct:
    """Return a construct whose own variables have names that no other construct has."""
    setup = ast.parse(f"def setup():\n    {row.setup}\n").body[0]
    assert isinstance(setup, ast.FunctionDef)
    before = ast.parse(row.before)
    nodes = [*ast.walk(setup), *ast.walk(before)]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    # What a class statement stores are attributes.
    inside = {id(node) for kind in classes for line in kind.body for node in ast.walk(line)}
    names_of_setup = [node for node in nodes if isinstance(node, ast.Name)]
    made = {node.id for node in names_of_setup if _stores(node) and id(node) not in inside}
    made |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    shared = {
        name for node in ast.walk(setup) if isinstance(node, ast.Global) for name in node.names
    }
    names = {name: name + suffix for name in made - shared}
    return Construct(
        row.name,
        "\n".join(ast.unparse(_Renaming(names).visit(line)) for line in setup.body),
        _text(row.read, names),
        _text(row.write, names),
        _text(row.declares, names),
        _text(row.before, names),
        _text(row.lock, names),
    )


def _text(text: str, names: dict[str, str]) -> str:
    return "\n".join(ast.unparse(_Renaming(names).visit(line)) for line in ast.parse(text).body)


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


class _Renaming(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.Nonlocal:
        node.names = [self._names.get(name, name) for name in node.names]
        return node

    def visit_Global(self, node: ast.Global) -> ast.Global:
        node.names = [self._names.get(name, name) for name in node.names]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.name = self._names.get(node.name, node.name)
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.name = self._names.get(node.name, node.name)
        self.generic_visit(node)
        return node
