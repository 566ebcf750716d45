"""Formulas of R as columns: a label, and the terms that predict it.

Knows no frame and no file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: A name as R takes it, or any text between backquotes.
_NAME = r"(?:[^\W\d]|\.(?!\d))[\w.]*|`[^`]+`"
_FORMULA = re.compile(rf"\s*({_NAME})\s*~\s*(.+?)\s*", re.DOTALL)
_TERM = re.compile(_NAME)
#: What stands for all other columns.
ALL = "."


class FormulaTerms(NamedTuple):
    """The label, and the names behind it: None for all other columns; `refused` are no names."""

    label: str
    terms: tuple[str, ...] | None
    refused: tuple[str, ...]


def read_formula(text: str) -> FormulaTerms | None:
    """Return what a formula says; None for a text that is none, such as one without a label."""
    found = _FORMULA.fullmatch(text)
    if found is None:
        return None
    label, right = _plain(found[1]), found[2]
    if right == ALL:
        return FormulaTerms(label, None, ())
    parts = [part.strip() for part in right.split("+")]
    names = [part for part in parts if part != ALL and _TERM.fullmatch(part)]
    refused = tuple(part for part in parts if part not in names)
    return FormulaTerms(label, tuple(map(_plain, names)), refused)


def _plain(name: str) -> str:
    return name[1:-1] if name.startswith("`") else name
