"""Finds specifications in Python code, also while it is being typed, with parso's tolerant parser.

Knows the nodes of a tree; which strings are specifications is decided in `code`.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left

from parso.python.tree import Function, Lambda

from netsharp_lsp.embedded.code.calls import DEFINITION, context_of, plain
from netsharp_lsp.embedded.code.evidence import MARKER, is_one_line
from netsharp_lsp.embedded.code.piece import DEEPEST, Argument, Binding, Code, Value
from netsharp_lsp.embedded.passage import Assembly
from netsharp_lsp.embedded.python.legible import Legible
from netsharp_lsp.embedded.python.strings import read_literal
from netsharp_lsp.embedded.python.trees import read_tree
from netsharp_lsp.text.lines import LineIndex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from netsharp_lsp.embedded.code.piece import Scope
    from netsharp_lsp.embedded.passage import Passage
    from netsharp_lsp.embedded.python.trees import Node

    LineOf: TypeAlias = Callable[[int], int]

#: Functions and methods whose result is their argument, up to blanks.
_SAME_FUNCTIONS = ("dedent", "cleandoc")
_SAME_METHODS = ("strip", "lstrip", "rstrip", "expandtabs")
_NAME = re.compile(rb"(?<![\w.])[\w\x80-\xff]++")
_JOINED = "it is put together from several strings"
_CALLS = ("atom_expr", "power")
#: What makes another value of the expression before it.
_GOES_ON = frozenset(["+", "-", "*", "/", "%", "@", ".", "[", "(", "if", "and", "or"])


def read_python(text: bytes, line_of: LineOf, parent: Passage | None = None) -> Code:
    """Read a piece of Python: its strings, variables and calls.

    `line_of` returns the line in the host, from 1, of an offset in `text`; `parent` is the passage
    with `text`, None for a whole file.
    """
    return _Reader(text, line_of, parent).read()


class _Reader:
    """One reading of one text."""

    __slots__ = (
        "calls",
        "code",
        "defined",
        "legible",
        "line_of",
        "lines",
        "parent",
        "places",
        "scopes",
        "targets",
        "text",
        "values",
    )

    def __init__(self, text: bytes, line_of: LineOf, parent: Passage | None) -> None:
        self.text = text
        self.lines = LineIndex(text)
        self.legible = Legible(text, self.lines)
        self.line_of = line_of
        self.parent = parent
        self.code = Code(text)
        self.values: dict[int, Value | None] = {}
        self.calls: dict[int, tuple[str, dict[str, str | int], int]] = {}
        self.places: dict[int, dict[int, int]] = {}
        self.scopes: dict[int, tuple[Scope, int | None]] = {}
        self.targets: dict[int, str | None] = {}
        self.defined: dict[int, set[int]] = {}

    def read(self) -> Code:
        module = read_tree(self.legible.text.decode("utf-8", "replace"))
        strings: list[Node] = []
        for node in _nodes(module):
            kind = node.type
            if kind in ("string", "strings", "fstring"):
                strings.append(node)
            elif kind in _READERS:
                _READERS[kind](self, node)
        self._add_other_bindings(module)
        self._find_marked(strings)
        return self.code

    # Statements and calls.

    def _expression_statement(self, node: Node) -> None:
        children = node.children
        if len(children) == 2 and children[1].type == "annassign":
            annotated = children[1].children
            if len(annotated) == 4:
                self._bind(children[0], annotated[3])
            return
        if children[1].type == "operator" and children[1].value == "=":
            for target in children[:-1:2]:
                self._bind(target, children[-1])
            return
        name = _dotted(children[0])
        if name is not None:
            self.code.open_names.add(name)

    def _broken(self, node: Node) -> None:
        """Read `name = value` after an unfinished statement."""
        leaves = node.children if node.type == "error_node" else [node]
        for equals in leaves:
            if getattr(equals, "value", "") != "=":
                continue
            name, first = self._leaf_beside(equals, -1), self._leaf_beside(equals, 1)
            if name is None or name.type != "name" or first is None:
                continue
            whole = _whole(first.parent if first.type == "fstring_start" else first)
            after = self._leaf_beside(whole, 1)
            if after is not None and getattr(after, "value", "") in _GOES_ON:
                continue
            if plain(name.value) == DEFINITION:
                self._take(whole, None)
            else:
                self._bind(name, whole)

    def _walrus(self, node: Node) -> None:
        self._bind(node.children[0], node.children[2])

    def _bind(self, target: Node, expression: Node) -> None:
        name = _dotted(target)
        if name is not None:
            value = self._value(expression)
            self.code.bindings.append(Binding(name, self._scope(target), value))

    def _argument(self, node: Node) -> None:
        """Read `name=value` in a call."""
        name = node.children[0]
        if _is_named(node) and plain(name.value) == DEFINITION:
            call = node.parent.parent if node.parent.type == "arglist" else node.parent
            self._take(node.children[2], call)

    def _parameter(self, node: Node) -> None:
        """Read `name=value` in the head of a function."""
        if node.default is not None and plain(node.name.value) == DEFINITION:
            self._take(node.default, None)

    def _dictionary(self, node: Node) -> None:
        """Read `"name": value` in braces, from which `**` makes arguments."""
        children = node.children
        for key, colon, value in zip(children, children[1:], children[2:], strict=False):
            if key.type == "string" and colon == ":" and _is_definition(key.value):
                self._take(value, None)

    def _take(self, expression: Node, trailer: Node | None) -> None:
        """Add a value that is passed as a specification, with the context of its call."""
        context = context_of(*self._call(trailer))
        if expression.type == "name" or _dotted(expression) is not None:
            argument = Argument(self._scope(expression), context, _dotted(expression))
        else:
            value = self._value(expression)
            if value is None:
                return
            argument = Argument(self._scope(expression), context, value=value)
            argument.target = self._target(expression)
        self.code.arguments.append(argument)

    def _call(self, trailer: Node | None) -> tuple[str, dict[str, str | int], int]:
        """Return the called name, its literal arguments, and its line in the host."""
        if trailer is None or trailer.type != "trailer" or trailer.parent.type not in _CALLS:
            return "", {}, 0
        if id(trailer) not in self.calls:
            self.calls[id(trailer)] = self._read_call(trailer)
        return self.calls[id(trailer)]

    def _read_call(self, trailer: Node) -> tuple[str, dict[str, str | int], int]:
        callee = trailer.parent.children[self._place(trailer) - 1]
        name = callee.children[-1] if callee.type == "trailer" else callee
        inside = trailer.children[1]
        arguments = inside.children if inside.type == "arglist" else [inside]
        literal: dict[str, str | int] = {}
        for argument in arguments:
            if _is_named(argument):
                known = _literal(argument.children[2])
                if known is not None:
                    literal[plain(argument.children[0].value)] = known
        line = self.line_of(self._offset(trailer.parent.start_pos))
        return getattr(name, "value", ""), literal, line

    # Values.

    def _value(self, node: Node) -> Value | None:
        """Return the text of an expression of strings; None where that cannot be known."""
        key = id(node)
        if key not in self.values:
            reader = _VALUES.get(node.type)
            self.values[key] = reader(self, node) if reader is not None else None
        return self.values[key]

    def _string(self, node: Node) -> Value | None:
        start = self._offset(node.start_pos)
        written = node.get_code(include_prefix=False).encode()
        end = start + len(written)
        if self.text[start:end] != written:
            return None
        passage = read_literal(self.text, start, end, self.parent)
        return Value(passage) if passage is not None else None

    def _several(self, node: Node) -> Value | None:
        """Return literals beside each other, or with `+` between them, as one text."""
        if any(leaf.type == "operator" and leaf.value != "+" for leaf in node.children):
            return None
        parts = [self._value(leaf) for leaf in node.children if leaf.type != "operator"]
        if None in parts:
            return None
        return _joined(self.text, [part.passage for part in parts if part is not None])

    def _in_brackets(self, node: Node) -> Value | None:
        if node.children[0] == "(" and len(node.children) == 3:
            return self._value(node.children[1])
        return None

    def _through_call(self, node: Node) -> Value | None:
        """Return the argument of `dedent(...)` or the object of `.strip()`; None otherwise."""
        children = list(node.children)
        while len(children) > 2 and _is_call_of(children[-2:], _SAME_METHODS, 2):
            del children[-2:]
        if len(children) == 1:
            return self._value(children[0])
        if _is_call_of(children[-2:], _SAME_FUNCTIONS, 3):
            return self._value(children[-1].children[1])
        return None

    def _target(self, node: Node) -> str | None:
        """Return the variable of the statement around a node."""
        while node is not None and node.type != "expr_stmt":
            node = node.parent
        if node is None:
            return None
        if id(node) not in self.targets:
            self.targets[id(node)] = _dotted(node.children[0])
        return self.targets[id(node)]

    # The rest.

    def _add_other_bindings(self, module: Node) -> None:
        """Note where a loop, a parameter, an import binds a name that is passed on."""
        names = {argument.name for argument in self.code.arguments if argument.name is not None}
        for leaf in self._leaves_of(names, module) if names else ():
            if self._binds(leaf):
                self.code.bindings.append(Binding(leaf.value, self._scope(leaf), None))

    def _binds(self, leaf: Node) -> bool:
        """Return whether a name is bound at its place, by a construct not read otherwise."""
        around = leaf.parent
        if around.type in ("funcdef", "classdef", "except_clause"):
            return bool(leaf.is_definition())
        while around is not None and around.type not in _DEFINING:
            around = around.parent
        if around is None or around.type == "suite" or around.type in _HANDLED:
            return False
        if id(around) not in self.defined:
            self.defined[id(around)] = set(map(id, around.get_defined_names()))
        return id(leaf) in self.defined[id(around)]

    def _leaves_of(self, names: set[str], module: Node) -> Iterator[Node]:
        """Yield the places where names occur as code."""
        for found in _NAME.finditer(self.text):
            name = found.group().decode("utf-8", "replace")
            if name not in names:
                continue
            line, column = self.lines.position(found.start())
            read = self.legible.read(line)
            if read is None:
                continue
            # At its first place a leaf is taken for the end of the one before it.
            leaf = module.get_leaf_for_position((read, column))
            if leaf is not None and leaf.type == "name" and leaf.value == name:
                yield leaf

    # Around a node.

    def _scope(self, node: Node) -> Scope:
        """Return the functions and classes around a node.

        A class is visible from its own level alone; functions in it look past it.
        """
        waiting = []
        outer = node.parent
        while outer is not None and id(outer) not in self.scopes:
            waiting.append(outer)
            outer = outer.parent
        for outer in reversed(waiting):
            self.scopes[id(outer)] = self._scope_in(outer)
        functions, around = self._scope_in(node)
        return (*functions, around) if around is not None else functions

    def _scope_in(self, node: Node) -> tuple[Scope, int | None]:
        """Return the functions around a node whose parents are known, and its class."""
        outer = node.parent
        if outer is None:
            return (), None
        known = self.scopes[id(outer)]
        if isinstance(outer, Function | Lambda) and node is not outer.children[1]:
            place = outer.start_pos[0] * 10_000 + outer.start_pos[1]
            return (*known[0], place)[-DEEPEST:], None
        return (known[0], -outer.start_pos[0]) if outer.type == "classdef" else known

    def _place(self, node: Node) -> int:
        """Return the index of a node among the children of its parent."""
        parent = node.parent
        if id(parent) not in self.places:
            self.places[id(parent)] = {id(one): at for at, one in enumerate(parent.children)}
        return self.places[id(parent)][id(node)]

    def _leaf_beside(self, node: Node, step: int) -> Node | None:
        """Return the leaf before (-1) or after (1) a node."""
        while node.parent is not None:
            at = self._place(node) + step
            if 0 <= at < len(node.parent.children):
                beside = node.parent.children[at]
                return beside.get_first_leaf() if step > 0 else beside.get_last_leaf()
            node = node.parent
        return None

    # Marked strings.

    def _find_marked(self, strings: list[Node]) -> None:
        """Find the string that each comment `# language=Net#` refers to."""
        for marker in MARKER.finditer(self.text):
            strings_before = bisect_left(strings, marker.start(), key=self._start)
            if strings_before and self._end(strings[strings_before - 1]) > marker.start():
                continue  # inside a string
            chosen = self._marked(strings, strings_before, marker.start())
            value = self._value(chosen) if chosen is not None else None
            if value is not None:
                self.code.marked.append(value)

    def _marked(self, strings: list[Node], at: int, marker: int) -> Node | None:
        line = self.lines.line_at(marker)
        if self.text[self.lines.starts[line] : marker].strip():
            same_line = at and self.lines.line_at(self._end(strings[at - 1])) == line
            if same_line:
                return _whole(strings[at - 1])
        if at == len(strings):
            return None
        # The next statement, or what is left of this one.
        is_near = is_one_line(self.text, self.lines.full_span(line)[1], self._start(strings[at]))
        return _whole(strings[at]) if is_near else None

    def _start(self, node: Node) -> int:
        return self._offset(node.start_pos)

    def _end(self, node: Node) -> int:
        return self._offset(node.end_pos)

    def _offset(self, position: tuple[int, int]) -> int:
        return self.lines.offset(self.legible.in_text(position[0]), position[1] + 1)


_READERS = {
    "expr_stmt": _Reader._expression_statement,
    "namedexpr_test": _Reader._walrus,
    "error_node": _Reader._broken,
    "error_leaf": _Reader._broken,
    "argument": _Reader._argument,
    "param": _Reader._parameter,
    "dictorsetmaker": _Reader._dictionary,
}
_VALUES = {
    "string": _Reader._string,
    "fstring": _Reader._string,
    "strings": _Reader._several,
    "arith_expr": _Reader._several,
    "atom": _Reader._in_brackets,
    "atom_expr": _Reader._through_call,
    "power": _Reader._through_call,
}
#: Definitions that a reader has taken down.
_HANDLED = ("expr_stmt", "namedexpr_test")
#: What binds names for all that is in it, or, a suite, nothing.
_DEFINING = frozenset(
    [
        *_HANDLED,
        "del_stmt",
        "for_stmt",
        "import_from",
        "import_name",
        "param",
        "suite",
        "sync_comp_for",
        "with_stmt",
    ]
)


def _nodes(module: Node) -> Iterator[Node]:
    """Yield all nodes in text order; a string that is part of another is skipped."""
    waiting = [module]
    while waiting:
        node = waiting.pop()
        yield node
        if node.type not in ("strings", "fstring"):
            waiting += reversed(getattr(node, "children", ()))


def _dotted(node: Node) -> str | None:
    """Return `name` or `self.name` as text."""
    if node.type == "name":
        return str(node.value)
    if node.type in _CALLS and all(_is_attribute(child) for child in node.children[1:]):
        first = node.children[0]
        if first.type == "name":
            return str(node.get_code(include_prefix=False))
    return None


def _is_attribute(node: Node) -> bool:
    return bool(node.type == "trailer" and node.children[0] == ".")


def _is_call_of(nodes: list[Node], names: tuple[str, ...], size: int) -> bool:
    """Return whether a name or an attribute, and what follows it, are a call of `size` children."""
    named, call = nodes
    name = named.children[-1] if named.type == "trailer" else named
    is_call = call.type == "trailer" and call.children[0] == "(" and len(call.children) == size
    return is_call and getattr(name, "value", "") in names


def _whole(node: Node) -> Node:
    """Return the expression of strings that a literal is a part of."""
    while node.parent is not None and node.parent.type in _VALUES:
        parent = node.parent
        if parent.type in _CALLS and parent.children[0] is not node:
            break
        node = parent
    return node


def _literal(node: Node) -> str | int | None:
    """Return a plain string or a whole number."""
    if node.type not in ("string", "number"):
        return None
    try:
        value = ast.literal_eval(node.value)
    except (ValueError, SyntaxError):
        return None
    return value if isinstance(value, str | int) else None


def _is_named(argument: Node) -> bool:
    """Return whether an argument is `name=value`; during typing the name may be any node."""
    if argument.type != "argument" or argument.children[1] != "=":
        return False
    return bool(argument.children[0].type == "name")


def _is_definition(key: str) -> bool:
    return plain(key.strip("\"'")) == DEFINITION


def _joined(source: bytes, passages: list[Passage]) -> Value:
    """Return one text of several literals; it cannot be laid out."""
    return Value(Assembly(source, passages), _JOINED)
