"""Resolves names in Python code to variables, with the values assigned to them.

Knows the rules of Python for names; evaluates nothing and knows no call.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Position: TypeAlias = "tuple[int, int]"
    Given: TypeAlias = "tuple[ast.AST | None, Position]"
    Variable: TypeAlias = "tuple[PythonScope, str]"
    Waiting: TypeAlias = "list[tuple[ast.AST, PythonScope]]"

#: The most variables in a chain of assignments that is followed.
_LONGEST = 30
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


class PythonScope:
    """A module, class, function or comprehension, with the values assigned to each of its names.

    A value is an expression where a plain assignment gives it, a function or an imported name, None
    for all else, with the place (line, column) where the assignment ends; `elsewhere` has the names
    that `global` (True) and `nonlocal` (False) declare.
    """

    __slots__ = ("above", "elsewhere", "given", "kind")

    def __init__(self, kind: str, above: PythonScope | None) -> None:
        self.kind = kind
        self.above = above
        self.given: dict[str, list[Given]] = {}
        self.elsewhere: dict[str, bool] = {}

    def give(self, name: str, value: ast.AST | None, node: ast.stmt | None = None) -> None:
        """Note an assignment to a name, None where the value is unknown."""
        at = (node.end_lineno or 0, node.end_col_offset or 0) if node is not None else (0, 0)
        self.given.setdefault(name, []).append((value, at))

    def own(self) -> PythonScope:
        """Return the innermost scope around that is not a comprehension."""
        scope = self
        while scope.kind == "comprehension" and scope.above is not None:
            scope = scope.above
        return scope


class PythonNames:
    """The scopes of a module: `scope_of` has that of each name which is read or changed."""

    __slots__ = ("module", "scope_of")

    def __init__(self) -> None:
        self.module = PythonScope("module", None)
        self.scope_of: dict[ast.Name, PythonScope] = {}

    def variable(self, node: ast.Name) -> Variable | None:
        """Return the scope that a name belongs to, with the name; None where none assigns it."""
        around: PythonScope | None = self.scope_of.get(node)
        inside = True
        while around is not None:
            scope = self.module if around.elsewhere.get(node.id) else around
            if node.id in scope.given and (inside or scope.kind != "class"):
                return scope, node.id
            around, inside = scope.above, inside and scope.kind == "comprehension"
        return None

    def value(self, node: ast.Name) -> ast.expr | None:
        """Return the expression that a name is assigned.

        None unless it is assigned once, by a plain assignment, before it is read where both are in
        one scope.
        """
        variable = self.variable(node)
        if variable is None:
            return None
        scope, name = variable
        value, at = scope.given[name][0]
        if len(scope.given[name]) > 1 or not isinstance(value, ast.expr):
            return None
        late = self.scope_of[node].own() is scope and (node.lineno, node.col_offset) < at
        return None if late else value

    def root(self, node: ast.Name) -> Variable:
        """Return the variable whose object, or a part of it, a name refers to: `d` for `e` after `e
        = d` and after `e = d["a"]`. A variable that the module does not assign belongs to its
        surroundings.
        """
        for _ in range(_LONGEST):
            value = self.value(node)
            base = None if value is None else base_of(value)
            if base is None:
                break
            node = base
        return self.variable(node) or (self.module, node.id)

    def function(self, node: ast.Name) -> str:
        """Return the name of a function in its package, "" for one of the script's own."""
        for _ in range(_LONGEST):
            variable = self.variable(node)
            if variable is None:
                return node.id
            given = [value for value, _ in variable[0].given[variable[1]]]
            imported = {one.name if isinstance(one, ast.alias) else "" for one in given}
            if len(imported) == 1 and "" not in imported:
                return imported.pop()
            value = self.value(node)
            if isinstance(value, ast.Attribute):
                return value.attr
            if not isinstance(value, ast.Name):
                break
            node = value
        return ""

    def is_own_function(self, node: ast.Name) -> bool:
        """Return whether a name refers to a function that the module defines."""
        variable = self.variable(node)
        given = [] if variable is None else variable[0].given[variable[1]]
        return any(isinstance(value, _FUNCTIONS) for value, _ in given)


def base_of(node: ast.expr) -> ast.Name | None:
    """Return the variable whose object an expression is, or is a part of."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node if isinstance(node, ast.Name) else None


def names_of(tree: ast.Module) -> PythonNames:
    """Return the variable of each name of a module."""
    return _Walk(tree).names


class _Walk:
    """One traversal of a module, which finds scopes and their assignments."""

    __slots__ = ("_scopes", "_waiting", "names")

    def __init__(self, tree: ast.Module) -> None:
        self.names = PythonNames()
        self._scopes: list[PythonScope] = []
        self._waiting: Waiting = [(tree, self.names.module)]
        while self._waiting:
            self._take(*self._waiting.pop())
        for scope in self._scopes:
            self._redirect(scope)

    def _take(self, node: ast.AST, scope: PythonScope) -> None:
        if isinstance(node, _FUNCTIONS):
            self._function(node, scope)
        elif isinstance(node, ast.ClassDef):
            self._class(node, scope)
        elif isinstance(node, _COMPREHENSIONS):
            self._comprehension(node, scope)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            self._assignment(node, node.value, scope)
        elif isinstance(node, ast.NamedExpr):
            scope.own().give(node.target.id, None)
            self._wait(scope, node.value)
        else:
            self._bind(node, scope)
            self._wait(scope, *ast.iter_child_nodes(node))

    def _wait(self, scope: PythonScope, *nodes: ast.AST | None) -> None:
        self._waiting += [(one, scope) for one in nodes if one is not None]

    def _open(self, kind: str, above: PythonScope) -> PythonScope:
        scope = PythonScope(kind, above)
        self._scopes.append(scope)
        return scope

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: PythonScope
    ) -> None:
        inner = self._open("function", scope)
        if isinstance(node, ast.Lambda):
            self._wait(inner, node.body)
        else:
            scope.give(node.name, node)
            self._wait(inner, *node.body)
            self._wait(scope, *node.decorator_list, node.returns)
        taken = node.args
        parameters = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs]
        for one in (*parameters, taken.vararg, taken.kwarg):
            if one is not None:
                inner.give(one.arg, None)
                self._wait(scope, one.annotation)
        self._wait(scope, *taken.defaults, *taken.kw_defaults)

    def _class(self, node: ast.ClassDef, scope: PythonScope) -> None:
        scope.give(node.name, None)
        self._wait(scope, *node.decorator_list, *node.bases, *node.keywords)
        self._wait(self._open("class", scope), *node.body)

    def _comprehension(self, node: ast.AST, scope: PythonScope) -> None:
        inner = self._open("comprehension", scope)
        first = node.generators[0]  # type: ignore[attr-defined]
        self._wait(scope, first.iter)
        self._wait(inner, first.target, *first.ifs)
        rest = [one for one in ast.iter_child_nodes(node) if one is not first]
        self._wait(inner, *rest)

    def _assignment(
        self, node: ast.Assign | ast.AnnAssign, value: ast.expr, scope: PythonScope
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name):
                self.names.scope_of[target] = scope
                scope.give(target.id, value, node)
            else:
                self._wait(scope, target)
        self._wait(scope, value)

    def _bind(self, node: ast.AST, scope: PythonScope) -> None:
        """Note the names that a node itself assigns: their values are unknown."""
        if isinstance(node, ast.Name):
            self.names.scope_of[node] = scope
            if not isinstance(node.ctx, ast.Load):
                scope.give(node.id, None)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            scope.elsewhere |= dict.fromkeys(node.names, isinstance(node, ast.Global))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for one in node.names:
                scope.give(one.asname or one.name.partition(".")[0], one)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if node.name is not None:
                scope.give(node.name, None)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            scope.give(node.rest, None)

    def _redirect(self, scope: PythonScope) -> None:
        """Move assignments to names declared as another scope's to that one, as unknown values."""
        for name, is_global in scope.elsewhere.items():
            holder: PythonScope | None = self.names.module
            if not is_global:
                holder = scope.above
                while holder is not None and (holder.kind == "class" or name not in holder.given):
                    holder = holder.above
            for _ in scope.given.pop(name, ()):
                (holder or self.names.module).give(name, None)
