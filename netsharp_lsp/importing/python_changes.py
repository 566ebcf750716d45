"""Changes that Python code makes to the object of a variable: items, methods, new values.

Knows which methods change a table or a list in place; evaluates nothing.
"""

from __future__ import annotations

import ast

from netsharp_lsp.importing.python_scopes import base_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    from netsharp_lsp.importing.python_scopes import PythonNames, Variable

    Written: TypeAlias = ast.expr | ast.stmt
    Waiting: TypeAlias = "list[tuple[ast.AST, _Place, ast.stmt | None]]"

#: Methods that change what they are called on, whatever they are given: of tables and lists.
_METHODS = (
    *("insert", "pop", "update", "append", "extend", "remove", "clear", "sort", "reverse"),
    *("setdefault", "popitem", "__setitem__", "__delitem__"),
)
_SETTERS = ("setattr", "delattr")
_ASSIGNMENTS = (ast.Assign, ast.AugAssign, ast.AnnAssign)
_SIMPLE = (*_ASSIGNMENTS, ast.Delete, ast.Expr)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BRANCHES = (ast.If, ast.Try, ast.Match, *_LOOPS)


class PythonChange:
    """A change of a variable's object: its code as `written`, and `table`, the name used there.

    `column` and `value` are the item that is set and its value, where they are certain, else None;
    `rebinds`: whether the name is given another object.
    """

    __slots__ = ("column", "place", "rebinds", "table", "value", "written")

    def __init__(self, table: ast.Name, written: Written, place: _Place, *, rebinds: bool) -> None:
        self.table = table
        self.written = written
        self.place = place
        self.rebinds = rebinds
        self.column: str | None = None
        self.value: ast.expr | None = None

    @property
    def start(self) -> tuple[int, int]:
        """Return its line and column."""
        return self.written.lineno, self.written.col_offset


class _Place:
    """A place of code: the function, the loops around it, and whether it is conditional."""

    __slots__ = ("function", "loops", "perhaps")

    def __init__(
        self, function: ast.AST | None, loops: tuple[ast.AST, ...], *, perhaps: bool
    ) -> None:
        self.function = function
        self.loops = loops
        self.perhaps = perhaps

    def within(self, node: ast.AST) -> _Place:
        """Return the place of code inside a node."""
        if isinstance(node, _FUNCTIONS):
            return _Place(node, (), perhaps=False)
        if isinstance(node, _BRANCHES):
            loops = (*self.loops, node) if isinstance(node, _LOOPS) else self.loops
            return _Place(self.function, loops, perhaps=True)
        return self

    def repeats_with(self, other: _Place) -> bool:
        """Return whether code that is later in the text may run earlier."""
        return self.function is not other.function or any(
            one is each for one in self.loops for each in other.loops
        )


class PythonChanges:
    """The changes of all variables of a module."""

    __slots__ = ("_found", "_names", "_places")

    def __init__(self, tree: ast.Module, names: PythonNames) -> None:
        self._names = names
        self._found: dict[Variable, list[PythonChange]] = {}
        self._places: dict[ast.Call, _Place] = {}
        waiting: Waiting = [(tree, _Place(None, (), perhaps=False), None)]
        while waiting:
            node, place, statement = waiting.pop()
            statement = node if isinstance(node, ast.stmt) else statement
            self._take(node, place, statement)
            inner = place.within(node)
            waiting += [(child, inner, statement) for child in ast.iter_child_nodes(node)]
        for changes in self._found.values():
            changes.sort(key=lambda one: one.start)
            if changes[0].rebinds and not _mentions(changes[0]):
                del changes[0]

    def before(self, name: ast.Name, call: ast.Call | None) -> list[tuple[PythonChange, bool]]:
        """Return the changes of a variable's object that may come before a call, in order, each
        with whether it certainly does.
        """
        changes = self._found.get(self._names.root(name), ())
        place = None if call is None else self._places[call]
        if place is None or call is None:
            return [(one, False) for one in changes]
        start = call.lineno, call.col_offset
        return [
            (
                one,
                one.start < start
                and one.place.function is place.function
                and not one.place.perhaps,
            )
            for one in changes
            if one.start < start or one.place.repeats_with(place)
        ]

    def _take(self, node: ast.AST, place: _Place, statement: ast.stmt | None) -> None:
        if isinstance(node, ast.Call):
            self._places[node] = place
            changed = self._changed_by(node, statement)
            if changed is not None:
                self._note(changed, node, place, statement)
        elif isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store) and isinstance(statement, _ASSIGNMENTS):
                self._note(node, node, place, statement, rebinds=True)
        elif isinstance(node, ast.Subscript | ast.Attribute):
            table = None if isinstance(node.ctx, ast.Load) else base_of(node)
            if table is not None:
                change = self._note(table, node, place, statement)
                if isinstance(statement, ast.Assign) and statement.targets == [node]:
                    change.column = _column(node)
                    change.value = statement.value

    def _note(
        self,
        table: ast.Name,
        node: ast.expr,
        place: _Place,
        statement: ast.stmt | None,
        *,
        rebinds: bool = False,
    ) -> PythonChange:
        written = statement if isinstance(statement, _SIMPLE) else node
        change = PythonChange(table, written, place, rebinds=rebinds)
        own = self._names.variable(table) if rebinds else None
        variable = own or self._names.root(table)
        known = self._found.setdefault(variable, [])
        if not (known and known[-1].written is written):
            known.append(change)
        return change

    def _changed_by(self, call: ast.Call, statement: ast.stmt | None) -> ast.Name | None:
        """Return the variable whose object a call changes in place."""
        if isinstance(call.func, ast.Attribute):
            in_place = call.func.attr in _METHODS or any(
                one.arg == "inplace"
                and not (isinstance(one.value, ast.Constant) and one.value.value is False)
                for one in call.keywords
            )
            return base_of(call.func.value) if in_place else None
        if not isinstance(call.func, ast.Name) or not call.args:
            return None
        alone = isinstance(statement, ast.Expr) and statement.value is call
        own = alone and self._names.is_own_function(call.func)
        return base_of(call.args[0]) if own or call.func.id in _SETTERS else None


def _column(target: ast.Subscript | ast.Attribute) -> str | None:
    """Return the column of `d["a"]` or `d.a`; None for more or less than a column."""
    if not isinstance(target.value, ast.Name):
        return None
    if isinstance(target, ast.Attribute):
        return target.attr
    key = target.slice.value if isinstance(target.slice, ast.Constant) else None
    return key if isinstance(key, str) else None


def _mentions(change: PythonChange) -> bool:
    """Return whether a new value is made of the old one."""
    return isinstance(change.written, ast.AugAssign) or any(
        isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load) and one.id == change.table.id
        for one in ast.walk(change.written)
    )
