"""What formulas and transforms say of columns: the label, the features, which are categories.

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
#: The arguments that name the columns of a transform.
_COLUMNS_OF = ("vars", "cols", "")


class FormulaSides:
    """A formula taken apart: `label` is None where it is no column; `columns` None for all.

    `terms` are those that are no columns, the left side among them.
    """

    __slots__ = ("columns", "exclude", "label", "terms")

    def __init__(self) -> None:
        self.label: str | None = None
        self.columns: list[str] | None = None
        self.exclude: list[str] = []
        self.terms: list[str] = []


def formula_columns(text: str) -> FormulaSides | None:
    """Return what a formula says; None for a text that is none."""
    left, tilde, right = text.partition("~")
    if not tilde or not left.strip() or not right.strip():
        return None
    found = FormulaSides()
    found.label = _column(left)
    if found.label is None:
        found.terms.append(left.strip())
    terms = _terms(right)
    whole = ("+", ".") in terms
    columns: list[str] = []
    for sign, term in terms:
        column = _column(term)
        if column is None or sign == "-":
            if sign == "-" and whole and column is not None:
                found.exclude.append(column)
            elif term != ".":
                found.terms.append(term if sign == "+" else f"- {term}")
        elif column not in columns:
            columns.append(column)
    found.columns = None if whole else columns
    return found


def _terms(text: str) -> list[tuple[str, str]]:
    """The terms of a formula's side with their signs: what stands in brackets is one."""
    found, sign, start, depth = [], "+", 0, 0
    for mark in (*_MARKS.finditer(text), None):
        word = "+" if mark is None else mark.group()
        depth += {"(": 1, ")": -1}.get(word, 0)
        if mark is not None and (depth > 0 or word not in ("+", "-")):
            continue
        end = len(text) if mark is None else mark.start()
        term = text[start:end].strip()
        if term:
            found.append((sign, term))
        sign, start = word, end + 1
    return found


def _column(text: str) -> str | None:
    """The column that a term names; None for calls, interactions and `.`."""
    text = text.strip()
    return text.strip("`") if _COLUMN.fullmatch(text) else None


class Transforms:
    """The transforms of a call: what `concat` puts together, and which columns are categories.

    `others` are those that are neither, as they are written, with their lines.
    """

    __slots__ = ("categories", "others", "together")

    def __init__(self) -> None:
        self.together: dict[str, list[str]] = {}
        self.categories: dict[str, str] = {}
        self.others: list[tuple[str, int]] = []

    def inputs_of(self, column: str, depth: int = 0) -> list[str]:
        """Return the columns of the table that a column of the formula stands for."""
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
    """The columns that a transform makes, each with those it takes; None for more than that."""
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
