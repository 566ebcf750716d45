"""Reads calls in Python code: their arguments as values, through variables of literals.

Reads Python by the interpreter's own parser, which takes no code that is half written; knows no
argument of the calls.
"""

from __future__ import annotations

import ast
import re

from netsharp_lsp.importing.values import (
    ColumnChange,
    FileText,
    GivenArgument,
    HostCall,
    NamedValues,
    Unknown,
    joined,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from netsharp_lsp.importing.pieces import CodePieces
    from netsharp_lsp.importing.values import HostValue

#: Lines of a notebook's cell that are for the notebook.
_MAGIC = re.compile(rb"^[ \t]*[%!][^\r\n]*", re.MULTILINE)
_SAME_METHODS = ("strip", "lstrip", "rstrip")
_SAME_FUNCTIONS = ("dedent", "cleandoc", "str")
_DEEPEST = 30


def calls_in_python(code: CodePieces, names: Collection[str]) -> list[HostCall] | int:
    """Return the calls of functions with one of the names, in order; where the code is no Python,
    the line in the file at which that shows.
    """
    text = code.text
    bare = _MAGIC.sub(lambda found: b"#" * len(found.group()), text)
    try:
        tree = ast.parse(bare)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return code.line_of(sum(map(len, text.splitlines(keepends=True)[: line - 1])))
    return _PythonReader(code, tree, names).read()


class _PythonReader:
    """One reading of one tree."""

    __slots__ = ("changes", "code", "given", "names", "starts", "text", "tree")

    def __init__(self, code: CodePieces, tree: ast.Module, names: Collection[str]) -> None:
        self.code = code
        self.text = code.text
        self.tree = tree
        self.names = names
        self.starts = [0]
        for line in code.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.given: dict[str, list[ast.expr | None]] = {}
        self.changes: dict[str, list[ColumnChange]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._give(target, node.value)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._change(target, node)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._give(node.target, node.value)
            elif isinstance(node, ast.AugAssign | ast.For):
                self._give(node.target, None)

    def _give(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            self.given.setdefault(target.id, []).append(value)

    def _change(self, target: ast.expr, node: ast.Assign) -> None:
        """Note a column that is given to a table: `d["a"] = ...`, `d.a = ...`."""
        if not isinstance(target, ast.Subscript | ast.Attribute):
            return
        table, column = target.value, None
        if isinstance(target, ast.Attribute):
            column = target.attr
        elif isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
            column = target.slice.value
        if isinstance(table, ast.Attribute) and table.attr in ("loc", "iloc"):
            table, column = table.value, None
        if isinstance(table, ast.Name):
            line, written = self._line(target), self._written(node)
            change = ColumnChange(column, self._value(node.value, 0), line, written)
            self.changes.setdefault(table.id, []).append(change)

    def read(self) -> list[HostCall]:
        found: list[tuple[int, int, HostCall]] = []
        self._visit(self.tree, None, None, found)
        return [call for _, _, call in sorted(found, key=lambda one: one[:2])]

    def _visit(
        self,
        top: ast.AST,
        target: str | None,
        inside: ast.Call | None,
        found: list[tuple[int, int, HostCall]],
    ) -> None:
        waiting: list[tuple[ast.AST, str | None, ast.Call | None]] = [(top, target, inside)]
        while waiting:
            node, target, inside = waiting.pop()
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                target = node.targets[0].id
            elif isinstance(node, ast.stmt):
                target = None
            around = inside
            if isinstance(node, ast.Call):
                name = _called_name(node)
                around = node
                if name in self.names:
                    call = self._call(node, name, 0)
                    call.target, call.changes = target, self.changes
                    if inside is not None:
                        call.around = self._call(inside, _called_name(inside), 0)
                    found.append((node.lineno, node.col_offset, call))
            waiting += [(child, target, around) for child in ast.iter_child_nodes(node)]

    def _call(self, node: ast.Call, name: str, depth: int) -> HostCall:
        arguments = [self._argument("", one, one, depth) for one in node.args]
        arguments += [
            self._argument(one.arg or "**", one.value, one, depth) for one in node.keywords
        ]
        return HostCall(name, arguments, self._line(node))

    def _argument(
        self, name: str, value: ast.expr, place: ast.expr | ast.keyword, depth: int
    ) -> GivenArgument:
        known = Unknown(self._written(value)) if name == "**" else self._value(value, depth)
        return GivenArgument(name, known, self._line(place), self._written(value))

    def _line(self, node: ast.expr | ast.keyword) -> int:
        return self.code.line_of(self.starts[min(node.lineno, len(self.starts)) - 1])

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, end

    def _written(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.text[start:end].decode("utf-8", "replace")

    def _value(self, node: ast.expr, depth: int) -> HostValue:
        unknown = Unknown(self._written(node))
        if depth > _DEEPEST:
            return unknown
        if isinstance(node, ast.Constant):
            known = node.value is None or isinstance(node.value, str | bool | int | float)
            known = known and not self.code.has_unknown(*self._span(node))
            return node.value if known else unknown  # type: ignore[return-value]
        if isinstance(node, ast.Name):
            values = self.given.get(node.id, [])
            only = values[0] if len(values) == 1 else None
            return self._value(only, depth + 1) if only is not None else unknown
        if isinstance(node, ast.List | ast.Tuple):
            return [self._value(one, depth + 1) for one in node.elts]
        if isinstance(node, ast.Dict):
            keys = [self._value(one, depth + 1) if one is not None else None for one in node.keys]
            names = [one for one in keys if isinstance(one, str)]
            held = [self._value(one, depth + 1) for one in node.values]
            return NamedValues(held, names) if len(names) == len(held) else unknown
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            number = self._value(node.operand, depth + 1)
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            return -number if is_number else unknown  # type: ignore[operator]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = [self._value(one, depth + 1) for one in (node.left, node.right)]
            if all(isinstance(one, str) for one in parts):
                return joined(parts, "")
            return unknown
        return self._called(node, depth + 1, unknown) if isinstance(node, ast.Call) else unknown

    def _called(self, node: ast.Call, depth: int, unknown: Unknown) -> HostValue:
        name = _called_name(node)
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            on = node.func.value
            if name in _SAME_METHODS and not node.args:
                return self._value(on, depth)
            if name in ("read", "read_text") and isinstance(on, ast.Call) and on.args:
                path = self._value(on.args[0], depth)
                return FileText(path) if isinstance(path, str) else unknown
            if name == "join" and len(node.args) == 1:
                parts, between = self._value(node.args[0], depth), self._value(on, depth)
                if isinstance(parts, list) and isinstance(between, str):
                    text = joined(parts, between)
                    return unknown if text is None else text
        if name in _SAME_FUNCTIONS and len(node.args) == 1:
            return self._value(node.args[0], depth)
        return self._call(node, name, depth) if name else unknown


def _called_name(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""
