"""Statements of Python, laid out as the formatters black and ruff leave them.

A line that is too long has one element of its brackets on each line, with a comma after the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: The widest line, and how far each block is indented.
WIDTH, INDENT = 88, 4


class Bracketed(NamedTuple):
    """Elements between brackets with commas: a call, a tuple, a list."""

    opening: str
    parts: tuple[Expression, ...]
    closing: str = ")"


#: An expression: a text that no line break is put into, or one with brackets.
Expression = str | Bracketed


class ProgramLine(NamedTuple):
    """A line of the program: ``depth`` blocks deep, the expression between what surrounds it.

    ``section`` is the comment above the first of several statements that belong together.
    """

    depth: int
    before: str
    expression: Expression = ""
    after: str = ""
    section: str = ""


def call(function: str, *parts: Expression, **named: Expression) -> Bracketed:
    """Return a call."""
    words = (_named(name, value) for name, value in named.items())
    return Bracketed(f"{function}(", (*parts, *words))


def _named(name: str, value: Expression) -> Expression:
    if isinstance(value, str):
        return f"{name}={value}"
    return value._replace(opening=f"{name}={value.opening}")


def numbers(values: Sequence[int]) -> Expression:
    """Return a tuple of whole numbers."""
    return items([str(one) for one in values])


def items(parts: Sequence[Expression]) -> Expression:
    """Return a tuple."""
    if len(parts) == 1:
        return f"({flat(parts[0])},)"
    return Bracketed("(", tuple(parts))


def listed(parts: Sequence[Expression]) -> Bracketed:
    """Return a list."""
    return Bracketed("[", tuple(parts), "]")


def flat(expression: Expression) -> str:
    """Return an expression on one line."""
    if isinstance(expression, str):
        return expression
    return expression.opening + ", ".join(map(flat, expression.parts)) + expression.closing


def lines(statement: ProgramLine) -> list[str]:
    """Return a statement as lines of text."""
    margin = " " * (INDENT * statement.depth)
    _, before, expression, after, _ = statement
    whole = before + flat(expression) + after
    if len(margin) + len(whole) <= WIDTH or not expression:
        return [(margin + whole).rstrip()]
    if isinstance(expression, str):
        inner = " " * (INDENT * (statement.depth + 1)) + expression
        return [f"{margin}{before}(", inner, f"{margin}){after}"]
    found = [margin + before + expression.opening]
    for part in expression.parts:
        found += _part(part, statement.depth + 1)
    return [*found, margin + expression.closing + after]


def _part(part: Expression, depth: int) -> list[str]:
    """Return an element of brackets on lines of its own."""
    if isinstance(part, str):
        return [" " * (INDENT * depth) + part + ","]
    return lines(ProgramLine(depth, "", part, ","))


def in_sections(statements: Sequence[ProgramLine], depth: int) -> list[str]:
    """Return statements as lines, with a blank line and a comment before each section."""
    found: list[str] = []
    section = ""
    for one in statements:
        if one.depth == depth and one.section != section:
            section = one.section
            if found:
                found.append("")
            if section:
                found.append(" " * (INDENT * depth) + f"# {section}")
        found += lines(one)
    return found
