"""Cells of a table as a spreadsheet may open them: none of them is a formula; knows no model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: What begins a formula, as typed and in full width, and what parts a cell where it is pasted.
_STARTS = frozenset("=+-@\t\r\n＝＋－＠")
#: Characters that spreadsheets skip before it.
_PASSED_OVER = " \xa0\u3000\ufeff\"'`"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
#: The prefix that marks a cell as text.
MARK = "'"


def disarmed(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Return the columns with names and texts that a spreadsheet would execute as plain text."""
    return {_cell(name): [_cell(value) for value in values] for name, values in columns.items()}


def _cell(value: Any) -> Any:
    """Return a value, after an apostrophe if it is a text that a spreadsheet would execute."""
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    first = value.lstrip(_PASSED_OVER)[:1]
    return MARK + value if first in _STARTS and first else value
