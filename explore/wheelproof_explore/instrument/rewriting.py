"""Rewriting of a module's functions so that they report what they read and write.

`x.y` becomes `_wp_get(x, "y")`, `x.y = z` becomes `_wp_set(z, x, "y")`, and so on: see `accesses`.
Line numbers are kept. The only functions added are lambdas on the line MARK, which are never
called: they give access to the variable of a closure.
"""

import __future__

import ast
from collections.abc import Iterable, Sequence

from wheelproof_explore.instrument.building import (
    called,
    cell_reader,
    compares,
    loading,
    module_names,
    named,
    read_by_pattern,
)
from wheelproof_explore.instrument.expressions import Expressions
from wheelproof_explore.instrument.scopes import SCOPES, Scope, bound, own_names, shared_variables

_NO_ANNOTATIONS = __future__.annotations.compiler_flag

_CACHES = frozenset(("cache", "cached_property", "lru_cache"))
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def rewritten(source: str, file: str, written: frozenset[str] = frozenset()) -> ast.Module:
    """Return the module with functions that report their accesses.

    `written` are the module's variables that other modules have written.
    """
    tree = ast.parse(source, file)
    flags = compile(source, file, "exec", dont_inherit=True).co_flags
    shared = {
        name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names
    }
    # `__class__` is a variable of the class body, even if some function calls a global so.
    shared_globals = frozenset(shared - {"__class__"}) | written
    _Rewriter(shared_globals, annotates=not flags & _NO_ANNOTATIONS).visit(tree)
    return ast.fix_missing_locations(tree)


class _Rewriter(Expressions):
    """The transformer of statements and expressions; code outside functions stays unchanged."""

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt] | list[ast.comprehension]:
        """Return the replacement of a node."""
        if isinstance(node, ast.ClassDef):
            return self._in_class(node)
        if isinstance(node, SCOPES):
            return self._in_function(node)
        if not self.inside:
            return self.generic_visit(node)
        if isinstance(node, ast.stmt):
            return self._statement(node)
        if isinstance(node, ast.expr):
            return ast.copy_location(self.expression(node), node)
        if isinstance(node, ast.comprehension):
            return self._comprehension(node)
        self.generic_visit(node)
        return node

    def _in_class(self, node: ast.ClassDef) -> ast.AST:
        if self.inside:
            node.decorator_list = [_decorating(self.load(one)) for one in node.decorator_list]
            node.bases = [self._derived(one) for one in node.bases]
            for keyword in node.keywords:
                keyword.value = self._derived(keyword.value)
        outside = self.home, self.inside
        self.home, self.inside = node.name, False
        self.generic_visit(node)
        self.home, self.inside = outside
        return node

    def _derived(self, base: ast.expr) -> ast.expr:
        """Return a base of a class, whose code may run when the class is made."""
        made = self.load(base)
        is_starred = isinstance(base, ast.Starred)
        return made if is_starred else ast.copy_location(called("derived", made), base)

    def _in_function(self, node: Scope) -> ast.AST:
        is_cached = not isinstance(node, ast.Lambda) and _is_cached(node)
        self._visit_outside(node)
        outside = self.cells, self.inside, self.globals
        own = own_names(node)
        self.globals -= own
        self.cells = (self.cells - own) | shared_variables(node, own)
        self.inside = True
        if isinstance(node, ast.Lambda):
            node.body = self.entering(self.load(node.body))
        else:
            calls = [called("entered"), called("pause", *_home(node))]
            steps: list[ast.stmt] = [ast.Expr(one) for one in calls[: 1 + is_cached]]
            added = self._binding(node) + self._located(node.body[0], steps)
            said = [] if ast.get_docstring(node, clean=False) is None else node.body[:1]
            node.body = said + added + self._body(node.body[len(said) :])
        self.cells, self.inside, self.globals = outside
        return node

    def _visit_outside(self, node: Scope) -> None:
        """Visit what is evaluated where a function is made: its defaults and its decorators."""

        def visited(one: ast.expr) -> ast.expr:
            made = self.visit(one)
            assert isinstance(made, ast.expr)
            return made

        given = node.args
        parts = *given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg
        for part in parts if self.annotates else ():
            if part is not None and part.annotation is not None:
                part.annotation = visited(part.annotation)
        given.defaults = [visited(one) for one in given.defaults]
        given.kw_defaults = [None if one is None else visited(one) for one in given.kw_defaults]
        if not isinstance(node, ast.Lambda):
            decorators = map(visited, node.decorator_list)
            node.decorator_list = [*map(_decorating, decorators)] if self.inside else [*decorators]
            if self.annotates and node.returns is not None:
                node.returns = visited(node.returns)

    def _binding(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
        """Return an assignment that keeps shared variables in the function; it never executes."""
        names = sorted(self.cells & own_names(node))
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        binding = [ast.Assign(targets, ast.Constant(None))] if targets else []
        made: list[ast.stmt] = [ast.If(ast.Constant(False), [*binding], [])] if targets else []
        return self._located(node.body[0], made)

    def _body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        done: list[ast.stmt] = []
        for statement in body:
            made = self.visit(statement)
            if isinstance(made, list):
                done += [one for one in made if isinstance(one, ast.stmt)]
            elif isinstance(made, ast.stmt):
                done.append(made)
            if isinstance(statement, _DEFINITIONS):
                done[-1:] = [*self._defining(statement), done[-1]]
            if isinstance(statement, ast.ClassDef) and not all(map(_only_defines, statement.body)):
                said = ast.Constant(f"class {statement.name} (line {statement.lineno})")
                done += self._located(statement, [ast.Expr(called("blind", said))])
        return done

    def _statement(self, node: ast.stmt) -> ast.stmt | list[ast.stmt]:
        match node:
            case ast.Assign(targets=targets):
                return self._located(node, self._assign(targets, self.load(node.value)))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return self._located(node, self._assign([target], self.load(value)))
            case ast.AnnAssign():
                return node
            case ast.AugAssign():
                return self._located(node, self._augment(node))
            case ast.Delete(targets=targets):
                made = [one for target in targets for one in self._delete(target)]
                return self._located(node, made)
            case ast.For() | ast.AsyncFor():
                before = self._for(node)
                node.body = before + self._body(node.body)
                node.orelse = self._body(node.orelse)
            case ast.If() | ast.While():
                node.test = self.look(node.test)
                node.body = self._body(node.body)
                node.orelse = self._body(node.orelse)
            case ast.Raise(exc=ast.Name() | ast.Attribute() | ast.Subscript() as error):
                self.generic_visit(node)
                raised = called("raised", node.exc or error)
                node.exc = ast.copy_location(raised, error)
            case ast.Assert():
                node.test = self.look(node.test)
            case ast.Try() | ast.TryStar():
                node.body, node.orelse = self._body(node.body), self._body(node.orelse)
                node.finalbody = self._body(node.finalbody)
                for handler in node.handlers:
                    self._handler(handler)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Match():
                return self._match(node)
            case ast.Import() | ast.ImportFrom():
                looks = [self._import(node)] if isinstance(node, ast.ImportFrom) else []
                before = self._located(node, looks) + self._before(node, node.names)
                return [*before, node]
            case _:
                self.generic_visit(node)
        return node

    def _located(self, node: ast.stmt, made: list[ast.stmt]) -> list[ast.stmt]:
        for statement in made:
            ast.copy_location(statement, node)
            for part in ast.walk(statement):
                if isinstance(part, ast.expr) and not hasattr(part, "lineno"):
                    ast.copy_location(part, node)
        return made

    def _assign(self, targets: Sequence[ast.expr], value: ast.expr) -> list[ast.stmt]:
        unpacking = any(isinstance(target, ast.Tuple | ast.List) for target in targets)
        if unpacking and len(targets) > 1:
            name = self.temporary()
            made: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
            made += [one for each in targets for one in self._assign([each], named(name))]
            return [*made, _released(name)]
        if isinstance(targets[0], ast.Tuple | ast.List):
            value = self.unpacked(targets[0], value)
        if len(targets) == 1 and self.is_seen(targets[0]):
            return [self.store(targets[0], value)]
        after: list[ast.stmt] = []
        plain = [self._plain_target(target, after) for target in targets]
        return [ast.Assign(targets=plain, value=value), *after]

    def _plain_target(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """Return a target of local names; add to `after` the stores into the real targets."""
        if isinstance(target, ast.Tuple | ast.List):
            target.elts = [self._one_target(part, after) for part in target.elts]
            return target
        return self._one_target(target, after)

    def _one_target(self, target: ast.expr, after: list[ast.stmt]) -> ast.expr:
        """Return a target that unpacks nothing: what is unpacked may be shared."""
        if isinstance(target, ast.Starred):
            target.value = self._one_target(target.value, after)
        elif isinstance(target, ast.Tuple | ast.List) or self.is_seen(target):
            name = self.temporary()
            after += self._assign([target], named(name))
            after.append(_released(name))
            return ast.copy_location(ast.Name(name, ast.Store()), target)
        return target

    def _for(self, node: ast.For | ast.AsyncFor) -> list[ast.stmt]:
        after: list[ast.stmt] = []
        node.target = self._one_target(node.target, after)
        node.iter = self.load(node.iter)
        if isinstance(node, ast.For):
            node.iter = called("iter", node.iter)
        return self._located(node, after)

    def _comprehension(self, node: ast.comprehension) -> list[ast.comprehension]:
        """Return the loop, and a loop over one value for each thing that it unpacks or stores."""
        outside, self.in_iterable = self.in_iterable, True
        node.iter = self.load(node.iter)
        self.in_iterable = outside
        if not node.is_async:
            node.iter = ast.copy_location(called("iter", node.iter), node.iter)
        conditions = [self.look(one) for one in node.ifs]
        loops = [node]
        node.target, node.ifs = self._target_of_loop(node.target, loops), []
        loops[-1].ifs += conditions
        for part in loops[1:]:
            for each in ast.walk(part):
                if isinstance(each, ast.expr) and not hasattr(each, "lineno"):
                    ast.copy_location(each, node.iter)
        return loops

    def _target_of_loop(self, target: ast.expr, loops: list[ast.comprehension]) -> ast.expr:
        if isinstance(target, ast.Starred):
            target.value = self._target_of_loop(target.value, loops)
        if not isinstance(target, ast.Tuple | ast.List | ast.Attribute | ast.Subscript):
            return target
        name = self.temporary()
        if isinstance(target, ast.Tuple | ast.List):
            value: ast.expr = ast.Tuple([self.unpacked(target, named(name))], ast.Load())
            inner = ast.comprehension(target, value, [], 0)
            loops.append(inner)
            target.elts = [self._target_of_loop(part, loops) for part in target.elts]
        else:
            # A tuple that is not empty is true.
            stored = ast.Tuple([self.stored_value(target, named(name))], ast.Load())
            nothing = ast.Tuple([ast.Constant(None)], ast.Load())
            unused = ast.Name(self.temporary(), ast.Store())
            loops.append(ast.comprehension(unused, nothing, [stored], 0))
        return ast.copy_location(ast.Name(name, ast.Store()), target)

    def _with(self, node: ast.With | ast.AsyncWith) -> ast.stmt:
        """Return a `with` of one item that stores into its target first, around the other items."""
        item, others = node.items[0], node.items[1:]
        after: list[ast.stmt] = []
        manager = self.load(item.context_expr)
        is_async = isinstance(node, ast.AsyncWith)
        item.context_expr = manager if is_async else called("entering", manager)
        if item.optional_vars is not None:
            item.optional_vars = self._one_target(item.optional_vars, after)
        if others:
            inner = ast.copy_location(type(node)(others, node.body), node)
            body: list[ast.stmt] = [self._with(inner)]
        else:
            body = self._body(node.body)
        node.items, node.body = [item], self._located(node, after) + body
        return node

    def _match(self, node: ast.Match) -> list[ast.stmt]:
        """Put before each case one that never matches and reports what the case's pattern reads."""
        made: list[ast.stmt] = []
        reads = [read_by_pattern(case.pattern) for case in node.cases]
        if any(compares(case.pattern) for case in node.cases):
            node.subject = ast.copy_location(called("matched", node.subject), node.subject)
        subject = self._keep(node.subject, made) if any(reads) else self.load(node.subject)
        cases: list[ast.match_case] = []
        for case, read in zip(node.cases, reads, strict=True):
            if read:
                looks = ast.List([self.load(one) for one in read], ast.Load())
                guard = called("match", subject, looks)
                cases.append(ast.match_case(ast.MatchAs(), guard, [ast.Pass()]))
            stores = self._captures(case.pattern)
            if case.guard is not None:
                case.guard = self.look(case.guard)
            if stores:
                # A capture is stored even if the guard then keeps the case from being taken.
                case.guard = called("last", *stores, case.guard or ast.Constant(True))
            case.body = self._body(case.body)
            cases.append(case)
        return self._located(node, [*made, ast.Match(subject, cases)])

    def _captures(self, pattern: ast.pattern) -> list[ast.expr]:
        """Let a pattern bind local names alone; return the stores into the variables it names."""
        names: dict[str, str] = {}
        for part in ast.walk(pattern):
            name = bound(part)
            if name is None or not self.is_seen(ast.Name(name, ast.Store())):
                continue
            local = names.setdefault(name, self.temporary())
            if isinstance(part, ast.MatchMapping):
                part.rest = local
            elif isinstance(part, ast.MatchAs | ast.MatchStar):
                part.name = local
        return [
            self.stored_value(ast.Name(name, ast.Store()), named(local))
            for name, local in names.items()
        ]

    def _handler(self, node: ast.ExceptHandler) -> None:
        """Rewrite a handler; a variable that is seen gets the error from a local name."""
        node.type = None if node.type is None else self.load(node.type)
        first, node.body = node.body[0], self._body(node.body)
        variable = ast.Name(node.name or "", ast.Store())
        if node.name is not None and self.is_seen(variable):
            node.name = self.temporary()
            stored = self.store(variable, named(node.name))
            none = self.store(variable, ast.Constant(None))
            gone = [none, *self._delete(ast.Name(variable.id, ast.Del()))]
            node.body = self._located(first, [stored, ast.Try([*node.body], [], [], gone)])

    def _import(self, node: ast.ImportFrom) -> ast.stmt:
        """Return a call that looks at what is about to be imported from a module."""
        names = ast.Tuple([ast.Constant(each.name) for each in node.names], ast.Load())
        module = ast.Constant("." * node.level + (node.module or ""))
        return ast.Expr(called("imported", module_names(), module, names))

    def _before(self, node: ast.stmt, binding: Iterable[ast.AST]) -> list[ast.stmt]:
        """Return steps that write the variables which these nodes are about to bind."""
        names = [name for part in binding if (name := bound(part)) is not None]
        seen = [name for name in names if self.is_seen(ast.Name(name, ast.Store()))]
        return self._located(node, [self._written(name) for name in seen])

    def _written(self, name: str) -> ast.stmt:
        """Return a step that writes a variable, and leaves what it has."""
        if name in self.cells:
            return ast.Expr(called("write_cell", cell_reader(name), ast.Constant(name)))
        return ast.Expr(called("write_global", module_names(), ast.Constant(name)))

    def _defining(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    ) -> list[ast.stmt]:
        """Return a step that writes the variable which a definition is about to bind.

        What code the definition itself calls makes steps behind that one, ahead of the binding.
        """
        written = self._before(node, [node])
        if written and not _only_binds(node):
            said = ast.Constant(f"a store to {node.name} (line {node.lineno})")
            written += self._located(node, [ast.Expr(called("blind", said))])
        return written

    def _augment(self, node: ast.AugAssign) -> list[ast.stmt]:
        value, target = self.load(node.value), node.target
        sign = ast.Constant(type(node.op).__name__)
        made: list[ast.stmt] = []
        kept: list[ast.Name] = []
        if isinstance(target, ast.Name) and not self.is_seen(target):
            result = called("operate_in_place", sign, named(target.id), value)
            return [ast.Assign([target], result)]
        if isinstance(target, ast.Attribute):
            kept = [self._keep(target.value, made)]
            target = ast.Attribute(kept[0], target.attr, ast.Store())
        elif isinstance(target, ast.Subscript):
            kept = [self._keep(target.value, made), self._keep(target.slice, made)]
            target = ast.Subscript(kept[0], kept[1], ast.Store())
        read = self.expression(loading(target))
        result = called("operate_in_place", sign, read, value)
        return [*made, self.store(target, result), *(_released(one.id) for one in kept)]

    def _keep(self, node: ast.expr, made: list[ast.stmt]) -> ast.Name:
        """Return a name for the value of an expression that is to be evaluated once."""
        name = self.temporary()
        made.append(ast.Assign([ast.Name(name, ast.Store())], self.load(node)))
        return named(name)

    def _delete(self, target: ast.expr) -> list[ast.stmt]:
        match target:
            case ast.Attribute():
                given = self.load(target.value), ast.Constant(self.mangled(target.attr))
                return [ast.Expr(called("delete", *given))]
            case ast.Subscript():
                owner, key = self.load(target.value), self.load(target.slice)
                return [ast.Expr(called("delete_item", owner, key))]
            case ast.Name(id=name) if self.is_seen(ast.Name(name, ast.Store())):
                return [self._written(name), ast.Delete([target])]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return [one for part in parts for one in self._delete(part)]
            case _:
                return [ast.Delete([target])]


def _decorating(decorator: ast.expr) -> ast.expr:
    """Return a decorator whose call is seen."""
    return ast.copy_location(called("call", decorator), decorator)


def _released(name: str) -> ast.stmt:
    """Return a statement after which a temporary name keeps nothing alive any more."""
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))


def _is_cached(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a cache of C calls the function, between its look and its store."""
    called = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(ast.unparse(each).rpartition(".")[2] in _CACHES for each in called)


def _home(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[ast.expr, ast.expr]:
    return module_names(), ast.Constant(node.name)


def _only_binds(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Tell whether a definition that has been rewritten calls nothing."""
    if node.decorator_list:
        return False
    if isinstance(node, ast.ClassDef):
        return not (node.bases or node.keywords) and all(map(_only_defines, node.body))
    given = node.args
    defaults = *given.defaults, *(one for one in given.kw_defaults if one is not None)
    return all(isinstance(one, ast.Name | ast.Constant) for one in defaults)


def _only_defines(node: ast.stmt) -> bool:
    """Tell whether a statement in the body of a class reads nothing that others may write."""
    match node:
        case ast.Assign(value=ast.Constant()) | ast.Expr(value=ast.Constant()) | ast.Pass():
            return True
        case ast.AnnAssign(value=None | ast.Constant()):
            return True
        case _:
            return isinstance(node, _DEFINITIONS)
