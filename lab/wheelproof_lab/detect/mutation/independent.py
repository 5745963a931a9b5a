"""Which neighbouring statements do the same in either order: swapping them makes no mutant.

Only what the text proves counts: fields of an object that no other thread can reach yet, local
names, and a signal, which wakes no thread before the lock is released. Two checks of arguments
count as well: the rules do not say which of two wrong arguments the error names.
"""

import ast

_MAKERS = frozenset({"set", "dict", "list", "deque", "bytearray"})
"""The calls that only make a new object; a call of anything in `sync` does the same."""
_UNIT = "Millis"
"""The type of a number with a unit; at run time the call returns the number itself."""
_SIGNALS = frozenset({"notify", "notify_all"})
_REFUSAL = "require_integer"
_SILENT = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.expr_context)
_SELF = "self"


def independent(function: ast.FunctionDef, first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether two neighbouring statements of the function may be swapped."""
    pairs = ((first, second), (second, first))
    if any(_is_signal(one) and _is_silent(other) for one, other in pairs):
        return True
    arguments = _arguments_of_refusal(first), _arguments_of_refusal(second)
    if all(arguments) and arguments[0].isdisjoint(arguments[1]):
        return True
    if not (_targets(first) and _targets(second)) or _touch(first, second):
        return False
    if _stores_locally(first) and _stores_locally(second):
        return _is_silent(first) and _is_silent(second)
    # The other statement may do anything: it has no reference to the object.
    return _is_unpublished(function, max(first.lineno, second.lineno)) and any(
        _is_silent(one) and (_is_silent(other) or _SELF not in _names(_value(other)))
        for one, other in pairs
    )


def _value(statement: ast.stmt) -> ast.expr | None:
    return statement.value if isinstance(statement, ast.Assign | ast.AugAssign) else None


def _targets(statement: ast.stmt) -> set[str]:
    """Return the targets of an assignment if all are names or fields of `self`, else nothing."""
    match statement:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target):
            targets = [target]
        case _:
            return set()
    plain = all(
        isinstance(target, ast.Name)
        or (isinstance(target, ast.Attribute) and ast.unparse(target.value) == _SELF)
        for target in targets
    )
    return {ast.unparse(target) for target in targets} if plain else set()


def _touch(first: ast.stmt, second: ast.stmt) -> bool:
    """Return whether one statement reads or writes a target of the other."""
    return any(
        ast.unparse(node) in _targets(one)
        for one, other in ((first, second), (second, first))
        for node in ast.walk(other)
        if isinstance(node, ast.Name | ast.Attribute)
    )


def _stores_locally(statement: ast.stmt) -> bool:
    return not any("." in target for target in _targets(statement))


def _is_silent(statement: ast.stmt) -> bool:
    """Return whether an assignment only assigns: it makes no call, and nothing in it may raise."""
    value = _value(statement)
    if value is None or not _targets(statement):
        return False
    if isinstance(statement, ast.AugAssign):
        return isinstance(value, ast.Constant)
    return all(isinstance(node, _SILENT) for node in ast.walk(_without_makers(value)))


def _without_makers(value: ast.expr) -> ast.expr:
    """Return the arguments of a call that only makes an object, or the value itself."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) == _UNIT:
        (value,) = value.args
    if isinstance(value, ast.Call) and not value.keywords:
        name = ast.unparse(value.func)
        if (name in _MAKERS and not value.args) or name.startswith("sync."):
            return ast.Tuple(elts=[_field(argument) for argument in value.args], ctx=ast.Load())
    return value


def _field(argument: ast.expr) -> ast.expr:
    ours = isinstance(argument, ast.Attribute) and ast.unparse(argument.value) == _SELF
    return ast.Constant(value=None) if ours else argument


def _names(value: ast.AST | None) -> set[str]:
    walked = () if value is None else ast.walk(value)
    return {node.id for node in walked if isinstance(node, ast.Name)}


def _is_signal(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr), args=[])):
            return attr in _SIGNALS
        case _:
            return False


def _arguments_of_refusal(statement: ast.stmt) -> set[str]:
    """Return the names that the statement checks, or nothing if it is not a check of arguments."""
    value = statement.value if isinstance(statement, ast.Expr | ast.Assign) else None
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == _REFUSAL):
        return set()
    nodes = (node for argument in value.args for node in ast.walk(argument))
    names = {ast.unparse(node) for node in nodes if isinstance(node, ast.Name | ast.Attribute)}
    return {name for name in names if name != _SELF and not name.isupper()}


def _is_unpublished(function: ast.FunctionDef, line: int) -> bool:
    """Return whether `__init__` uses `self` above the line only for fields that it stores there."""
    if function.name != "__init__":
        return False
    fields = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) == _SELF
        and node.lineno < line
    ]
    stored = {field.attr for field in fields if isinstance(field.ctx, ast.Store)}
    whole = sum(
        isinstance(node, ast.Name) and node.id == _SELF and node.lineno < line
        for node in ast.walk(function)
    )
    return whole == len(fields) and stored.issuperset(field.attr for field in fields)
