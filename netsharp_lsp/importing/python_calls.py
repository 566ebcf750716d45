"""Reads calls in Python code: their arguments as values, through variables of literals.

Reads Python by the interpreter's own parser, which rejects unfinished code; knows no argument of
the calls.
"""

from __future__ import annotations

import ast
import re
import warnings

from netsharp_lsp.importing.python_changes import PythonChanges
from netsharp_lsp.importing.python_scopes import names_of
from netsharp_lsp.importing.values import (
    LOOKS,
    REST,
    ChangedValue,
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
    from collections.abc import Collection, Iterator

    from netsharp_lsp.importing.pieces import CodePieces
    from netsharp_lsp.importing.python_changes import PythonChange
    from netsharp_lsp.importing.values import HostValue

#: Lines of a notebook's cell that are for the notebook.
_MAGIC = re.compile(rb"^[ \t]*[%!][^\r\n]*", re.MULTILINE)
_SAME_METHODS = ("strip", "lstrip", "rstrip")
_OPENERS = ("open", "Path", "PurePath")
_SAME_FUNCTIONS = ("dedent", "cleandoc", "str")
_DEEPEST = 30


def calls_in_python(code: CodePieces, names: Collection[str]) -> list[HostCall] | int:
    """Return the calls of functions with one of the names, in order; where the code is not valid
    Python, the line in the file of its syntax error.
    """
    text = code.text
    bare = _MAGIC.sub(lambda found: b"#" * len(found.group()), text)
    try:
        with warnings.catch_warnings():
            # Python's warnings about the style of a script are not for readers of its calls.
            warnings.simplefilter("ignore")
            tree = ast.parse(bare)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        return code.line_of(sum(map(len, text.splitlines(keepends=True)[: line - 1])))
    return _PythonReader(code, tree, names).read()


class _PythonReader:
    """One reading of one tree."""

    __slots__ = (
        "changes",
        "code",
        "in_change",
        "names",
        "reading",
        "starts",
        "text",
        "tree",
        "wanted",
    )

    def __init__(self, code: CodePieces, tree: ast.Module, wanted: Collection[str]) -> None:
        self.code = code
        self.text = code.text
        self.tree = tree
        self.wanted = wanted
        self.starts = [0]
        for line in code.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.names = names_of(tree)
        self.changes = PythonChanges(tree, self.names)
        #: The call that is read: later changes of variables do not affect it.
        self.reading: ast.Call | None = None
        #: Whether a change is read: what it is made of is not followed through other changes.
        self.in_change = False

    def read(self) -> list[HostCall]:
        found: list[tuple[int, int, HostCall]] = []
        waiting: list[tuple[ast.AST, str | None, ast.Call | None]] = [(self.tree, None, None)]
        while waiting:
            node, target, inside = waiting.pop()
            if isinstance(node, ast.Assign | ast.AnnAssign):
                target = _only_name(node)
            elif isinstance(node, ast.stmt):
                target = None
            around = inside
            if isinstance(node, ast.Call):
                around = node
                if self._name(node) in self.wanted:
                    call = self._trainer(node, inside)
                    call.target = target
                    found.append((node.lineno, node.col_offset, call))
                for call in self._indirect_calls(node):
                    call.target = target
                    found.append((node.lineno, node.col_offset, call))
            waiting += [(child, target, around) for child in ast.iter_child_nodes(node)]
        return [call for _, _, call in sorted(found, key=lambda one: one[:2])]

    def _trainer(self, node: ast.Call, inside: ast.Call | None) -> HostCall:
        """Return a call that trains, with the one around it."""
        self.reading = node if inside is None else inside
        call = self._call(node, self._name(node), 0)
        if inside is not None:
            call.around = self._call(inside, self._name(inside), 0)
        return call

    def _indirect_calls(self, node: ast.Call) -> Iterator[HostCall]:
        """Yield the calls that a function makes of training functions that are passed to it."""
        if self._name(node) in LOOKS:
            return
        for one in (*node.args, *(each.value for each in node.keywords)):
            name = self._function(one)
            if name in self.wanted:
                written = self._written(node)
                rest = GivenArgument(REST, Unknown(written), self._line(one), written)
                yield HostCall(name, [rest], self._line(node))

    def _name(self, node: ast.Call) -> str:
        """Return the name of a called function in its package, "" for the script's own."""
        return self._function(node.func)

    def _function(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return self.names.function(node)
        return node.attr if isinstance(node, ast.Attribute) else ""

    def _call(self, node: ast.Call, name: str, depth: int) -> HostCall:
        arguments: list[GivenArgument] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                arguments += self._rest(one.value, one, depth)
            else:
                arguments.append(self._argument("", one, one, depth))
        for each in node.keywords:
            if each.arg is None:
                arguments += self._rest(each.value, each, depth)
            else:
                arguments.append(self._argument(each.arg, each.value, each, depth))
        return HostCall(name, arguments, self._line(node))

    def _rest(
        self, value: ast.expr, place: ast.expr | ast.keyword, depth: int
    ) -> list[GivenArgument]:
        """Return the arguments in `*values` and `**options`, where they are written."""
        named = isinstance(place, ast.keyword)
        held = self._held(value)
        if named and isinstance(held, ast.Call) and self._name(held) == "dict" and not held.args:
            pairs = [(one.arg, one.value) for one in held.keywords]
            if all(name for name, _ in pairs):
                return [self._argument(name or "", one, one, depth) for name, one in pairs]
        if named and isinstance(held, ast.Dict):
            keys = [one.value if isinstance(one, ast.Constant) else None for one in held.keys]
            names = [one for one in keys if isinstance(one, str)]
            if len(names) == len(keys):
                both = zip(names, held.values, strict=True)
                return [self._argument(name, one, one, depth) for name, one in both]
        plain = isinstance(held, ast.List | ast.Tuple) and not named
        if plain and not any(isinstance(one, ast.Starred) for one in held.elts):  # type: ignore[union-attr]
            return [self._argument("", one, one, depth) for one in held.elts]  # type: ignore[union-attr]
        written = f"{'**' if named else '*'}{self._written(value)}"
        return [GivenArgument(REST, Unknown(written), self._line(place), written)]

    def _held(self, node: ast.expr) -> ast.expr | None:
        """Return the expression of a name that no code has changed."""
        for _ in range(_DEEPEST):
            if not isinstance(node, ast.Name):
                return node
            value = self.names.value(node)
            if value is None or self.changes.before(node, self.reading):
                return None
            node = value
        return None

    def _argument(
        self, name: str, value: ast.expr, place: ast.expr | ast.keyword, depth: int
    ) -> GivenArgument:
        known = self._value(value, depth)
        return GivenArgument(name, known, self._line(place), self._written(value))

    def _line(self, node: ast.expr | ast.stmt | ast.keyword) -> int:
        return self.code.line_of(self.starts[min(node.lineno, len(self.starts)) - 1])

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = self.starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, end

    def _written(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        written = self.text[start:end].decode("utf-8", "replace")
        return ast.unparse(node) if "#" in written and "\n" in written else written

    def _value(self, node: ast.expr, depth: int) -> HostValue:
        unknown = Unknown(self._written(node))
        if depth > _DEEPEST:
            return unknown
        if isinstance(node, ast.Constant):
            known = node.value is None or isinstance(node.value, str | bool | int | float)
            known = known and not self.code.has_unknown(*self._span(node))
            return node.value if known else unknown  # type: ignore[return-value]
        if isinstance(node, ast.Name):
            return self._variable(node, depth, unknown)
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

    def _variable(self, node: ast.Name, depth: int, unknown: Unknown) -> HostValue:
        """Return the value of a name, with the changes made to it before the call."""
        given = self.names.value(node)
        changes = self.changes.before(node, self.reading)
        if changes and self.in_change:
            return unknown
        value = unknown if given is None else self._value(given, depth + 1)
        if not changes or isinstance(given, ast.Name):
            return value
        self.in_change = True
        described = [self._change(one, depth, sure=sure) for one, sure in changes]
        self.in_change = False
        return ChangedValue(value, described)

    def _change(self, change: PythonChange, depth: int, *, sure: bool) -> ColumnChange:
        given = change.value if sure else None
        value = None if given is None else self._value(given, depth + 1)
        written, line = self._written(change.written), self._line(change.written)
        column = change.column if sure else None
        return ColumnChange(change.table.id, column, value, line, written)

    def _called(self, node: ast.Call, depth: int, unknown: Unknown) -> HostValue:
        name = self._name(node)
        if isinstance(node.func, ast.Attribute) and not node.keywords:
            on = node.func.value
            if name in _SAME_METHODS and not node.args:
                return self._value(on, depth)
            opened = isinstance(on, ast.Call) and self._name(on) in _OPENERS
            if name in ("read", "read_text") and opened and on.args:  # type: ignore[attr-defined]
                path = self._value(on.args[0], depth)  # type: ignore[attr-defined]
                return FileText(path) if isinstance(path, str) else unknown
            if name == "join" and len(node.args) == 1:
                parts, between = self._value(node.args[0], depth), self._value(on, depth)
                if isinstance(parts, list) and isinstance(between, str):
                    text = joined(parts, between)
                    return unknown if text is None else text
        if name in _SAME_FUNCTIONS and len(node.args) == 1:
            return self._value(node.args[0], depth)
        return self._call(node, name, depth) if name else unknown


def _only_name(node: ast.Assign | ast.AnnAssign) -> str | None:
    """Return the variable that a statement assigns first."""
    first = node.targets[0] if isinstance(node, ast.Assign) else node.target
    return first.id if isinstance(first, ast.Name) else None
