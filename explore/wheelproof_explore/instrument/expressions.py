"""Rewriting of expressions: what they read is reported, as are the stores that they make."""

import ast

from wheelproof_explore.instrument.building import called, cell_reader, module_names, named

_PLAIN_CALLS = frozenset(("super", "locals", "globals", "vars"))
"""Built-in functions that look at their caller."""
_MAKING = frozenset(("OrderedDict", "defaultdict", "deque", "dict", "list", "set"))
_DISPLAYS = (ast.List, ast.ListComp)


class Expressions(ast.NodeTransformer):
    """The transformer of expressions. `cells` and `globals` are the variables that are seen.

    `inside` tells that a function is being rewritten, `in_iterable` what a comprehension goes
    through, `home` the class around it.
    """

    def __init__(self, shared_globals: frozenset[str], *, annotates: bool) -> None:
        self.globals = shared_globals
        self.annotates = annotates
        self.cells: frozenset[str] = frozenset()
        self.inside = False
        self.in_iterable = False
        self.home = ""
        self.temporaries = 0

    def load(self, node: ast.expr) -> ast.expr:
        """Return an expression, rewritten."""
        made = self.visit(node)
        assert isinstance(made, ast.expr)
        return made

    def is_seen(self, target: ast.expr) -> bool:
        """Tell whether others may see what is stored into a target."""
        if isinstance(target, ast.Name):
            return target.id in self.cells or target.id in self.globals
        return isinstance(target, ast.Attribute | ast.Subscript)

    def store(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        """Return a statement that stores a value into a target."""
        return ast.Expr(self.stored_value(target, value))

    def stored_value(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return a call that stores a value; into a variable, its result is the value."""
        match target:
            case ast.Attribute():
                given = self.load(target.value), ast.Constant(self.mangled(target.attr))
                return called("set", value, *given)
            case ast.Subscript():
                owner, key = self.load(target.value), self.load(target.slice)
                return called("set_item", value, owner, key)
            case ast.Name(id=name) if name in self.cells:
                return called("set_cell", value, cell_reader(name), ast.Constant(name))
            case ast.Name(id=name):
                return called("set_global", value, module_names(), ast.Constant(name))
            case _:
                raise AssertionError(target)

    def expression(self, node: ast.expr) -> ast.expr:
        """Return the replacement of an expression."""
        match node:
            case ast.Attribute(ctx=ast.Load()):
                return called("get", self.load(node.value), ast.Constant(self.mangled(node.attr)))
            case ast.Subscript(ctx=ast.Load()):
                return called("item", self.load(node.value), self.load(node.slice))
            case ast.Slice():
                parts = (node.lower, node.upper, node.step)
                given = [ast.Constant(None) if part is None else self.load(part) for part in parts]
                return ast.Call(named("_wp_slice"), [*given], [])
            case ast.Name(id=name, ctx=ast.Load()) if name in self.cells:
                return called("get_cell", cell_reader(name), ast.Constant(name))
            case ast.Name(id=name, ctx=ast.Load()) if name in self.globals:
                return called("get_global", module_names(), ast.Constant(name))
            case ast.Compare():
                return self._chain(node)
            case ast.BoolOp():
                node.values = [self.look(value) for value in node.values]
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self.look(node.operand)
            case ast.IfExp():
                node.test, node.body = self.look(node.test), self.load(node.body)
                node.orelse = self.load(node.orelse)
            case ast.Call():
                return self._calling(node)
            case ast.UnaryOp() if not isinstance(node.operand, ast.Constant):
                return _operate(node.op, self.load(node.operand))
            case ast.BinOp() if not _are_constants(node.left, node.right):
                return _operate(node.op, self.load(node.left), self.load(node.right))
            case ast.Starred(ctx=ast.Load()):
                node.value = self._gathered("items", node.value)
            case ast.Dict():
                node.values = [
                    self._gathered("pairs", value) if key is None else self.load(value)
                    for key, value in zip(node.keys, node.values, strict=True)
                ]
                node.keys = [None if key is None else self._key(key) for key in node.keys]
                return called("new", node)
            case ast.Set():
                node.elts = [self._key(key) for key in node.elts]
                return called("new", node)
            case ast.FormattedValue():
                spec = ast.Constant("") if node.format_spec is None else self.load(node.format_spec)
                how = ast.Constant(node.conversion)
                made = called("formatted", self.load(node.value), how, spec)
                node.value, node.conversion = ast.copy_location(made, node), -1
                node.format_spec = None
            case ast.Yield():
                self.generic_visit(node)
                return called("resumed", node)
            case ast.GeneratorExp():
                self.generic_visit(node)
                node.elt = ast.copy_location(self.entering(node.elt), node.elt)
            case ast.YieldFrom():
                node.value = called("delegated", self.load(node.value))
            case ast.NamedExpr() if self.is_seen(node.target):
                return self.stored_value(node.target, self.load(node.value))
            case ast.List(ctx=ast.Store()):
                self.generic_visit(node)
            case ast.SetComp() | ast.DictComp():
                self.generic_visit(node)
                if isinstance(node, ast.SetComp):
                    node.elt = _hashed(node.elt)
                else:
                    node.key = _hashed(node.key)
                return called("new", node)
            case _ if isinstance(node, _DISPLAYS):
                self.generic_visit(node)
                return called("new", node)
            case _:
                self.generic_visit(node)
        return node

    def _calling(self, node: ast.Call) -> ast.expr:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        node.args = [self.load(argument) for argument in node.args]
        for keyword in node.keywords:
            stars = keyword.arg is None
            value = keyword.value
            keyword.value = self._gathered("pairs", value) if stars else self.load(value)
        if name == "vars" and node.args:
            node.args[0] = called("exposed", node.args[0])
        if isinstance(function, ast.Attribute):
            attribute = ast.Constant(self.mangled(function.attr))
            node.func = called("method", self.load(function.value), attribute)
        elif name not in _PLAIN_CALLS and (name != "dir" or node.args):
            node.func = ast.copy_location(called("call", self.load(function)), function)
        if name == "globals":
            return called("noted", ast.Constant("globals()"), node)
        return called("new", node) if name in _MAKING else node

    def _chain(self, node: ast.Compare) -> ast.expr:
        """Return comparisons one by one: each operand is a step's, and is evaluated once."""
        if len(node.ops) == 1:
            return _compared(node.ops[0], self.load(node.left), self.load(node.comparators[0]))
        if self.in_iterable:
            # Python allows no `:=` there.
            said = f"a chain of comparisons (line {node.lineno})"
            self.generic_visit(node)
            return called("noted", ast.Constant(said), node)
        made: list[ast.expr] = []
        left = self.load(node.left)
        for operation, operand in zip(node.ops[:-1], node.comparators, strict=False):
            name = self.temporary()
            kept = ast.NamedExpr(ast.Name(name, ast.Store()), self.load(operand))
            made.append(_compared(operation, left, kept))
            left = named(name)
        last = _compared(node.ops[-1], left, self.load(node.comparators[-1]))
        return ast.BoolOp(ast.And(), [*made, last])

    def entering(self, value: ast.expr) -> ast.expr:
        """Return an expression that code that is not seen may evaluate, between what it does."""
        return called("last", called("entered"), value)

    def _key(self, node: ast.expr) -> ast.expr:
        """Return an item of a set, or a key: its hash is asked for, and it may be compared."""
        is_plain = isinstance(node, ast.Constant | ast.Starred)
        return self.load(node) if is_plain else _hashed(self.load(node))

    def _gathered(self, how: str, node: ast.expr) -> ast.expr:
        """Return what an expression with stars yields."""
        return ast.copy_location(called(how, self.load(node)), node)

    def look(self, node: ast.expr) -> ast.expr:
        """Return an expression whose value is gone through, or asked whether it is true."""
        made = self.load(node)
        if isinstance(node, ast.Compare | ast.Constant | ast.BoolOp):
            # Of `and` and `or` each part is asked by itself, and once, as Python does.
            return made
        return ast.copy_location(called("look", made), node)

    def mangled(self, name: str) -> str:
        """Return the name of an attribute as it is inside the class around it."""
        private = self.home and name.startswith("__") and not name.endswith("__")
        return f"_{self.home.lstrip('_')}{name}" if private else name

    def unpacked(self, target: ast.Tuple | ast.List, value: ast.expr) -> ast.expr:
        """Return what a target of several parts unpacks."""
        stars = any(isinstance(part, ast.Starred) for part in target.elts)
        most = None if stars else len(target.elts)
        return called("unpacked", value, ast.Constant(most))

    def temporary(self) -> str:
        """Return a local name that nothing else has."""
        self.temporaries += 1
        return f"_wp{self.temporaries}"


def _operate(operation: ast.AST, *operands: ast.expr) -> ast.expr:
    return called("operate", ast.Constant(type(operation).__name__), *operands)


def _compared(operation: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
    match operation:
        case ast.In():
            return called("contains", left, right)
        case ast.NotIn():
            return ast.UnaryOp(ast.Not(), called("contains", left, right))
        case ast.Is() | ast.IsNot():
            return ast.Compare(left, [operation], [right])
        case _:
            return _operate(operation, left, right)


def _hashed(key: ast.expr) -> ast.expr:
    return ast.copy_location(called("hashed", key), key)


def _are_constants(*nodes: ast.expr) -> bool:
    return all(isinstance(node, ast.Constant) for node in nodes)
