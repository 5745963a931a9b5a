"""Mutants of Python code: one small change each, by the operators of the field and of concurrency.

The operators of the field: comparison, boundary, boolean, constant, deletion, guard, swapped
statements and arguments. Those of concurrency: a lock dropped, narrowed at either end, or taken in
another order; a signal for one or for all; `if` for `while`; an atomic step split in two.
"""

import ast
import copy
import difflib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeGuard

from wheelproof_lab.detect.mutation.independent import independent

_OTHER_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OTHER_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
_OTHER_CALLS = {"notify": "notify_all", "notify_all": "notify"}
_SPLIT = {
    "compare_and_set": "{cell}.get() is {first} and {cell}.set({second}) is None",
    "add_and_get": "({cell}.set({cell}.get() + {first}), {cell}.get())[1]",
    "get_and_set": "({cell}.get(), {cell}.set({first}))[0]",
}
"""The two steps that replace each atomic step."""
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)
_NOT_MUTATED = ("annotation", "returns", "decorator_list", "bases", "type_params", "keywords")
_PASS = ast.Pass()

Replace = Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A module with one change: its operator, its line, and the lines that it removes and adds.

    The `id` begins with the path of the function or definition, and changes only if its code does.
    """

    id: str
    operator: str
    line: int
    becomes: str


def mutants_of(module: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module that compiles and differs from the module."""
    return (mutant for mutant, _ in _mutations(module, text))


def mutated(module: str, text: str, mutant: str) -> str:
    """Return the module with the change of a mutant; raises LookupError if it has none."""
    for found, whole in _mutations(module, text):
        if found.id == mutant:
            return whole()
    raise LookupError(f"{module} has no mutant {mutant}")


def _mutations(module: str, text: str) -> Iterator[tuple[Mutant, Callable[[], str]]]:
    tree, seen = ast.parse(text), Counter[str]()
    for place, node in _functions(tree, module):
        before = ast.unparse(node)
        function = hashlib.blake2b(_code_of(node).encode(), digest_size=3).hexdigest()
        for change in _changes(node, node):
            undo = change.apply()
            try:
                after = ast.unparse(ast.fix_missing_locations(node))
                if after == before or not _compiles(after):
                    continue
                name = f"{place}/{change.operator}"
                seen[name] += 1
                mutant = Mutant(
                    id=f"{name}/{seen[name]}/{function}",
                    operator=change.operator,
                    line=change.line,
                    becomes=_difference(before, after),
                )
                # The tree holds the change until the caller asks for the next mutant.
                yield mutant, partial(ast.unparse, tree)
            finally:
                undo()


def _code_of(node: ast.FunctionDef) -> str:
    """Return the text of a function without its docstring: prose changes no mutant's name."""
    said = ast.get_docstring(node, clean=False) is not None
    code = copy.copy(node)
    code.body = node.body[1:] or [_PASS] if said else node.body
    return ast.unparse(code)


def _difference(before: str, after: str) -> str:
    """Return the removed and the added lines, each without its indentation."""
    lines = [*difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")][2:]
    return " / ".join(f"{line[0]} {line[1:].strip()}" for line in lines if line[0] != "@")


def _compiles(text: str) -> bool:
    try:
        compile(text, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _functions(tree: ast.AST, path: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            if not any("Protocol" in ast.unparse(base) for base in node.bases):
                yield from _functions(node, f"{path}.{node.name}")
        elif isinstance(node, ast.FunctionDef):
            yield f"{path}.{node.name}", node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    operator: str
    holder: ast.AST
    field: str
    index: int | None
    new: object
    line: int

    def apply(self) -> Replace:
        """Make the change, and return a function that undoes it."""
        value: object = getattr(self.holder, self.field)
        if self.index is None or not _is_list(value):
            setattr(self.holder, self.field, self.new)
            return lambda: setattr(self.holder, self.field, value)
        items, index, before = value, self.index, value[self.index]
        items[index] = self.new

        def undo() -> None:
            items[index] = before

        return undo


def _changes(node: ast.AST, function: ast.FunctionDef) -> Iterator[_Change]:
    """Yield the changes below a node of a function, in the order of the text."""
    for field, value in ast.iter_fields(node):
        if field in _NOT_MUTATED:
            continue
        if isinstance(value, ast.expr):
            yield from _of_expression(node, field, None, value)
            yield from _changes(value, function)
        elif _is_list(value):
            body = [item for item in value if isinstance(item, ast.stmt)]
            for index, operator, new in _of_statements(body, function):
                yield _Change(
                    operator=operator,
                    holder=node,
                    field=field,
                    index=None,
                    new=new,
                    line=body[index].lineno,
                )
            for index, item in enumerate(value):
                if isinstance(item, ast.expr):
                    yield from _of_expression(node, field, index, item)
                if isinstance(item, ast.AST):
                    yield from _changes(item, function)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _of_expression(
    holder: ast.AST, field: str, index: int | None, old: ast.expr
) -> Iterator[_Change]:
    for operator, new in _others(old):
        yield _Change(
            operator=operator,
            holder=holder,
            field=field,
            index=index,
            new=new,
            line=old.lineno,
        )


def _others(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            other = _OTHER_COMPARISONS[type(op)]
            yield "comparison", ast.Compare(left=left, ops=[other()], comparators=[right])
        case ast.BoolOp(op=op, values=values):
            other_op = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield "boolean", ast.BoolOp(op=other_op, values=values)
            for value in values:
                left_out = [one for one in values if one is not value]
                yield "condition left out", _joined(op, left_out)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "negation", operand
        case ast.Constant(value=bool(value)):
            yield "constant", ast.Constant(value=not value)
        case ast.Constant(value=int(value)):
            yield "constant", ast.Constant(value=value + 1)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OTHER_OPERATORS:
            yield "arithmetic", ast.BinOp(left=left, op=_OTHER_OPERATORS[type(op)](), right=right)
        case ast.IfExp(body=body, orelse=orelse):
            yield "condition", body
            yield "condition", orelse
        case ast.Call(func=ast.Attribute(value=cell, attr=attr) as func, args=args):
            yield from _other_calls(node, cell, attr, func, args)
        case _:
            pass
    match node:
        case ast.Call(func=ast.Name(id="min" | "max")):
            # The least or greatest number is the same in any order of the arguments.
            pass
        case ast.Call(func=called, args=[first, second, *more], keywords=keywords):
            yield (
                "swapped arguments",
                ast.Call(func=called, args=[second, first, *more], keywords=keywords),
            )
        case _:
            pass


def _other_calls(
    node: ast.Call, cell: ast.expr, attr: str, func: ast.Attribute, args: Sequence[ast.expr]
) -> Iterator[tuple[str, ast.expr]]:
    if attr in _OTHER_CALLS:
        other = ast.Attribute(value=cell, attr=_OTHER_CALLS[attr], ctx=func.ctx)
        yield "signal for one or all", ast.Call(func=other, args=[*args], keywords=node.keywords)
    if attr in _SPLIT:
        first, second = (*map(ast.unparse, args), "", "")[:2]
        text = _SPLIT[attr].format(cell=ast.unparse(cell), first=first, second=second)
        yield "atomic step in two", ast.parse(text, mode="eval").body


def _joined(op: ast.boolop, values: Sequence[ast.expr]) -> ast.expr:
    return values[0] if len(values) == 1 else ast.BoolOp(op=op, values=[*values])


def _of_statements(
    body: list[ast.stmt], function: ast.FunctionDef
) -> Iterator[tuple[int, str, list[ast.stmt]]]:
    """Yield the index of the changed statement, the operator, and the changed list."""
    for index, statement in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        for operator, instead in _instead_of(statement):
            yield index, operator, [*before, *instead, *after] or [_PASS]
        if not (after and _has_effect(statement) and _has_effect(after[0])):
            continue
        if not independent(function, statement, after[0]):
            yield index, "swapped statements", [*before, after[0], statement, *after[1:]]


def _has_effect(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, _SIMPLE)


def _instead_of(statement: ast.stmt) -> Iterator[tuple[str, list[ast.stmt]]]:
    match statement:
        case ast.Expr(value=ast.Constant()):
            pass
        case ast.Expr() | ast.AugAssign() | ast.Delete() | ast.Raise() | ast.Break():
            yield "deletion", [_PASS]
        case ast.Continue():
            yield "deletion", [_PASS]
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript(), *_]):
            yield "deletion", [_PASS]
        case ast.If(test=test, body=body, orelse=orelse):
            yield "guard always", body
            yield "guard never", orelse or [_PASS]
            yield "guard negated", [_if(ast.UnaryOp(op=ast.Not(), operand=test), body, orelse)]
        case ast.While(test=test, body=body):
            yield "if for while", [_if(test, body, [])]
        case ast.Try(body=body, finalbody=[_, *_]):
            yield "finally left out", body
        case ast.With(items=items, body=body):
            yield from _instead_of_lock(items, body)
        case _:
            pass


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.If:
    return ast.If(test=test, body=body, orelse=orelse)


def _returns_what_it_has(statement: ast.stmt) -> bool:
    """Return whether a statement returns a local name, a constant or nothing: no lock guards it."""
    return isinstance(statement, ast.Return) and isinstance(
        statement.value, ast.Name | ast.Constant | None
    )


def _instead_of_lock(
    items: list[ast.withitem], body: list[ast.stmt]
) -> Iterator[tuple[str, list[ast.stmt]]]:
    if any(item.optional_vars for item in items):
        return
    yield "lock dropped", body
    if len(body) > 1:
        yield "read before lock", [body[0], ast.With(items=items, body=body[1:])]
        if not isinstance(body[-2], ast.Return) and not _returns_what_it_has(body[-1]):
            yield "released before write", [ast.With(items=items, body=body[:-1]), body[-1]]
    inner = body[0]
    if len(items) > 1:
        yield "swapped locks", [ast.With(items=items[::-1], body=body)]
    elif len(body) == 1 and isinstance(inner, ast.With):
        swapped = ast.With(items=items, body=inner.body)
        yield "swapped locks", [ast.With(items=inner.items, body=[swapped])]
