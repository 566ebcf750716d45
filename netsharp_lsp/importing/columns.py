"""The columns in formulas and transforms: the label, the features, which are categories.

Knows formulas of R and the transforms `concat` and `categorical`; no other argument.
"""

from __future__ import annotations

import re

from netsharp_lsp.importing.values import HostCall, NamedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.importing.values import HostValue

_COLUMN = re.compile(r"[^\W\d][\w.]*|\.[A-Za-z_.][\w.]*|`[^`]+`")
#: What separates terms, brackets, and names in quotes.
_MARKS = re.compile(r"[-+()]|`[^`]*`")
#: What separates the sides of a formula, and names in quotes.
_TILDES = re.compile(r"~|`[^`]*`")
#: The arguments that name the columns of a transform.
_COLUMNS_OF = ("vars", "cols", "")


class FormulaSides:
    """A parsed formula: `label` is None where it is not a column; `columns` None for all.

    `terms` are those that are not columns, the left side among them.
    """

    __slots__ = ("columns", "exclude", "label", "terms")

    def __init__(self) -> None:
        self.label: str | None = None
        self.columns: list[str] | None = None
        self.exclude: list[str] = []
        self.terms: list[str] = []


def formula_columns(text: str) -> FormulaSides | None:
    """Return a parsed formula; None for other texts."""
    sides = [one.strip() for one in _sides(text)]
    if len(sides) != len(("label", "features")) or not all(sides):
        return None
    found = FormulaSides()
    found.label = _column(sides[0])
    if found.label is None:
        found.terms.append(sides[0])
    columns: dict[str, None] = {}
    exclude: dict[str, None] = {}
    whole = False
    for sign, term in _terms(sides[1]):
        column = _column(term)
        if term == ".":
            whole = sign == "+"
            columns, exclude = {}, {}
        elif column is None:
            found.terms.append(term if sign == "+" else f"- {term}")
        elif sign == "+":
            exclude.pop(column, None)
            columns[column] = None
        else:
            columns.pop(column, None)
            exclude[column] = None
    found.columns = None if whole else list(columns)
    found.exclude = [one for one in exclude if whole and one != found.label]
    return found


def _sides(text: str) -> list[str]:
    """Return the parts between the tildes of a formula; one in backquotes is part of a name."""
    marks = [one.start() for one in _TILDES.finditer(text) if one.group() == "~"]
    starts = [0, *(one + 1 for one in marks)]
    return [text[start:end] for start, end in zip(starts, [*marks, len(text)], strict=True)]


def _terms(text: str) -> list[tuple[str, str]]:
    """Return the terms of a formula's side with their signs, in order; brackets are expanded."""
    found, sign, start, depth = [], "+", 0, 0
    for mark in (*_MARKS.finditer(text), None):
        word = "+" if mark is None else mark.group()
        depth += {"(": 1, ")": -1}.get(word, 0)
        if mark is not None and (depth > 0 or word not in ("+", "-")):
            continue
        end = len(text) if mark is None else mark.start()
        term = text[start:end].strip()
        if term:
            found += _without_brackets(sign, term)
        sign, start = word, end + 1
    return found


def _without_brackets(sign: str, term: str) -> list[tuple[str, str]]:
    """Return the terms of `(a + b)`; a term that is not a sum in brackets is returned whole."""
    if not (term.startswith("(") and term.endswith(")")):
        return [(sign, term)]
    depth = 0
    for mark in _MARKS.finditer(term):
        depth += {"(": 1, ")": -1}.get(mark.group(), 0)
        if depth == 0 and mark.end() < len(term) and mark.group() == ")":
            return [(sign, term)]
    inner = _terms(term[1:-1])
    is_sum = all(each == "+" and (sign == "+" or one != ".") for each, one in inner)
    return [(sign, one) for _, one in inner] if is_sum else [(sign, term)]


def _column(text: str) -> str | None:
    """Return the column that a term names; None for calls, interactions and `.`."""
    text = text.strip()
    return text.strip("`") if _COLUMN.fullmatch(text) else None


class Transforms:
    """The transforms of a call: the inputs of `concat`, and which columns are categories.

    `others` are those that are neither, as they are written, with their lines.
    """

    __slots__ = ("categories", "others", "together")

    def __init__(self) -> None:
        self.together: dict[str, list[str]] = {}
        self.categories: dict[str, str] = {}
        self.others: list[tuple[str, int]] = []

    def inputs_of(self, column: str, depth: int = 0) -> list[str]:
        """Return the columns of the table that a column of the formula is made of."""
        if column in self.together and depth <= len(self.together):
            return [
                each for one in self.together[column] for each in self.inputs_of(one, depth + 1)
            ]
        return [self.categories.get(column, column)]


def transforms_of(value: HostValue, line: int) -> Transforms | None:
    """Return the transforms in an argument's value; None where only a run knows them."""
    found = Transforms()
    for one in value if isinstance(value, list) else [value]:
        if not isinstance(one, HostCall):
            return None
        named = _named_columns(one)
        if one.name == "concat" and named is not None:
            found.together |= named
        elif one.name == "categorical" and named is not None and _all_single(named):
            found.categories |= {output: columns[0] for output, columns in named.items()}
        else:
            written = ", ".join(f"{each.name}={each.written}" for each in one.arguments)
            found.others.append((f"{one.name}({written})", one.line))
    return found


def _named_columns(call: HostCall) -> dict[str, list[str]] | None:
    """Return the columns that a transform makes, each with its inputs; None for other forms."""
    if len(call.arguments) != 1 or call.arguments[0].name not in _COLUMNS_OF:
        return None
    value = call.arguments[0].value
    if isinstance(value, str):
        return {value: [value]}
    if not isinstance(value, list):
        return None
    pairs = value.by_name() if isinstance(value, NamedValues) else [("", one) for one in value]
    found: dict[str, list[str]] = {}
    for name, one in pairs:
        columns = one if isinstance(one, list) else [one]
        texts = [each for each in columns if isinstance(each, str)]
        if len(texts) < len(columns) or not (name or len(texts) == 1):
            return None
        found[name or texts[0]] = texts
    return found


def _all_single(named: dict[str, list[str]]) -> bool:
    return all(len(columns) == 1 for columns in named.values())
